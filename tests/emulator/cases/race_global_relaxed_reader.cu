// SPDX-License-Identifier: MIT
// Published with release, but read relaxed: nothing keeps the reader's later loads behind the flag.
// also: -G
#include <cuda/atomic>
#include <cuda_runtime.h>

template <class T>
using Word = cuda::atomic_ref<T, cuda::thread_scope_device>;

template <bool kAcquires>
__global__ void message(int* data, int* flag, int* out) {
    constexpr auto order = kAcquires ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    Word<int> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(order) == 0) {
        }
        out[threadIdx.x] = data[threadIdx.x];  // expect: race-global
    }
}

template <bool kAcquires>
__global__ void lock(int* word, int* total) {
    if (threadIdx.x != 0) return;
    constexpr auto order = kAcquires ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    Word<int> held(*word);
    while (held.exchange(1, order) != 0) {
    }
    *total = *total * 2 + 1;  // expect: race-global
    held.store(0, cuda::memory_order_release);
}

// The fence after the loop makes up for it; so does one behind the barrier.
// twin: race-global
__global__ void fenced(int* data, int* flag, int* out, bool early) {
    Word<int> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0) {
            while (ready.load(cuda::memory_order_relaxed) == 0) {
            }
            if (early) cuda::atomic_thread_fence(cuda::memory_order_acquire);
        }
        __syncthreads();
        if (!early) __threadfence();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

int main() {
    int* words;
    cudaMalloc(&words, 4096);
    cudaMemset(words, 0, 4096);
    // twin: race-global
    message<true><<<2, 64>>>(words, words + 64, words + 128);
    message<false><<<2, 64>>>(words, words + 65, words + 128);
    // twin: race-global
    lock<true><<<4, 32>>>(words + 66, words + 67);
    lock<false><<<4, 32>>>(words + 68, words + 69);
    fenced<<<2, 64>>>(words, words + 70, words + 128, true);
    fenced<<<2, 64>>>(words, words + 71, words + 128, false);
    cudaDeviceSynchronize();
    cudaFree(words);
}
