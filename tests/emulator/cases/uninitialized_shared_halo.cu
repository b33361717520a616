// SPDX-License-Identifier: MIT
// Shared memory that nobody wrote: a halo, a counter, a flag, a lane's slot.
#include <cuda_runtime.h>

__global__ void stencil(const float* in, float* out, int n) {
    __shared__ float tile[66];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = i < n ? in[i] : 0;
    if (threadIdx.x == 0 && i > 0) tile[0] = in[i - 1];
    if (threadIdx.x == 63 && i + 1 < n) tile[65] = in[i + 1];
    __syncthreads();
    out[i] = tile[t - 1] + tile[t + 1];  // expect: uninitialized-shared
}

__global__ void any_negative(const float* in, int* out) {
    __shared__ bool found;
    if (in[threadIdx.x] < 0) found = true;
    __syncthreads();
    if (threadIdx.x == 0 && found) *out = 1;
}

__global__ void warp_sums(const float* in, float* out, int n) {
    __shared__ float sums[32];
    float v = threadIdx.x < n ? in[threadIdx.x] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = sums[threadIdx.x];  // expect: uninitialized-shared
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
        if (threadIdx.x == 0) *out = v;
    }
}

__global__ void count(const int* in, int* out, int n) {
    extern __shared__ int bins[];
    if (threadIdx.x == 0)
        for (int b = 0; b < 8; ++b) bins[b] = 0;
    __syncthreads();
    // expect: uninitialized-shared
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    float host[128], *in, *out;
    for (float& v : host) v = 1;
    int keys[64], *d_keys, *result;
    for (int i = 0; i < 64; ++i) keys[i] = i % 9;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&d_keys, sizeof keys);
    cudaMalloc(&result, sizeof keys);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice);
    stencil<<<2, 64>>>(in, out, 128);
    any_negative<<<1, 64>>>(in, result);
    warp_sums<<<1, 128>>>(in, out, 128);
    count<<<1, 32, 9 * sizeof(int)>>>(d_keys, result, 64);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(d_keys);
    cudaFree(result);
}
