// SPDX-License-Identifier: MIT
// Lesson 24, an unknown area: samples that take one trip or thousands, and lanes that do not wait.
// Start with README.md in this directory; `make 24` checks this file.
#include "mandelbrot_area.h"

#include <algorithm>

static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kThreads = 128;
static constexpr int kSamplesPerThread = 256;  // enough for long and short ones to even out

// TODO 1 (about 5 lines): the point of a word, and one step. Round as mandelbrot_area.h says: write
// fmaf where it has fmaf.
__host__ __device__ float2 point_of(uint64_t word) {
    return make_float2(word == 0, 0);
}
__host__ __device__ float2 step(float2 z, float2 c) {
    return make_float2(z.x - 1 - c.x, z.y - c.y);
}
// END 1

// TODO 2 (about 10 lines): one trip of hare and tortoise; then trips until one decides.
__host__ __device__ Verdict trip(float2&, float2&, float2) {
    return Verdict::kUndecided;
}
__host__ __device__ Verdict floyd(float2, int most) {
    return most < 0 ? Verdict::kInside : Verdict::kOutside;
}
// END 2

__host__ __device__ bool surely_inside([[maybe_unused]] float2 c) {
    // TODO 3 (about 6 lines): the two inequalities.
    return false;
    // END 3
}

// Adds the counts of all threads; all lanes of a warp call it.
__device__ void add_counts(unsigned long long inside, unsigned long long undecided,
                           Counts* counts) {
    for (int offset = kLanes / 2; offset > 0; offset /= 2) {
        inside += __shfl_down_sync(kAllLanes, inside, offset);
        undecided += __shfl_down_sync(kAllLanes, undecided, offset);
    }
    if (threadIdx.x % kLanes != 0) return;
    if (inside > 0) atomicAdd(&counts->inside, inside);
    if (undecided > 0) atomicAdd(&counts->undecided, undecided);
}

__global__ void count_in_step_kernel(uint64_t seed, uint64_t first, uint64_t n, int most,
                                     Counts* counts) {
    const uint64_t end = first + n, threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    unsigned long long inside = 0, undecided = 0;
    for (uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end;
         i += threads) {
        const float2 c = point_of(random_word(seed, i));
        const Verdict verdict = surely_inside(c) ? Verdict::kInside : floyd(c, most);
        inside += verdict == Verdict::kInside;
        undecided += verdict == Verdict::kUndecided;
    }
    add_counts(inside, undecided, counts);
}

__global__ void count_flat_kernel(uint64_t seed, uint64_t first, uint64_t n, int most,
                                  Counts* counts) {
    const uint64_t end = first + n, threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned long long inside = 0, undecided = 0;
    // TODO 4 (about 20 lines): one loop, in which a lane takes a new sample if it has none, and
    // makes one trip if it has one. Two ifs, one after the other, and no `continue`: the compiler
    // may make a loop in the loop of it, in which lanes wait.
    if (i < end && threads < static_cast<uint64_t>(most) && seed == 0) inside = 1;
    // END 4
    add_counts(inside, undecided, counts);
}

void count_in_step(uint64_t seed, uint64_t first, uint64_t n, int most, Counts* d_counts,
                   int blocks, int threads) {
    count_in_step_kernel<<<blocks, threads>>>(seed, first, n, most, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

void count_flat(uint64_t seed, uint64_t first, uint64_t n, int most, Counts* d_counts, int blocks,
                int threads) {
    count_flat_kernel<<<blocks, threads>>>(seed, first, n, most, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

Area area_from(Counts counts, uint64_t samples) {
    Area result{samples, counts, 0, 0, 0};
    // TODO 5 (about 5 lines): area, sigma and margin.
    // END 5
    return result;
}

// As many blocks as the card holds, but no more than there is work for.
static int blocks_for(uint64_t n) {
    int device = 0, multiprocessors = 0, per_multiprocessor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_multiprocessor, count_flat_kernel, kThreads, 0));
    const uint64_t wanted = n / (kThreads * kSamplesPerThread);
    return static_cast<int>(
        std::clamp<uint64_t>(wanted, 1, uint64_t(multiprocessors) * per_multiprocessor));
}

Area estimate_area(uint64_t seed, uint64_t n) {
    Counts* d_counts = nullptr;
    CUDA_CHECK(cudaMalloc(&d_counts, sizeof *d_counts));
    CUDA_CHECK(cudaMemset(d_counts, 0, sizeof *d_counts));
    count_flat(seed, 0, n, kMostTrips, d_counts, blocks_for(n), kThreads);
    Counts counts{};
    CUDA_CHECK(cudaMemcpy(&counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_counts));
    return area_from(counts, n);
}
