// SPDX-License-Identifier: MIT
// The program of the device's self-test (common/workbook/build/self_test.py): known values, known
// counters, and three deliberate mistakes on known lines. It prints its values.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 4, kCount = kThreads * kBlocks;

// Every block adds its slice in shared memory: values, coalesced loads, barriers.
__global__ void block_sums(const float* in, float* sums) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x;
    tile[t] = in[blockIdx.x * kThreads + t];
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

__global__ void shift_left(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 1];  // <- out-of-bounds-global
}

__global__ void rotate(float* out) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x;
    tile[t] = float(t);
    out[t] = tile[(t + 32) % kThreads];  // <- race-shared
}

__global__ void first_of_nothing(float* out, int first) {
    __shared__ float tile[kThreads];
    if (threadIdx.x == 1) tile[first + 1] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = tile[first];  // <- uninitialized-shared
}

int main() {
    std::vector<float> in(kCount), sums(kBlocks);
    for (int i = 0; i < kCount; ++i) in[i] = float(i);
    float *d_in = nullptr, *d_out = nullptr;
    if (cudaMalloc(&d_in, kCount * sizeof(float)) != cudaSuccess) return 1;
    if (cudaMalloc(&d_out, kCount * sizeof(float)) != cudaSuccess) return 1;
    if (cudaMemcpy(d_in, in.data(), kCount * sizeof(float), cudaMemcpyDefault) != cudaSuccess)
        return 1;

    block_sums<<<kBlocks, kThreads>>>(d_in, d_out);
    if (cudaMemcpy(sums.data(), d_out, kBlocks * sizeof(float), cudaMemcpyDefault) != cudaSuccess)
        return 1;
    for (const float sum : sums) std::printf("%.0f\n", sum);

    shift_left<<<kBlocks, kThreads>>>(d_in, d_out, kCount);
    rotate<<<1, kThreads>>>(d_out);
    first_of_nothing<<<1, kThreads>>>(d_out, 0);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    if (cudaFree(d_in) != cudaSuccess || cudaFree(d_out) != cudaSuccess) return 1;
    return 0;
}
