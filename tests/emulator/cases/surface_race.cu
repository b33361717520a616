// SPDX-License-Identifier: MIT
// Each thread reads its neighbour's element of the surface that all of them write.
#include <cuda_runtime.h>

__global__ void shift(cudaSurfaceObject_t surface) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    surf1Dread(&value, surface, (i + 1) % 64 * 4);
    surf1Dwrite(value + 1, surface, i * 4);  // expect: race-global
}

int main() {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    cudaMallocArray(&array, &format, 64, 0, cudaArraySurfaceLoadStore);
    const float zeros[64] = {};
    cudaMemcpy2DToArray(array, 0, 0, zeros, sizeof zeros, sizeof zeros, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &resource);
    shift<<<2, 32>>>(surface);
    cudaDeviceSynchronize();
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
}
