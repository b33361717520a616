// Unusual: Absolute values, squares without a sign, and a mask for the ends of the range.
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
    return make_int2(static_cast<int>(word << 16) >> 16, static_cast<int>(word) >> 16);
}

__host__ __device__ bool in_circle(int2 point) {
    const unsigned x = abs(point.x), y = abs(point.y);
    return x * x + y * y < static_cast<unsigned>(kRadius) * kRadius;
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
    const uint64_t last = (first + n + kPerQuad - 1) / kPerQuad;
    for (uint64_t q = first / kPerQuad + thread; q < last; q += threads) {
        const uint4 quad = random_quad(seed, q);
        unsigned mask = 0xF;
        if (q == first / kPerQuad) mask &= 0xFu << first % kPerQuad;
        if (q == (first + n) / kPerQuad) mask &= 0xFu >> (kPerQuad - (first + n) % kPerQuad);
        const unsigned found =
            is_hit(quad.x) | is_hit(quad.y) << 1 | is_hit(quad.z) << 2 | is_hit(quad.w) << 3;
        const unsigned counted = found & mask;
        hits += (counted & 1) + (counted >> 1 & 1) + (counted >> 2 & 1) + (counted >> 3);
    }
    return hits;
}

__global__ void count_kernel(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* total) {
    const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    unsigned long long hits = thread_hits(seed, first, n, thread, threads);
    for (int offset = kLanes / 2; offset > 0; offset /= 2)
        hits += __shfl_down_sync(kAllLanes, hits, offset);
    __shared__ unsigned long long of_warp[kMostWarps];
    if (threadIdx.x % kLanes == 0) of_warp[threadIdx.x / kLanes] = hits;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long of_block = 0;
        for (unsigned warp = 0; warp < blockDim.x / kLanes; ++warp) of_block += of_warp[warp];
        atomicAdd(total, of_block);
    }
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
