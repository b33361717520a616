// SPDX-License-Identifier: MIT
// Cooperative grids: a Jacobi iteration with the grid's barrier, and without.
// nvcc: -rdc=true
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

template <bool kSync>
__global__ void jacobi(float* a, float* b, int n, int steps) {
    auto grid = cg::this_grid();
    for (int s = 0; s < steps; ++s) {
        for (int i = grid.thread_rank() + 1; i < n - 1; i += grid.size())
            b[i] = 0.5f * (a[i - 1] + a[i + 1]);  // expect: race-global
        if constexpr (kSync) grid.sync();
        float* c = a;
        a = b;
        b = c;
    }
}

// twin: race-global, hang
__global__ void two_phases(int* partial, int* out) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    __shared__ int s;
    if (block.thread_rank() == 0) s = 0;
    block.sync();
    atomicAdd(&s, 1);
    block.sync();
    if (block.thread_rank() == 0) partial[blockIdx.x] = s;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += partial[b];
        *out = total;
    }
}

int main() {
    float *a, *b;
    int n = 2000, steps = 3;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(b, 0, n * sizeof(float));
    void* arguments[] = {&a, &b, &n, &steps};
    int* counts;
    cudaMalloc(&counts, 20 * sizeof(int));
    int* total = counts + 10;
    void* more[] = {&counts, &total};
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(two_phases), dim3(8), dim3(64), more, 0, nullptr);
    // twin: race-global
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(jacobi<true>), dim3(8), dim3(128), arguments, 0, nullptr);
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(jacobi<false>), dim3(8), dim3(128), arguments, 0, nullptr);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(counts);
}
