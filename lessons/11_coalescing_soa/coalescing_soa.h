// SPDX-License-Identifier: MIT
// Lesson 11, coalescing: what coalescing_soa.cu implements and the test calls.
//
// The same n particles in two layouts, both in device memory. 0 <= n <= 2^20; for n = 0 nothing is
// launched. The arrays of one call do not overlap. A refused launch throws wb::CudaError.
#pragma once

#include <cmath>

#include "cuda_check.h"

// Array of structures (AoS): the four numbers of one particle are side by side, in 16 bytes. Arrays
// of Particle that are passed to these functions start at a multiple of 16 bytes.
struct Particle {
    float px, py, pz, e;
};

// Structure of arrays (SoA): all px are side by side, and so on. n floats each.
struct Columns {
    float *d_px, *d_py, *d_pz, *d_e;
};

// The transverse momentum squared. The explicit fma makes it the same to the last bit everywhere.
__host__ __device__ inline float pt_squared(float px, float py) {
    return std::fma(px, px, py * py);
}

// d_out[i] = pt_squared of particle i, from an array of structures. d_out: n floats.
void pt2_of_particles(const Particle* d_particles, float* d_out, int n);

// d_out[i] = pt_squared of particle i, from two columns of n floats.
void pt2_of_columns(const float* d_px, const float* d_py, float* d_out, int n);

// The same. Where all three pointers are multiples of 16 bytes, each thread takes four particles
// with 16-byte loads and stores, and n % 4 particles are left for other threads. Other pointers
// work too.
void pt2_of_columns_wide(const float* d_px, const float* d_py, float* d_out, int n);

// Changes the layout: columns.d_px[i] = d_particles[i].px, and so on.
void to_columns(const Particle* d_particles, Columns columns, int n);

// d_out[k] = d_particles[d_index[k]] for every k in [0, n): the whole particle. Every index is
// valid, and an index may occur more than once. d_out: n particles.
void gather(const Particle* d_particles, const int* d_index, Particle* d_out, int n);
