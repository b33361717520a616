// SPDX-License-Identifier: MIT
// The last column writes beside the surface: x counts bytes, and the guard is one too late.
#include <cuda_runtime.h>

__global__ void fill(cudaSurfaceObject_t surface, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    if (x > width || y >= height) return;
    // expect: out-of-bounds-global "at byte 64 of row 0, but it has 8 rows of 64 bytes"
    surf2Dwrite(float(x), surface, x * int(sizeof(float)), y);
}

int main() {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    cudaMallocArray(&array, &format, 16, 8, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &resource);
    fill<<<1, dim3(32, 8)>>>(surface, 16, 8);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
    return error == cudaErrorLaunchFailure ? 0 : 1;
}
