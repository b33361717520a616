// SPDX-License-Identifier: MIT
// The same surfaces used well: x in bytes, a guard that fits, a buffer to read and one to write.
#include <cuda_runtime.h>

__global__ void fill(cudaSurfaceObject_t surface, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height) return;
    surf2Dwrite(float(x), surface, x * int(sizeof(float)), y);
}
__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
    const int x = threadIdx.x, y = threadIdx.y;
    float value;
    surf2Dread(&value, from, (x + 1) % width * 4, y);
    surf2Dwrite(value, to, x * 4, y);
    surf2Dwrite(value, to, (x + width) * 4, y, cudaBoundaryModeZero);  // dropped, as asked for
}

int main() {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array[2];
    cudaSurfaceObject_t surface[2];
    for (int i = 0; i < 2; ++i) {
        cudaMallocArray(&array[i], &format, 16, 8, cudaArraySurfaceLoadStore);
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array[i];
        cudaCreateSurfaceObject(&surface[i], &resource);
    }
    fill<<<1, dim3(32, 8)>>>(surface[0], 16, 8);
    shift<<<1, dim3(16, 8)>>>(surface[0], surface[1], 16);
    float back[16 * 8];
    cudaMemcpy2DFromArray(back, 64, array[1], 0, 0, 64, 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2; ++i) {
        cudaDestroySurfaceObject(surface[i]);
        cudaFreeArray(array[i]);
    }
    return back[0] == 1 && back[15] == 0 ? 0 : 1;
}
