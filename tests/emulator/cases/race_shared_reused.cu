// SPDX-License-Identifier: MIT
// A shared histogram that is used for several tiles one after the other.
#include <cuda_runtime.h>

template <bool kLast>
__global__ void histograms(const unsigned char* in, unsigned* out, int tiles) {
    __shared__ unsigned bins[64];
    for (int k = 0; k < tiles; ++k) {
        if (threadIdx.x < 64) bins[threadIdx.x] = 0;  // expect: race-shared
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += blockDim.x)
            atomicAdd(&bins[in[k * 512 + i] / 4], 1u);
        __syncthreads();
        for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&out[b], bins[63 - b]);
        if (kLast) __syncthreads();
    }
}

struct Stats {
    int count;
    float sum;
    int least;
};

__global__ void statistics(const float* in, Stats* out, int n) {
    __shared__ Stats s;
    if (threadIdx.x == 0) s = {0, 0.0f, 1 << 30};
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&s.count, 1);
        atomicAdd(&s.sum, in[i]);
        s.least = min(s.least, int(in[i]));  // expect: race-shared
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = s;
}

int main() {
    unsigned char* in;
    unsigned* out;
    float* values;
    Stats* stats;
    cudaMalloc(&in, 2048);
    cudaMalloc(&out, 64 * sizeof(unsigned));
    cudaMalloc(&values, 100 * sizeof(float));
    cudaMalloc(&stats, sizeof(Stats));
    cudaMemset(in, 9, 2048);
    cudaMemset(out, 0, 64 * sizeof(unsigned));
    cudaMemset(values, 0, 100 * sizeof(float));
    // twin: race-shared
    histograms<true><<<2, 128>>>(in, out, 4);
    histograms<false><<<2, 128>>>(in, out, 4);
    statistics<<<1, 64>>>(values, stats, 100);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(values);
    cudaFree(stats);
}
