// SPDX-License-Identifier: MIT
// Uniform branches and loops, barriers that count or vote, named barriers of some warps, tiles.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// twin: barrier-divergence
__global__ void uniform(int* data, int n, int rounds) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int round = 0; round < rounds; ++round) {
        tile[t] = i < n ? data[i] : 0;
        __syncthreads();
        if (rounds > 1) {
            int other = tile[t ^ 1];
            __syncthreads();
            if (i < n) data[i] = other;
        }
        if (blockIdx.x == 0) __syncthreads();
    }
    int positive = __syncthreads_count(i < n && data[i] >= 0);
    if (i < n) data[i] = positive;
}

// twin: barrier-divergence
// Warp 0 produces, warp 1 consumes; warps 2 and 3 have nothing to do with it.
__global__ void producer_consumer(int* out) {
    __shared__ int slot[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0) {
        slot[lane] = lane * lane;
        __threadfence_block();
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (warp == 1) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = slot[31 - lane];
    }
}

// twin: barrier-divergence
__global__ void tiles(int* out) {
    __shared__ int values[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        tile.sync();
        out[threadIdx.x] = values[threadIdx.x ^ 1];
    }
    block.sync();
    out[threadIdx.x] += values[63 - threadIdx.x];
}

int main() {
    int* data;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    uniform<<<2, 64>>>(data, 100, 3);
    producer_consumer<<<1, 128>>>(data);
    tiles<<<1, 64>>>(data);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(data);
    return error != cudaSuccess;
}
