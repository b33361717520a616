// SPDX-License-Identifier: MIT
// Findings point at the user's line: in lambdas, functors, templates, and CUB's block primitives.
// nvcc: --extended-lambda
#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

template <class F>
__global__ void for_each(int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) f(i);
}

template <int N, class T>
__device__ T sum_of(const T* data) {
    T sum = 0;
    for (int i = 0; i <= N; ++i) sum += data[i];  // expect: out-of-bounds-shared "`tile[32]`"
    return sum;
}

struct Count {
    int* bins;
    __device__ void operator()(int i) const {
        bins[i % 4] += 1;  // expect: race-global
    }
};

__global__ void tiles(int* out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = sum_of<32>(tile);
}

// The storage of the first reduction is used again without a barrier.
__global__ void twice(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ Reduce::TempStorage storage;
    int a = Reduce(storage).Sum(in[threadIdx.x]);
    int b = Reduce(storage).Sum(2 * in[threadIdx.x]);  // expect: race-shared
    if (threadIdx.x == 0) out[0] = a + b;
}

int main() {
    int *data, *bins;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMalloc(&bins, 32 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    cudaMemset(bins, 0, 32 * sizeof(int));
    for_each<<<1, 160>>>(128, [=] __device__(int i) {
        data[i] = i;  // expect: out-of-bounds-global "`"
    });
    for_each<<<1, 64>>>(32, Count{bins});
    tiles<<<1, 32>>>(bins);
    twice<<<1, 128>>>(data, bins);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(bins);
}
