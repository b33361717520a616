// Unusual: A grid of 64 blocks walks over the quads; the first threads take the rest; the addresses
// are joined with or.
// SPDX-License-Identifier: MIT
// Lesson 11, coalescing: the same numbers in another order, and how many bytes a warp then moves.
// Start with README.md in this directory; `make 11` checks this file.
#include "coalescing_soa.h"

#include <cstdint>

constexpr int kThreads = 256;

static unsigned blocks_for(int n) {
    return (unsigned(n) + kThreads - 1) / kThreads;
}

__device__ int thread_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Given: an array of structures, one particle for each thread. Count the sectors.
__global__ void particles_kernel(const Particle* particles, float* out, int n) {
    const int i = thread_index();
    if (i < n) out[i] = pt_squared(particles[i].px, particles[i].py);
}

void pt2_of_particles(const Particle* d_particles, float* d_out, int n) {
    if (n == 0) return;
    particles_kernel<<<blocks_for(n), kThreads>>>(d_particles, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void columns_kernel(const float* px, const float* py, float* out, int n) {
    const int i = thread_index();
    if (i < n) out[i] = pt_squared(px[i], py[i]);
}

void pt2_of_columns(const float* d_px, const float* d_py, float* d_out, int n) {
    if (n == 0) return;
    columns_kernel<<<blocks_for(n), kThreads>>>(d_px, d_py, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

// All four numbers of a particle in one load of 16 bytes. `particle` is a multiple of 16.
__device__ Particle load(const Particle* particle) {
    const float4 all = *reinterpret_cast<const float4*>(particle);
    return {all.x, all.y, all.z, all.w};
}

// The opposite: one store of 16 bytes.
__device__ void store(Particle* to, Particle p) {
    *reinterpret_cast<float4*>(to) = make_float4(p.px, p.py, p.pz, p.e);
}

__global__ void to_columns_kernel(const Particle* particles, Columns columns, int n) {
    const int i = thread_index();
    if (i >= n) return;
    const Particle p = load(particles + i);
    columns.d_px[i] = p.px;
    columns.d_py[i] = p.py;
    columns.d_pz[i] = p.pz;
    columns.d_e[i] = p.e;
}

void to_columns(const Particle* d_particles, Columns columns, int n) {
    if (n == 0) return;
    to_columns_kernel<<<blocks_for(n), kThreads>>>(d_particles, columns, n);
    CUDA_CHECK(cudaGetLastError());
}

// Elements 4q to 4q + 3, for each q in [0, n / 4), and the n % 4 elements after them.
__global__ void wide_kernel(const float* px, const float* py, float* out, int n) {
    const int threads = gridDim.x * blockDim.x, first = thread_index();
    const auto x = reinterpret_cast<const float4*>(px), y = reinterpret_cast<const float4*>(py);
    for (int q = first; q < n / 4; q += threads) {
        float4 r;
        r.x = pt_squared(x[q].x, y[q].x);
        r.y = pt_squared(x[q].y, y[q].y);
        r.z = pt_squared(x[q].z, y[q].z);
        r.w = pt_squared(x[q].w, y[q].w);
        reinterpret_cast<float4*>(out)[q] = r;
    }
    const int i = n / 4 * 4 + first;
    if (i < n) out[i] = pt_squared(px[i], py[i]);
}

// Whether a pointer may be read 16 bytes at a time.
[[maybe_unused]] static bool is_aligned(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % sizeof(float4) == 0;
}

void pt2_of_columns_wide(const float* d_px, const float* d_py, float* d_out, int n) {
    if (n == 0) return;
    const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
    if (((bits(d_px) | bits(d_py) | bits(d_out)) & 15) != 0) {
        pt2_of_columns(d_px, d_py, d_out, n);
        return;
    }
    wide_kernel<<<64, kThreads>>>(d_px, d_py, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void gather_kernel(const Particle* particles, const int* index, Particle* out, int n) {
    const int k = thread_index();
    if (k < n) store(out + k, load(particles + index[k]));
}

void gather(const Particle* d_particles, const int* d_index, Particle* d_out, int n) {
    if (n == 0) return;
    gather_kernel<<<blocks_for(n), kThreads>>>(d_particles, d_index, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
