// SPDX-License-Identifier: MIT

// libcu++: atomics with every order, a semaphore as a lock, a latch, a barrier.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

__device__ cuda::atomic<int, cuda::thread_scope_device> counter{0};
__device__ cuda::atomic<int, cuda::thread_scope_device> flag{0};
__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock{1};
__device__ int message, guarded;

__global__ void counts() {
    counter.fetch_add(1, cuda::memory_order_relaxed);
    counter.fetch_max(3, cuda::memory_order_acq_rel);
}

// Block 0 tells block 1.
__global__ void passes_on(int* out) {
    if (blockIdx.x == 0) {
        message = 42;
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
        *out = message;
    }
}

__global__ void one_at_a_time() {
    lock.acquire();
    guarded += 1;
    lock.release();
}

__global__ void latched(int* out) {
    __shared__ cuda::latch<cuda::thread_scope_block>* latch;
    __shared__ alignas(cuda::latch<cuda::thread_scope_block>) char storage[64];
    __shared__ int values[64];
    if (threadIdx.x == 0) latch = new (storage) cuda::latch<cuda::thread_scope_block>(64);
    __syncthreads();
    values[threadIdx.x] = threadIdx.x;
    latch->arrive_and_wait();
    out[threadIdx.x] = values[63 - threadIdx.x];
}

int main() {
    int* out;
    int value = 0, lines[64], total = 0, held = 0;
    cudaMalloc(&out, sizeof lines);
    counts<<<4, 64>>>();
    passes_on<<<2, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    one_at_a_time<<<3, 1>>>();
    cudaMemcpyFromSymbol(&held, guarded, sizeof held);
    cudaMemcpyFromSymbol(&total, counter, sizeof total);
    latched<<<1, 64>>>(out);
    cudaMemcpy(lines, out, sizeof lines, cudaMemcpyDeviceToHost);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(out);
    bool right = error == cudaSuccess && value == 42 && held == 3 && total >= 256;
    for (int i = 0; i < 64; ++i) right = right && lines[i] == 63 - i;
    return right ? 0 : 1;
}
