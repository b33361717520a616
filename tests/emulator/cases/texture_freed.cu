// SPDX-License-Identifier: MIT
// The memory behind a texture object is freed before the kernel that fetches from it.
#include <cuda_runtime.h>

__global__ void copy(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // expect: use-after-free
}

int main() {
    float *data = nullptr, *out = nullptr;
    cudaMalloc(&data, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(data, 0, 32 * sizeof(float));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {data, cudaCreateChannelDesc<float>(), 32 * sizeof(float)};
    const cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    cudaFree(data);
    copy<<<1, 32>>>(texture, out);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaFree(out);
}
