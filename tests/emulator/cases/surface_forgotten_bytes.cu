// SPDX-License-Identifier: MIT
// The x coordinate of a surface counts bytes; this kernel counts elements.
#include <cuda_runtime.h>

__global__ void fill(cudaSurfaceObject_t surface) {
    // expect: out-of-bounds-global "at byte 1 of a row, which is not a multiple"
    surf1Dwrite(1.0f, surface, int(threadIdx.x));
}

int main() {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    cudaMallocArray(&array, &format, 64, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &resource);
    fill<<<1, 32>>>(surface);
    cudaDeviceSynchronize();
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
}
