// SPDX-License-Identifier: MIT
// A grid barrier in a kernel that was launched like any other.
// also: -G
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void exchange(int* data) {
    cg::grid_group grid = cg::this_grid();
    data[grid.thread_rank()] = int(grid.thread_rank());
    grid.sync();  // expect: invalid-launch "not launched cooperatively"
    data[256 + grid.thread_rank()] = data[grid.size() - 1 - grid.thread_rank()];
}

int main() {
    int* data;
    cudaMalloc(&data, 512 * sizeof(int));
    // twin: invalid-launch
    void* arguments[] = {&data};
    cudaLaunchCooperativeKernel((void*)exchange, 4, 64, arguments);
    cudaDeviceSynchronize();
    exchange<<<4, 64>>>(data);
    if (cudaDeviceSynchronize() != cudaSuccess) return 0;
    cudaFree(data);
}
