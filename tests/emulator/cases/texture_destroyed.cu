// SPDX-License-Identifier: MIT
// A kernel fetches through a texture object that has been destroyed.
#include <cuda_runtime.h>

__global__ void copy(cudaTextureObject_t texture, float* out) {
    // expect: invalid-address "no live texture object"
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 0);
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    cudaMallocArray(&array, &format, 32, 1);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    cudaDestroyTextureObject(texture);
    copy<<<1, 32>>>(texture, out);
    cudaDeviceSynchronize();
    cudaFreeArray(array);
    cudaFree(out);
}
