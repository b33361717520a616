// SPDX-License-Identifier: MIT
// Barriers in branches, hidden in a helper, a lambda and a group's sync.
// nvcc: --extended-lambda
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__device__ void stage(int* tile, int v) {
    tile[threadIdx.x] = v;
    __syncthreads();  // expect: barrier-divergence
}

__global__ void in_helper(int* data, int n) {
    __shared__ int tile[128];
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < n) {
        stage(tile, data[threadIdx.x]);
        data[threadIdx.x] = tile[threadIdx.x];
    }
}

__global__ void group_sync(int* data, int n) {
    auto block = cg::this_thread_block();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        data[i] += 1;
        block.sync();  // expect: barrier-divergence
    }
}

template <typename F>
__global__ void apply(F f, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x < n) f();
}

// twin: barrier-divergence
__global__ void uniform(int* data, int n) {
    // right: the condition is the same for the whole block
    __shared__ int tile[128];
    if (blockIdx.x % 2 == 0) {
        tile[threadIdx.x] = n;
        __syncthreads();
        data[threadIdx.x] = tile[127 - threadIdx.x];
        __syncthreads();
    }
    for (int k = 0; k < n / 40; ++k) {
        __syncthreads();
    }
}

int main() {
    int* data;
    cudaMalloc(&data, 256 * sizeof(int));
    cudaMemset(data, 0, 256 * sizeof(int));
    uniform<<<2, 128>>>(data, 100);
    in_helper<<<1, 128>>>(data, 100);
    group_sync<<<1, 64>>>(data, 100);
    apply<<<1, 128>>>(
        [=] __device__() {
            data[threadIdx.x] = 1;
            __syncthreads();  // expect: barrier-divergence
            data[threadIdx.x] += 1;
        },
        70);
    cudaDeviceSynchronize();
    cudaFree(data);
}
