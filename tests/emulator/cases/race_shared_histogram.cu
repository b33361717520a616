// SPDX-License-Identifier: MIT
// Three slips of one histogram: no barrier after clearing, plain increments, none at the end.
#include <cuda_runtime.h>

__global__ void no_barrier_after_clearing(const int* data, int n, int* out) {
    __shared__ int bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    for (int i = t; i < n; i += blockDim.x)
        atomicAdd(&bins[data[i]], 1);  // expect: race-shared "is updated atomically while"
    __syncthreads();
    if (t < 64) atomicAdd(&out[t], bins[t]);
}

__global__ void plain_increment(const int* data, int n, int* out) {
    __shared__ int bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) bins[data[i]]++;  // expect: race-shared
    __syncthreads();
    if (t < 64) atomicAdd(&out[t], bins[t]);
}

__global__ void no_barrier_at_the_end(const int* data, int n, int* out) {
    __shared__ int bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) atomicAdd(&bins[data[i]], 1);
    if (t < 64) atomicAdd(&out[t], bins[t]);  // expect: race-shared "without an atomic"
}

int main() {
    const int n = 600;
    int host[n];
    for (int i = 0; i < n; ++i) host[i] = i * 7 % 64;
    int *data, *out;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 64 * sizeof(int));
    no_barrier_after_clearing<<<2, 128>>>(data, n, out);
    plain_increment<<<1, 128>>>(data, n, out);
    no_barrier_at_the_end<<<1, 128>>>(data, n, out);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
}
