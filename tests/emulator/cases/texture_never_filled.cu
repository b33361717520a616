// SPDX-License-Identifier: MIT
// An array is sampled before anything was copied into it.
#include <cuda_runtime.h>

__global__ void copy(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex1D<float>(texture, threadIdx.x + 0.5f);  // expect: uninitialized-global
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    cudaMallocArray(&array, &format, 32);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    copy<<<1, 32>>>(texture, out);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);
    cudaFree(out);
}
