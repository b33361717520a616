// SPDX-License-Identifier: MIT
// Lesson 23, Monte Carlo: an area by sampling, with an error bar that is true.
// Start with README.md in this directory; `make 23` checks this file.
#include "monte_carlo_pi.h"

#include <cmath>

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
[[maybe_unused]] static constexpr int kLanes = 32;
[[maybe_unused]] static constexpr int kMostWarps = 32;  // in a block of 1024 threads
static constexpr int kThreads = 256;

// TODO 1 (2 lines): make the point from the two halves of the word, as signed 16-bit
// numbers. Compare the squares; no intermediate sum may reach 2^31.
__host__ __device__ int2 point_of([[maybe_unused]] uint32_t word) {
    return make_int2(0, 0);  // a placeholder
}
__host__ __device__ bool in_circle([[maybe_unused]] int2 point) {
    return false;  // a placeholder
}
// END 1

__host__ __device__ inline bool is_hit(uint32_t word) {
    return in_circle(point_of(word));
}

// The word of sample i. It computes a quad for one word of it: right for a few samples only.
__host__ __device__ inline uint32_t word_of_sample(uint64_t seed, uint64_t i) {
    const uint4 quad = random_quad(seed, i / kPerQuad);
    const unsigned place = i % kPerQuad;
    return place < 2 ? (place == 0 ? quad.x : quad.y) : (place == 2 ? quad.z : quad.w);
}

__host__ __device__ uint64_t thread_hits([[maybe_unused]] uint64_t seed,
                                         [[maybe_unused]] uint64_t first,
                                         [[maybe_unused]] uint64_t n,
                                         [[maybe_unused]] uint64_t thread,
                                         [[maybe_unused]] uint64_t threads) {
    uint64_t hits = 0;
    // TODO 2 (about 14 lines): count in the quads whose four samples all belong to [first, first +
    // n), thread by thread in steps of `threads`. Up to three samples are left before the first of
    // these quads and after the last one: let threads 0, 1 and 2 take one each, on either side.
    // END 2
    return hits;
}

__global__ void count_kernel(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* total) {
    const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    unsigned long long hits = thread_hits(seed, first, n, thread, threads);
    // TODO 3 (about 9 lines): sum the hits of the block: by shuffles in each warp, then in shared
    // memory. One thread adds the sum to *total, which other blocks add to as well.
    static_cast<void>(hits), static_cast<void>(total);  // a placeholder
    // END 3
}

void count_hits(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* d_hits, int blocks,
                int threads) {
    count_kernel<<<blocks, threads>>>(seed, first, n, d_hits);
    CUDA_CHECK(cudaGetLastError());
}

int full_grid([[maybe_unused]] int threads) {
    int blocks = 1;
    // TODO 4 (about 5 lines): ask how many multiprocessors the device has, and how many blocks of
    // count_kernel fit on one of them.
    // END 4
    return blocks;
}

Estimate estimate_from(uint64_t hits, uint64_t samples) {
    Estimate result{samples, hits, 0, 0};
    // TODO 5 (about 3 lines): pi and its sigma.
    // END 5
    return result;
}

Estimate estimate_pi(uint64_t seed, uint64_t n) {
    unsigned long long* d_hits = nullptr;
    CUDA_CHECK(cudaMalloc(&d_hits, sizeof *d_hits));
    CUDA_CHECK(cudaMemset(d_hits, 0, sizeof *d_hits));
    count_hits(seed, 0, n, d_hits, full_grid(kThreads), kThreads);
    unsigned long long hits = 0;
    CUDA_CHECK(cudaMemcpy(&hits, d_hits, sizeof hits, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_hits));
    return estimate_from(hits, n);
}
