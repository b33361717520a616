// Unusual: Cooperative groups number the threads and sum a warp, its first lane adds to a sum in
// shared memory; one thread takes all samples at the ends; squares in 64 bits.
// SPDX-License-Identifier: MIT
// Lesson 23, Monte Carlo: an area by sampling, with an error bar that is true.
// Start with README.md in this directory; `make 23` checks this file.
#include "monte_carlo_pi.h"

#include <cmath>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

static constexpr int kLanes = 32;
static constexpr int kThreads = 256;

__host__ __device__ int2 point_of(uint32_t word) {
    return make_int2(static_cast<int16_t>(word), static_cast<int16_t>(word >> 16));
}

__host__ __device__ bool in_circle(int2 point) {
    const int64_t x = point.x, y = point.y;
    return x * x + y * y < int64_t{kRadius} * kRadius;
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
    if (thread == threads - 1) {
        uint64_t i = first;
        for (; i < end && i % kPerQuad != 0; ++i) hits += is_hit(word_of_sample(seed, i));
        for (i += (end - i) / kPerQuad * kPerQuad; i < end; ++i)
            hits += is_hit(word_of_sample(seed, i));
    }
    return hits;
}

__global__ void count_kernel(uint64_t seed, uint64_t first, uint64_t n, unsigned long long* total) {
    const auto grid = cg::this_grid();
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<kLanes>(block);
    __shared__ unsigned long long of_block;
    if (block.thread_rank() == 0) of_block = 0;
    block.sync();
    const unsigned long long hits =
        thread_hits(seed, first, n, grid.thread_rank(), grid.num_threads());
    const auto of_warp = cg::reduce(warp, hits, cg::plus<unsigned long long>());
    if (warp.thread_rank() == 0) atomicAdd(&of_block, of_warp);
    block.sync();
    if (block.thread_rank() == 0 && of_block > 0) atomicAdd(total, of_block);
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
