// Mutant: the textbook formula where the accurate one is wanted: both functions are near 1 at
// small angles, and 0 at 1e-4.
// verdict: fails "task 2: particles close together"
// verdict: fails "task 3: close pairs"
// SPDX-License-Identifier: MIT
// Lesson 10, device functions: one formula for host and device, first as in the textbook and then
// so that it keeps its digits.
// Start with README.md in this directory; `make 10` checks this file.
#include "device_functions_z_mass.h"

#include <cmath>

constexpr int kThreads = 256;

// Compiled twice: once for the CPU and once for the GPU.
__host__ __device__ float mass_textbook(float pt1, float eta1, float phi1, float pt2, float eta2,
                                        float phi2) {
    return sqrtf(2 * pt1 * pt2 * (coshf(eta1 - eta2) - cosf(phi1 - phi2)));
}

__host__ __device__ float mass(float pt1, float eta1, float phi1, float pt2, float eta2,
                               float phi2) {
    return mass_textbook(pt1, eta1, phi1, pt2, eta2, phi2);
}

__global__ void masses_kernel(Particles first, Particles second, float* masses, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    masses[i] = mass(first.d_pt[i],
                     first.d_eta[i],
                     first.d_phi[i],
                     second.d_pt[i],
                     second.d_eta[i],
                     second.d_phi[i]);
}

void masses(Particles first, Particles second, float* d_mass, int n) {
    if (n == 0) return;
    const unsigned blocks = (unsigned(n) + kThreads - 1) / kThreads;
    masses_kernel<<<blocks, kThreads>>>(first, second, d_mass, n);
    CUDA_CHECK(cudaGetLastError());
}
