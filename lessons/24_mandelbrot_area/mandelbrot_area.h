// SPDX-License-Identifier: MIT
// Lesson 24, an unknown area: what mandelbrot_area.cu implements and the test calls.
//
// A point c of the plane belongs to the Mandelbrot set if z = 0, z = z * z + c, ... stays within
// |z| <= 2 for ever. Sample i of a seed is a point of the box; it depends on (seed, i) only.
// Samples are decided in float, with every rounding prescribed, so that host and device agree to
// the last bit. Pointers with the prefix d_ point to device memory. A refused launch throws
// wb::CudaError.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda_check.h"

// The box, which holds the whole set: kSide on each side, its lower left corner at (kLeft,
// kBottom).
inline constexpr float kLeft = -2.0f, kBottom = -1.5f, kSide = 3.0f;

// The most trips that estimate_area spends on one sample.
inline constexpr int kMostTrips = 5000;

enum class Verdict { kOutside, kInside, kUndecided };

// Word i of a seed, 64 random bits: SplitMix (Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", 2014), a function of a counter, without state.
__host__ __device__ inline uint64_t random_word(uint64_t seed, uint64_t i) {
    uint64_t word = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    return word ^ (word >> 31);
}

// A fraction in [0, 1) from the upper 24 bits of 32.
__host__ __device__ inline float unit_float(uint32_t half) {
    return static_cast<float>(half >> 8) * 0x1p-24f;
}

// |z|^2.
__host__ __device__ inline float squared_norm(float2 z) {
    return fmaf(z.x, z.x, z.y * z.y);
}

// The point of a word: x from its upper half, y from its lower half, each as
// fmaf(kSide, unit_float(half), start) with the start kLeft or kBottom.
__host__ __device__ float2 point_of(uint64_t word);

// One step z * z + c, rounded as
//   x' = fmaf(x, x, fmaf(-y, y, c.x)),  y' = fmaf(x + x, y, c.y).
__host__ __device__ float2 step(float2 z, float2 c);

// One trip of Floyd's: the hare takes two steps, then
//   kOutside if |hare|^2 > 4; else the tortoise takes one step, then
//   kInside if the two are equal; else kUndecided.
// After kOutside the values of the two do not matter.
__host__ __device__ Verdict trip(float2& hare, float2& tortoise, float2 c);

// Trips from hare = tortoise = 0 until one decides, at most `most` of them, which may be 0;
// kUndecided if none does.
__host__ __device__ Verdict floyd(float2 c, int most);

// Whether c lies in the main cardioid or in the disc to the left of it: with q = (x - 1/4)^2 + y^2
//   q * (q + x - 1/4) <= y^2 / 4   or   (x + 1)^2 + y^2 <= 1/16.
// The border belongs to them. Rounding is free here, and may decide on points within 1e-4 of the
// border, but not where no operation rounds: (1/4, 0), (1/4, 1/2), (-3/4, 0), (-1, 1/4), (-5/4, 0).
__host__ __device__ bool surely_inside(float2 c);

// The counters in device memory.
struct Counts {
    unsigned long long inside;
    unsigned long long undecided;
};

// Adds to d_counts the number of samples in [first, first + n) that are inside, surely or by floyd
// with `most` trips, and the number of those that stay undecided. first + n < 2^63, n may be 0.
// `blocks` blocks of `threads` threads, a multiple of 32 up to 1024; the result does not depend on
// either.
//   count_in_step: a lane waits until all lanes of its warp have decided their samples.
//   count_flat:    a lane that has decided its sample takes the next one. On a warp with many
//                  samples the share of busy lanes is at least five times that of count_in_step.
void count_in_step(uint64_t seed, uint64_t first, uint64_t n, int most, Counts* d_counts,
                   int blocks, int threads);
void count_flat(uint64_t seed, uint64_t first, uint64_t n, int most, Counts* d_counts, int blocks,
                int threads);

struct Area {
    uint64_t samples;
    Counts counts;
    double area;    // with half of the undecided samples
    double sigma;   // one standard deviation, by chance: sqrt(area * (box - area) / samples)
    double margin;  // the area of half of the undecided samples, which may be too much or missing
};

// The area from the counts of `samples` samples of the box, samples > 0.
Area area_from(Counts counts, uint64_t samples);

// Decides the samples [0, n), n > 0, with kMostTrips each. Allocates and frees its own memory.
Area estimate_area(uint64_t seed, uint64_t n);
