// SPDX-License-Identifier: MIT
// Lesson 22, random numbers and their seeds: thousands of streams that never meet.
// Start with README.md in this directory; `make 22` checks this file.
#include "rng_seeding.h"

#include <curand_kernel.h>

static_assert(sizeof(curandStatePhilox4_32_10_t) == kCurandStateBytes);

// Blocks of `threads` threads for n things, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__host__ __device__ uint4 philox(uint4 counter, [[maybe_unused]] uint2 key) {
    // TODO 1 (about 10 lines): ten rounds. One round multiplies 0xD2511F53 by x and 0xCD9E8D57 by z
    // (all 64 bits of both products) and makes the new counter of
    //   x: high half of the second product, xor y, xor key.x     y: its low half
    //   z: high half of the first product, xor w, xor key.y      w: its low half
    // Between two rounds key.x grows by 0x9E3779B9 and key.y by 0xBB67AE85, without a carry.
    // END 1
    return counter;
}

// TODO 2 (about 10 lines): find the block that holds this position, and the word in it. Task 4
// needs both steps again, so give the first a function of its own.
__host__ __device__ uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t position) {
    return static_cast<uint32_t>(seed + stream + position);
}
// END 2

__global__ void fill_kernel(uint64_t seed, float* out, int streams, int draws) {
    // TODO 3 (about 7 lines): fill the matrix, whatever the grid. Neighbouring threads store to
    // neighbouring addresses.
    // END 3
}

void fill(uint64_t seed, float* d_out, int streams, int draws, int blocks, int threads) {
    fill_kernel<<<blocks, threads>>>(seed, d_out, streams, draws);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void draw_points_kernel(uint64_t seed, uint64_t first_stream, uint64_t* positions,
                                   float2* out, int streams, int points) {
    [[maybe_unused]] const int s = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 4 (about 14 lines): read this stream's position, draw the points, save the position. One
    // philox block serves four draws: make a new one only when the old one is used up.
    // END 4
}

void draw_points(uint64_t seed, uint64_t first_stream, uint64_t* d_positions, float2* d_points,
                 int streams, int points, int threads) {
    if (streams == 0 || points == 0) return;
    draw_points_kernel<<<blocks_for(streams, threads), threads>>>(
        seed, first_stream, d_positions, d_points, streams, points);
    CUDA_CHECK(cudaGetLastError());
}

// TODO 5 (about 16 lines): the same with cuRAND. In the first kernel, prepare this thread's state
// by curand_init(seed, sequence, offset, &state). In the second, copy the state from memory, draw
// the points with curand_uniform(&copy), and store the copy back.
__global__ void curand_start_kernel(uint64_t seed, uint64_t first_stream, CurandState* states,
                                    int streams) {}
__global__ void curand_draw_kernel(CurandState* states, float2* out, int streams, int points) {}
// END 5

void curand_start(uint64_t seed, uint64_t first_stream, CurandState* d_states, int streams,
                  int threads) {
    if (streams == 0) return;
    curand_start_kernel<<<blocks_for(streams, threads), threads>>>(
        seed, first_stream, d_states, streams);
    CUDA_CHECK(cudaGetLastError());
}

void curand_points(CurandState* d_states, float2* d_points, int streams, int points, int threads) {
    if (streams == 0 || points == 0) return;
    curand_draw_kernel<<<blocks_for(streams, threads), threads>>>(
        d_states, d_points, streams, points);
    CUDA_CHECK(cudaGetLastError());
}
