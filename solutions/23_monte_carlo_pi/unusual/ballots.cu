// Unusual: The warp votes on each sample, and only lane 0 counts.
// SPDX-License-Identifier: MIT
// Lesson 23, Monte Carlo: an area by sampling, with an error bar that is true.
// Start with README.md in this directory; `make 23` checks this file.
#include "monte_carlo_pi.h"

#include <cmath>

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
[[maybe_unused]] static constexpr int kLanes = 32;
[[maybe_unused]] static constexpr int kMostWarps = 32;  // in a block of 1024 threads
static constexpr int kThreads = 256;

__host__ __device__ int2 point_of(uint32_t word) {
    return make_int2(static_cast<int16_t>(word), static_cast<int16_t>(word >> 16));
}

__host__ __device__ bool in_circle(int2 point) {
    return point.x * point.x - kRadius * kRadius + point.y * point.y < 0;
}

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
    const uint64_t end = first + n;
    const uint64_t begin_quads = (first + kPerQuad - 1) / kPerQuad, end_quads = end / kPerQuad;
    for (uint64_t q = begin_quads + thread; q < end_quads; q += threads) {
        const uint4 quad = random_quad(seed, q);
        hits += is_hit(quad.x) + is_hit(quad.y) + is_hit(quad.z) + is_hit(quad.w);
    }
    if (thread < kPerQuad - 1) {
        const uint64_t begin_whole = begin_quads * kPerQuad, end_whole = end_quads * kPerQuad;
        const uint64_t before = first + thread;
        const uint64_t after = (end_whole > begin_whole ? end_whole : begin_whole) + thread;
        if (before < begin_whole && before < end) hits += is_hit(word_of_sample(seed, before));
        if (after < end) hits += is_hit(word_of_sample(seed, after));
    }
    return hits;
}

__global__ void count_kernel(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* total) {
    const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    const uint64_t end = first + n, lane = threadIdx.x % kLanes;
    unsigned long long hits = 0;
    // All lanes of a warp go round together: they vote.
    for (uint64_t q = first / kPerQuad + thread; (q - lane) * kPerQuad < end; q += threads) {
        const uint4 quad = random_quad(seed, q);
        const uint32_t words[] = {quad.x, quad.y, quad.z, quad.w};
        const bool whole = q * kPerQuad >= first && q * kPerQuad + kPerQuad <= end;
        for (int k = 0; k < kPerQuad; ++k) {
            const uint64_t i = q * kPerQuad + k;
            const bool counts = whole || (i >= first && i < end);
            hits += __popc(__ballot_sync(kAllLanes, counts && is_hit(words[k])));
        }
    }
    __shared__ unsigned long long of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    if (lane == 0) atomicAdd(&of_block, hits);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, of_block);
}

void count_hits(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* d_hits, int blocks,
                int threads) {
    count_kernel<<<blocks, threads>>>(seed, first, n, d_hits);
    CUDA_CHECK(cudaGetLastError());
}

int full_grid(int threads) {
    int blocks = 0;
    int device = 0, multiprocessors = 0, per_multiprocessor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_multiprocessor, count_kernel, threads, 0));
    blocks = multiprocessors * per_multiprocessor;
    return blocks;
}

Estimate estimate_from(uint64_t hits, uint64_t samples) {
    Estimate result{samples, hits, 0, 0};
    const double n = static_cast<double>(samples);
    result.pi = 4 * static_cast<double>(hits) / n;
    result.sigma = std::sqrt(result.pi * (4 - result.pi) / n);
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
