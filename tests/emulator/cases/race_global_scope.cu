// SPDX-License-Identifier: MIT
// Atomics of block scope on a counter of the whole grid.
#include <cuda/atomic>
#include <cuda_runtime.h>

__global__ void count(int* counter) {
    atomicAdd_block(counter, 1);  // expect: race-global "only with block scope"
}

__global__ void publish(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_block> narrow(*flag);
    cuda::atomic_ref<int, cuda::thread_scope_device> wide(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        narrow.store(1, cuda::memory_order_release);
    } else {
        while (wide.load(cuda::memory_order_acquire) == 0) {  // expect: race-global
        }
        *out = *data;  // expect: race-global
    }
}

int main() {
    int* words;
    cudaMalloc(&words, 4 * sizeof(int));
    cudaMemset(words, 0, 4 * sizeof(int));
    count<<<3, 32>>>(words);
    publish<<<2, 1>>>(words + 1, words + 2, words + 3);
    cudaDeviceSynchronize();
    cudaFree(words);
}
