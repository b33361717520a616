// SPDX-License-Identifier: MIT
// Lesson 23, Monte Carlo: what monte_carlo_pi.cu implements and the test calls.
//
// Sample i of a seed is a point in a square. The samples depend on (seed, i) only: not on the grid,
// nor on the number of launches. Pointers with the prefix d_ point to device memory. A CUDA call or
// a launch that fails throws wb::CudaError.
#pragma once

#include <cstdint>

#include "cuda_check.h"

// The square goes from -kRadius to kRadius - 1 on both axes, and the circle around (0, 0) has this
// radius. Coordinates are whole numbers, so that nothing is rounded.
inline constexpr int kRadius = 1 << 15;

// A quad is four random words, one for each of four samples: sample 4 * index + k takes word k (x
// is 0, w is 3) of quad number index.
inline constexpr int kPerQuad = 4;

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011)
// as in lesson 22: counter `index`, key `seed`, both with their 64 bits.
__host__ __device__ inline uint4 random_quad(uint64_t seed, uint64_t index) {
    uint4 counter =
        make_uint4(static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0);
    uint2 key = make_uint2(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
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

// The point of a word: x is its lower half, y its upper half, both read as signed 16-bit numbers.
__host__ __device__ int2 point_of(uint32_t word);

// Whether x * x + y * y < kRadius * kRadius, exactly; x and y in [-kRadius, kRadius).
__host__ __device__ bool in_circle(int2 point);

// The hits that thread number `thread` of `threads`, at least 32, counts among the samples [first,
// first + n). Each sample is counted by exactly one thread; which one is up to you, but no thread
// takes many more than n / threads. first + n < 2^63, n may be 0. Runs on the host and the device.
__host__ __device__ uint64_t thread_hits(uint64_t seed, uint64_t first, uint64_t n, uint64_t thread,
                                         uint64_t threads);

// Adds to *d_hits the number of samples in [first, first + n) that lie in the circle: exactly n
// samples are drawn. first + n < 2^63, n may be 0. `blocks` blocks of `threads` threads, a multiple
// of 32 up to 1024; the result does not depend on either. At most one atomic for each block.
void count_hits(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* d_hits, int blocks,
                int threads);

// How many blocks of `threads` threads of the counting kernel the whole card can hold at one time:
// its multiprocessors times the blocks that fit on each, by cudaOccupancyMaxActiveBlocksPer-
// Multiprocessor. threads: a multiple of 32, at most 1024.
int full_grid(int threads);

struct Estimate {
    uint64_t samples;
    uint64_t hits;
    double pi;
    double sigma;  // of pi: one standard deviation
};

// The estimate from `hits` of `samples`, samples > 0: pi is 4 times the share of hits, sigma is
// sqrt(pi * (4 - pi) / samples) with that pi.
Estimate estimate_from(uint64_t hits, uint64_t samples);

// Draws the samples [0, n), n > 0, on a full grid. Allocates and frees its own memory.
Estimate estimate_pi(uint64_t seed, uint64_t n);
