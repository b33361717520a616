// SPDX-License-Identifier: MIT
// Lesson 10, device functions: what device_functions_z_mass.cu implements and the test calls.
//
// A particle has a transverse momentum pt (0 to 10^6 GeV), a pseudorapidity eta (|eta| <= 5) and an
// azimuth phi (radians, -pi to pi, so that 3.1 and -3.1 are neighbours). The invariant mass of two
// particles whose own masses are negligible is, in GeV,
//
//     m = sqrt(2 pt1 pt2 (cosh(eta1 - eta2) - cos(phi1 - phi2)))
//
// Everything is computed in float.
#pragma once

#include "cuda_check.h"

// The formula as it stands. Its relative error is below 2e-6 when the particles are far apart: when
// (eta1 - eta2)^2 + (phi1 - phi2)^2 >= 1. For close particles it is useless.
__host__ __device__ float mass_textbook(float pt1, float eta1, float phi1, float pt2, float eta2,
                                        float phi2);

// The same mass, with a relative error below 1e-6 for opening angles from 1e-6 on; where phi wraps
// around, the rounding of phi1 - phi2 adds 5e-7 divided by the opening angle. Exactly 0 for equal
// directions, never NaN. Host and device agree to 6 units in the last place.
__host__ __device__ float mass(float pt1, float eta1, float phi1, float pt2, float eta2,
                               float phi2);

// n particles, one array for each quantity, in device memory.
struct Particles {
    const float* d_pt;
    const float* d_eta;
    const float* d_phi;
};

// d_mass[i] = mass of particle i of `first` and particle i of `second`, for every i in [0, n), in
// one launch. d_mass: n floats; no overlap. For n = 0 nothing is launched. A refused launch throws
// wb::CudaError.
void masses(Particles first, Particles second, float* d_mass, int n);
