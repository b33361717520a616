// SPDX-License-Identifier: MIT
// Clean: threads that wait for threads of later warps and blocks, and store something in each
// round of the wait.
#include <cstdio>
#include <cuda/atomic>
#include <cuda_runtime.h>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// All wait for the last thread of the last block; in the meantime they count in memory.
__global__ void wait_for_last(int* done, int* rounds, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i == n - 1) {
        Flag(*done).store(1, cuda::memory_order_release);
        return;
    }
    int count = 0;
    while (Flag(*done).load(cuda::memory_order_acquire) == 0) rounds[i] = ++count & 7;
}

int main() {
    const int n = 1000;
    int *done, *rounds;
    cudaMalloc(&done, sizeof(int));
    cudaMalloc(&rounds, n * sizeof(int));
    cudaMemset(done, 0, sizeof(int));
    cudaMemset(rounds, 0, n * sizeof(int));
    // twin: hang
    wait_for_last<<<4, 256>>>(done, rounds, n);
    const bool right = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(done);
    cudaFree(rounds);
    std::puts(right ? "ok" : "wrong");
    return right ? 0 : 1;
}
