// SPDX-License-Identifier: MIT
// A grid's barrier that only one block reaches.
// nvcc: -rdc=true
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void first_block_waits(int* out) {
    auto grid = cg::this_grid();
    out[blockIdx.x] = 1;
    if (blockIdx.x == 0) {
        grid.sync();  // expect: hang
        out[0] = out[1];
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 4 * sizeof(int));
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(first_block_waits), dim3(4), dim3(32), arguments, 0, nullptr);
    cudaDeviceSynchronize();
    cudaFree(out);
}
