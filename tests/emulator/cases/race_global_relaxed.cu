// SPDX-License-Identifier: MIT
// Relaxed polling: with fences it is right, without them the data may come later than the flag.
#include <cuda/atomic>
#include <cuda_runtime.h>

template <bool kFence>
__global__ void hand_over(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 3 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            if constexpr (kFence) __threadfence();
            ready.store(1, cuda::memory_order_relaxed);
        }
    } else {
        if (threadIdx.x == 0) {
            while (ready.load(cuda::memory_order_relaxed) == 0) {
            }
            if constexpr (kFence) __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];  // expect: race-global
    }
}

// twin: race-global
__global__ void hand_over_atomics(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 3 * threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0) __nanosleep(50);
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

// twin: race-global
__global__ void acquire_release(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 3 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (ready.load(cuda::memory_order_acquire) == 0) {
            }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

int main() {
    int* p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    hand_over_atomics<<<2, 64>>>(p, p + 100, p + 200);
    acquire_release<<<2, 64>>>(p, p + 101, p + 200);
    // twin: race-global
    hand_over<true><<<2, 64>>>(p, p + 102, p + 200);
    hand_over<false><<<2, 64>>>(p, p + 103, p + 200);
    cudaDeviceSynchronize();
    cudaFree(p);
}
