// SPDX-License-Identifier: MIT
// Warp-synchronous code with __syncwarp and with tiles, and the same without.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

template <bool kSync>
__device__ void sync() {
    if constexpr (kSync) __syncwarp();
}

template <bool kSync>
__global__ void warp_sum(const int* in, int* out) {
    __shared__ int tile[128];
    int t = threadIdx.x, lane = t % 32;
    tile[t] = in[t];
    sync<kSync>();
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d) tile[t] += tile[t + d];  // expect: race-shared
        sync<kSync>();
    }
    if (lane == 0) out[t / 32] = tile[t];
}

template <bool kSync>
__global__ void tile_reverse(const int* in, int* out) {
    __shared__ int buffer[128];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int* mine = buffer + tile.meta_group_rank() * 16;
    mine[tile.thread_rank()] = in[threadIdx.x];
    if constexpr (kSync) tile.sync();
    out[threadIdx.x] = mine[15 - tile.thread_rank()];  // expect: race-shared
}

template <int kTile>
__global__ void tile_too_small(const int* in, int* out) {
    __shared__ int buffer[128];
    auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    buffer[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = buffer[threadIdx.x ^ 31];  // expect: race-shared
}

// twin: race-shared
__global__ void transpose_in_warp(const float* in, float* out) {
    __shared__ float tile[4][32][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = 0; r < 32; ++r) tile[warp][r][lane] = in[(warp * 32 + r) * 32 + lane];
    __syncwarp();
    for (int r = 0; r < 32; ++r) out[(warp * 32 + r) * 32 + lane] = tile[warp][lane][r];
}

// twin: race-shared
__global__ void volatile_old_style(const int* in, int* out) {
    __shared__ volatile int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    if (t < 32) {
        int v = tile[t] + tile[t + 32];
        __syncwarp();
        tile[t] = v;
        __syncwarp();
        v += tile[t ^ 16];
        __syncwarp();
        tile[t] = v;
        __syncwarp();
        out[t] = tile[t ^ 8];
    }
}

int main() {
    int* in;
    float *fin, *fout;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&fin, 4096 * sizeof(float));
    cudaMalloc(&fout, 4096 * sizeof(float));
    cudaMemset(in, 0, 512 * sizeof(int));
    cudaMemset(fin, 0, 4096 * sizeof(float));
    int* out = in + 256;
    transpose_in_warp<<<1, 128>>>(fin, fout);
    volatile_old_style<<<1, 64>>>(in, out);
    // twin: race-shared
    warp_sum<true><<<1, 128>>>(in, out);
    // twin: race-shared
    tile_reverse<true><<<1, 128>>>(in, out);
    tile_too_small<32><<<1, 128>>>(in, out);
    warp_sum<false><<<1, 128>>>(in, out);
    tile_reverse<false><<<1, 128>>>(in, out);
    tile_too_small<16><<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(fin);
    cudaFree(fout);
}
