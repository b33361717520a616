// SPDX-License-Identifier: MIT
// Lesson 22, random numbers and their seeds: what rng_seeding.cu implements and the test calls.
//
// A word is 32 random bits. A stream is a sequence of words, numbered by position 0, 1, 2 ... A
// draw takes the next word of one stream. The words depend on (seed, stream, position) only: not on
// the grid, nor on the number of launches. Pointers with the prefix d_ point to device memory; the
// arrays of one call do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_check.h"

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011):
// four words, a philox block, from a counter of four words, x first, and a key of two words.
__host__ __device__ uint4 philox(uint4 counter, uint2 key);

// The word at `position` of `stream`: element position % 4 (x is 0, w is 3) of the philox block
// with
//   counter = (position / 4: low, high half; stream: low, high half), key = (seed: low, high half).
// All three arguments use their 64 bits.
__host__ __device__ uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t position);

// A fraction in [0, 1) from the upper 24 bits of a word, as many as a float holds exactly.
__host__ __device__ inline float unit_float(uint32_t word) {
    return static_cast<float>(word >> 8) * 0x1p-24f;
}

// Row s of d_out gets the first `draws` draws of stream s, as fractions:
//   d_out[s * draws + k] = unit_float(random_word(seed, s, k)), s in [0, streams), k in [0, draws).
// d_out: streams * draws floats, at most 2^30. The caller chooses the grid, which may have more or
// fewer threads than there are elements, and has at most 2^30.
void fill(uint64_t seed, float* d_out, int streams, int draws, int blocks, int threads);

// `points` points for each of the streams first_stream + s, s in [0, streams). A point takes two
// draws, x first:
//   d_points[k * streams + s] = (x, y), k in [0, points).
// d_positions[s] is the position of the stream's next draw, any 64-bit number; it is used and
// advanced, so that the next call continues. d_points: points * streams pairs, at most 2^30. One
// thread for each stream, in blocks of `threads`. streams or points may be 0: then nothing changes.
void draw_points(uint64_t seed, uint64_t first_stream, uint64_t* d_positions, float2* d_points,
                 int streams, int points, int threads);

// The state of one generator of cuRAND, defined in curand_kernel.h as curandStatePhilox4_32_10_t.
struct curandStatePhilox4_32_10;
using CurandState = curandStatePhilox4_32_10;
inline constexpr size_t kCurandStateBytes = 64;

// Prepares d_states[s] as sequence first_stream + s of `seed`, for s in [0, streams).
void curand_start(uint64_t seed, uint64_t first_stream, CurandState* d_states, int streams,
                  int threads);

// The same as draw_points with cuRAND's states: each draw is a curand_uniform, in (0, 1]. The
// states are used and advanced, so that the next call continues.
void curand_points(CurandState* d_states, float2* d_points, int streams, int points, int threads);
