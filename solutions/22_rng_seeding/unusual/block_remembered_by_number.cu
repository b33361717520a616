// Unusual: A thread remembers the number of the block that it holds, and makes another one when a
// draw lies elsewhere.
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
    for (int round = 0; round < 10; ++round) {
        const uint64_t first = 0xD2511F53ull * counter.x;
        const uint64_t second = 0xCD9E8D57ull * counter.z;
        counter = make_uint4(static_cast<uint32_t>(second >> 32) ^ counter.y ^ key.x,
                             static_cast<uint32_t>(second),
                             static_cast<uint32_t>(first >> 32) ^ counter.w ^ key.y,
                             static_cast<uint32_t>(first));
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

__host__ __device__ uint4 random_block(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint4 counter = make_uint4(static_cast<uint32_t>(index),
                                     static_cast<uint32_t>(index >> 32),
                                     static_cast<uint32_t>(stream),
                                     static_cast<uint32_t>(stream >> 32));
    return philox(counter,
                  make_uint2(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)));
}

__host__ __device__ uint32_t word_of(uint4 block, uint64_t position) {
    const unsigned place = position % 4;
    return place < 2 ? (place == 0 ? block.x : block.y) : (place == 2 ? block.z : block.w);
}

__host__ __device__ uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t position) {
    return word_of(random_block(seed, stream, position / 4), position);
}

__global__ void fill_kernel(uint64_t seed, float* out, int streams, int draws) {
    const int64_t n = static_cast<int64_t>(streams) * draws;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = unit_float(random_word(seed, i / draws, i % draws));
}

void fill(uint64_t seed, float* d_out, int streams, int draws, int blocks, int threads) {
    fill_kernel<<<blocks, threads>>>(seed, d_out, streams, draws);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void draw_points_kernel(uint64_t seed, uint64_t first_stream, uint64_t* positions,
                                   float2* out, int streams, int points) {
    [[maybe_unused]] const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams) return;
    const uint64_t stream = first_stream + static_cast<unsigned>(s);
    const uint64_t start = positions[s];
    uint64_t have = ~0ull;
    uint4 block{};
    for (int k = 0; k < points; ++k) {
        float v[2];
        for (int j = 0; j < 2; ++j) {
            const uint64_t at = start + 2ull * k + j;
            if (at / 4 != have) {
                have = at / 4;
                block = random_block(seed, stream, have);
            }
            v[j] = unit_float(word_of(block, at));
        }
        out[size_t(k) * streams + s] = {v[0], v[1]};
    }
    positions[s] = start + 2ull * points;
}

void draw_points(uint64_t seed, uint64_t first_stream, uint64_t* d_positions, float2* d_points,
                 int streams, int points, int threads) {
    if (streams == 0 || points == 0) return;
    draw_points_kernel<<<blocks_for(streams, threads), threads>>>(
        seed, first_stream, d_positions, d_points, streams, points);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void curand_start_kernel(uint64_t seed, uint64_t first_stream, CurandState* states,
                                    int streams) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < streams) curand_init(seed, first_stream + s, 0, &states[s]);
}

__global__ void curand_draw_kernel(CurandState* states, float2* out, int streams, int points) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams) return;
    CurandState state = states[s];  // registers: a draw then touches no memory
    for (int k = 0; k < points; ++k) {
        const float x = curand_uniform(&state);
        const float y = curand_uniform(&state);
        out[static_cast<int64_t>(k) * streams + s] = make_float2(x, y);
    }
    states[s] = state;
}

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
