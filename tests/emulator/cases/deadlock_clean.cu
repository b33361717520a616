// SPDX-License-Identifier: MIT
// The same barriers, with everybody they wait for.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

// twin: deadlock
__global__ void wait(int* out) {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}

// twin: deadlock
__global__ void ordered(int* out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = 1;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = 2;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
}

// twin: deadlock
__global__ void everywhere(int* values) {
    auto grid = cooperative_groups::this_grid();
    const int i = int(grid.thread_rank()), n = int(grid.size());
    values[i] = i;
    grid.sync();
    int other = values[n - 1 - i];
    grid.sync();
    values[i] = other;
}

int main() {
    int* out;
    cudaMalloc(&out, 256 * sizeof(int));
    wait<<<1, 96>>>(out);
    ordered<<<1, 64>>>(out);
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(everywhere), dim3(4), dim3(64), arguments, 0, nullptr);
    int first = 0;
    const cudaError_t error = cudaMemcpy(&first, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return error == cudaSuccess && first == 255 ? 0 : 1;
}
