// Unusual: phi is brought into [-pi, pi] before anything else; the kernel walks with a grid-stride
// loop.
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
    const float sinh_half = sinhf(0.5f * (eta1 - eta2));
    float dphi = fabsf(phi1 - phi2);
    // Two pi as a sum of two floats, or the last digits would be those of a rounded pi.
    if (dphi > 3.14159274f) dphi = (dphi - 6.28318548f) + 1.74845553e-7f;
    const float sin_half = sinf(0.5f * dphi);
    return 2 * sqrtf(pt1 * pt2 * (sinh_half * sinh_half + sin_half * sin_half));
}

__global__ void masses_kernel(Particles first, Particles second, float* masses, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
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
    masses_kernel<<<min(blocks, 64u), kThreads>>>(first, second, d_mass, n);
    CUDA_CHECK(cudaGetLastError());
}
