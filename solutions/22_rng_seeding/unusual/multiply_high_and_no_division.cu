// Unusual: __umulhi on the device and a shift on the host, the word of a block by shifts, and a
// fill that finds row and column by moving on instead of dividing.
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

__host__ __device__ uint32_t high_half(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
#endif
}

__host__ __device__ uint4 philox(uint4 counter, [[maybe_unused]] uint2 key) {
    for (int round = 0; round < 10; ++round) {
        counter = make_uint4(high_half(0xCD9E8D57u, counter.z) ^ counter.y ^ key.x,
                             0xCD9E8D57u * counter.z,
                             high_half(0xD2511F53u, counter.x) ^ counter.w ^ key.y,
                             0xD2511F53u * counter.x);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

// Block number `index` of a stream: the words at positions 4 * index to 4 * index + 3.
__host__ __device__ uint4 random_block(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint4 counter = make_uint4(static_cast<uint32_t>(index),
                                     static_cast<uint32_t>(index >> 32),
                                     static_cast<uint32_t>(stream),
                                     static_cast<uint32_t>(stream >> 32));
    return philox(counter,
                  make_uint2(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)));
}

__host__ __device__ uint32_t word_of(uint4 block, uint64_t position) {
    const uint64_t low = static_cast<uint64_t>(block.y) << 32 | block.x;
    const uint64_t high = static_cast<uint64_t>(block.w) << 32 | block.z;
    return static_cast<uint32_t>((position & 2 ? high : low) >> 32 * (position & 1));
}

__host__ __device__ uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t position) {
    return word_of(random_block(seed, stream, position / 4), position);
}

__global__ void fill_kernel(uint64_t seed, float* out, int streams, int draws) {
    const int step = gridDim.x * blockDim.x;
    int64_t row = 0;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    for (;; column += step) {
        while (column >= draws) {
            column -= draws;
            if (++row >= streams) return;
        }
        out[row * draws + column] = unit_float(random_word(seed, row, column));
    }
}

void fill(uint64_t seed, float* d_out, int streams, int draws, int blocks, int threads) {
    fill_kernel<<<blocks, threads>>>(seed, d_out, streams, draws);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void draw_points_kernel(uint64_t seed, uint64_t first_stream, uint64_t* positions,
                                   float2* out, int streams, int points) {
    [[maybe_unused]] const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams) return;
    const uint64_t stream = first_stream + s;
    uint64_t position = positions[s];
    uint4 block = random_block(seed, stream, position / 4);
    const auto next = [&] {
        const float draw = unit_float(word_of(block, position));
        if (++position % 4 == 0) block = random_block(seed, stream, position / 4);
        return draw;
    };
    for (int k = 0; k < points; ++k) {
        const float x = next();  // in two statements: the order of x and y is part of the promise
        const float y = next();
        out[static_cast<int64_t>(k) * streams + s] = make_float2(x, y);
    }
    positions[s] = position;
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
