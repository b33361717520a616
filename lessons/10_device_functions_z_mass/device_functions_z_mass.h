// SPDX-License-Identifier: MIT
// Lesson 10, device functions: what device_functions_z_mass.cu implements and the test calls.
//
// A particle has a transverse momentum pt (in GeV, 0 or more), a pseudorapidity eta (|eta| <= 5)
// and an azimuth phi (radians, any angle, so that 3.1 and -3.1 are neighbours). The invariant mass
// of two particles that weigh next to nothing themselves is, in GeV,
//
//     m = sqrt(2 pt1 pt2 (cosh(eta1 - eta2) - cos(phi1 - phi2)))
//
// Everything is float; doubles are not needed.
#pragma once

#include "cuda_check.h"

// The formula as it stands. Good to 2e-6 when the particles are far apart, that is when
// (eta1 - eta2)^2 + (phi1 - phi2)^2 >= 1; useless when they are close together.
__host__ __device__ float mass_textbook(float pt1, float eta1, float phi1, float pt2, float eta2,
                                        float phi2);

// The same mass, with a relative error below 1e-6 for any opening angle (apart from what the
// rounding of phi1 - phi2 costs where phi wraps round). Exactly 0 for equal directions, never NaN.
__host__ __device__ float mass(float pt1, float eta1, float phi1, float pt2, float eta2,
                               float phi2);

// n particles, one array for each quantity, in device memory.
struct Particles {
    const float* d_pt;
    const float* d_eta;
    const float* d_phi;
};

// d_mass[i] = mass of particle i of `first` and particle i of `second`, for every i in [0, n), in
// one launch in the default stream. d_mass: n floats; no overlap. For n = 0 nothing is launched. A
// refused launch throws wb::CudaError.
void masses(Particles first, Particles second, float* d_mass, int n);
