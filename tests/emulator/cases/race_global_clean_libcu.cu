// SPDX-License-Identifier: MIT
// libcu++: atomics of several scopes and orders, a barrier object, a ticket lock.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_runtime.h>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void hand_over(int* data, cuda::atomic<int, cuda::thread_scope_device>* flag, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) flag->store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0) {
            while (flag->load(cuda::memory_order_acquire) == 0) {
            }
        }
        __syncthreads();
        out[(blockIdx.x - 1) * blockDim.x + threadIdx.x] = data[63 - threadIdx.x];
    }
}

__global__ void within_block(int* data, int* out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    if (threadIdx.x == 0) ready.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x + 1;
        __syncwarp();
        if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[threadIdx.x - 32] = data[threadIdx.x - 32];
    }
}

__global__ void barrier_object(int* out) {
    __shared__ block_barrier barrier;
    __shared__ int tile[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int t = threadIdx.x;
    for (int round = 0; round < 3; ++round) {
        tile[t] = round + t;
        barrier.arrive_and_wait();
        out[t] = tile[(t + 40) % 64];
        barrier.arrive_and_wait();
    }
}

__global__ void ticket_lock(cuda::atomic<unsigned, cuda::thread_scope_device>* lock, int* total) {
    if (threadIdx.x != 0) return;
    unsigned mine = lock[0].fetch_add(1, cuda::memory_order_relaxed);
    while (lock[1].load(cuda::memory_order_acquire) != mine) {
    }
    *total += 1;
    lock[1].store(mine + 1, cuda::memory_order_release);
}

__global__ void counted(cuda::atomic<int, cuda::thread_scope_device>* count, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i;
    if (count->fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x * blockDim.x - 1) {
        int sum = 0;
        for (int k = 0; k < gridDim.x * blockDim.x; ++k) sum += data[k];
        *out = sum;
    }
}

int main() {
    int* words;
    cudaMalloc(&words, 1024 * sizeof(int));
    cudaMemset(words, 0, 1024 * sizeof(int));
    using Atomic = cuda::atomic<int, cuda::thread_scope_device>;
    using Unsigned = cuda::atomic<unsigned, cuda::thread_scope_device>;
    hand_over<<<3, 64>>>(words, (Atomic*)(words + 512), words + 64);
    within_block<<<1, 64>>>(words, words + 64);
    barrier_object<<<1, 64>>>(words);
    ticket_lock<<<6, 32>>>((Unsigned*)(words + 520), words + 530);
    counted<<<3, 64>>>((Atomic*)(words + 540), words, words + 541);
    cudaError_t error = cudaDeviceSynchronize();
    int total = 0, sum = 0;
    cudaMemcpy(&total, words + 530, sizeof total, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, words + 541, sizeof sum, cudaMemcpyDeviceToHost);
    cudaFree(words);
    if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
    return error == cudaSuccess && total == 6 && sum == 192 * 191 / 2 ? 0 : 1;
}
