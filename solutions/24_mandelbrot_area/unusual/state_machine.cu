// Unusual: A lane is in one of three states; trips count upwards; one test for the disc by a
// product of sums.
// SPDX-License-Identifier: MIT
// Lesson 24, an unknown area: samples that take one trip or thousands, and lanes that do not wait.
// Start with README.md in this directory; `make 24` checks this file.
#include "mandelbrot_area.h"

#include <algorithm>

static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kThreads = 128;
static constexpr int kSamplesPerThread = 256;  // enough for long and short ones to even out

__host__ __device__ float2 point_of(uint64_t word) {
    const uint32_t upper = static_cast<uint32_t>(word >> 32), lower = static_cast<uint32_t>(word);
    return make_float2(fmaf(kSide, unit_float(upper), kLeft),
                       fmaf(kSide, unit_float(lower), kBottom));
}

__host__ __device__ float2 step(float2 z, float2 c) {
    return make_float2(fmaf(z.x, z.x, fmaf(-z.y, z.y, c.x)), fmaf(z.x + z.x, z.y, c.y));
}

__host__ __device__ Verdict trip(float2& hare, float2& tortoise, float2 c) {
    hare = step(step(hare, c), c);
    if (squared_norm(hare) > 4) return Verdict::kOutside;
    tortoise = step(tortoise, c);
    const bool met = hare.x == tortoise.x && hare.y == tortoise.y;
    return met ? Verdict::kInside : Verdict::kUndecided;
}

__host__ __device__ Verdict floyd(float2 c, int most) {
    float2 hare = make_float2(0, 0), tortoise = hare;
    for (int trips = 0; trips < most; ++trips) {
        const Verdict verdict = trip(hare, tortoise, c);
        if (verdict != Verdict::kUndecided) return verdict;
    }
    return Verdict::kUndecided;
}

__host__ __device__ bool surely_inside([[maybe_unused]] float2 c) {
    const float from_quarter = c.x - 0.25f, y2 = c.y * c.y;
    const float q = fmaf(from_quarter, from_quarter, y2);
    if (q * (q + from_quarter) <= 0.25f * y2) return true;
    return (c.x + 0.75f) * (c.x + 1.25f) + y2 <= 0;
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
    enum { kTakes, kWalks, kDone } state = kTakes;
    float2 c{}, hare{}, tortoise{};
    for (int trips = 0; state != kDone;) {
        if (state == kTakes) {
            for (state = kDone; i < end; i += threads) {
                c = point_of(random_word(seed, i));
                if (surely_inside(c)) {
                    ++inside;
                    continue;
                }
                i += threads;
                trips = 0;
                hare = tortoise = make_float2(0, 0);
                state = kWalks;
                break;
            }
        } else if (trips == most) {
            ++undecided;
            state = kTakes;
        } else {
            ++trips;
            const Verdict verdict = trip(hare, tortoise, c);
            if (verdict == Verdict::kInside) ++inside;
            if (verdict != Verdict::kUndecided) state = kTakes;
        }
    }
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
    const double box = static_cast<double>(kSide) * kSide, n = static_cast<double>(samples);
    const double undecided = static_cast<double>(counts.undecided);
    result.area = box * (static_cast<double>(counts.inside) + undecided / 2) / n;
    result.sigma = std::sqrt(result.area * (box - result.area) / n);
    result.margin = box * undecided / 2 / n;
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
