// SPDX-License-Identifier: MIT
// Lesson 11, coalescing: what coalescing_soa.cu implements and the test calls.
//
// The same n particles in two layouts, both in device memory. n is from 0 to 2^30; for n = 0
// nothing is launched. The arrays of one call do not overlap. Everything runs in the default
// stream; a refused launch throws wb::CudaError.
#pragma once

#include <cmath>

#include "cuda_check.h"

// Array of structures (AoS): the four numbers of one particle lie side by side. 16 bytes. Arrays of
// Particle that are passed to these functions start at a multiple of 16 bytes.
struct Particle {
    float px, py, pz, e;
};

// Structure of arrays (SoA): all px lie side by side, and so on. n floats each.
struct Columns {
    float *d_px, *d_py, *d_pz, *d_e;
};

// The transverse momentum squared. With an explicit fma it is the same to the last bit everywhere.
__host__ __device__ inline float pt_squared(float px, float py) {
    return std::fma(px, px, py * py);
}

// d_out[i] = pt_squared of particle i, from an array of structures. d_out: n floats.
void pt2_of_particles(const Particle* d_particles, float* d_out, int n);

// d_out[i] = pt_squared of particle i, from two columns of n floats.
void pt2_of_columns(const float* d_px, const float* d_py, float* d_out, int n);

// The same, four particles for each thread with 16-byte loads and stores, as far as possible: any
// n, and pointers that are not a multiple of 16 bytes are right too.
void pt2_of_columns_wide(const float* d_px, const float* d_py, float* d_out, int n);

// Changes the layout: columns.d_px[i] = d_particles[i].px, and so on.
void to_columns(const Particle* d_particles, Columns columns, int n);

// d_out[k] = d_particles[d_index[k]] for every k in [0, n): the whole particle. Every index is that
// of a particle. d_out: n particles.
void gather(const Particle* d_particles, const int* d_index, Particle* d_out, int n);
