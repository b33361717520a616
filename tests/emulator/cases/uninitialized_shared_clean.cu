// SPDX-License-Identifier: MIT
// Cleared bins, a tail filled with zeros, a warp's partial sums, a struct in shared memory.
#include <cuda_runtime.h>

struct Entry {
    short key;
    float value;
};

// twin: uninitialized-shared
__global__ void histogram(const int* data, int n, int* bins) {
    __shared__ int local[96];
    for (int b = threadIdx.x; b < 96; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&local[data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 96; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

// twin: uninitialized-shared
__global__ void block_sum(const int* in, int* out, int n) {
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

// twin: uninitialized-shared
__global__ void swap(float* out) {
    __shared__ Entry entries[64];
    int t = threadIdx.x;
    entries[t].key = short(t);
    entries[t].value = float(t);
    __syncthreads();
    Entry entry = entries[63 - t];
    __syncthreads();
    entries[t] = entry;
    out[t] = entries[t].value + entries[t].key;
}

int main() {
    int host[64];
    for (int i = 0; i < 64; ++i) host[i] = i;
    int *data, *bins;
    float* out;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&bins, 96 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 96 * sizeof(int));
    histogram<<<2, 64>>>(data, 64, bins);
    block_sum<<<2, 128>>>(data, bins, 64);
    swap<<<1, 64>>>(out);
    int first = 0;
    cudaMemcpy(&first, bins, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(data);
    cudaFree(bins);
    cudaFree(out);
    return first == 2016 ? 0 : 1;
}
