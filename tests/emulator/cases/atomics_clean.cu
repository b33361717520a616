// SPDX-License-Identifier: MIT
// Atomics of every scope and type, locks, semaphores and a latch.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

__global__ void refs(int* counts, unsigned* flag, int* data, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> c(counts[0]);
    c.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_block>(counts[1 + blockIdx.x]).fetch_add(2);
    cuda::atomic_ref<int, cuda::thread_scope_system>(counts[8]).fetch_max(
        int(blockIdx.x * blockDim.x + threadIdx.x));
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 99;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*flag).store(
            1, cuda::memory_order_release);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> f(*flag);
        while (f.load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;
    }
}
__global__ void locks(int* lock, int* value, cuda::binary_semaphore<cuda::thread_scope_device>* sem,
                      int* sv) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        int v = *(volatile int*)value;
        *(volatile int*)value = v + 1;
        __threadfence();
        atomicExch(lock, 0);
        sem->acquire();
        *sv += 1;
        sem->release();
    }
}
__device__ double add(double* p, double v) {
    unsigned long long* q = (unsigned long long*)p;
    unsigned long long o = *q, a;
    do {
        a = o;
        o = atomicCAS(q, a, __double_as_longlong(v + __longlong_as_double(a)));
    } while (a != o);
    return __longlong_as_double(o);
}
__global__ void misc(double* d, __half2* h, unsigned* u, unsigned long long* l, float* f) {
    add(d, 0.5);
    atomicAdd(d + 1, 0.25);
    atomicAdd(h, __floats2half2_rn(1, 2));
    atomicInc(u, 9);
    atomicDec(u + 1, 9);
    atomicOr(u + 2, 1u << (threadIdx.x % 32));
    atomicMin(u + 3, threadIdx.x + 5);
    atomicXor(u + 4, 1);
    atomicMax(l, (unsigned long long)threadIdx.x << 33);
    atomicAdd(f, 1.0f);
    atomicAdd_block(u + 5 + blockIdx.x, 1);
    atomicAdd_system(u + 7, 1);
}
__global__ void make(cuda::binary_semaphore<cuda::thread_scope_device>* s) {
    new (s) cuda::binary_semaphore<cuda::thread_scope_device>(1);
}
__global__ void latch(int* out) {
    __shared__ cuda::latch<cuda::thread_scope_block>* l;
    __shared__ alignas(16) char room[64];
    __shared__ int t[64];
    if (threadIdx.x == 0) l = new (room) cuda::latch<cuda::thread_scope_block>(64);
    __syncthreads();
    t[threadIdx.x] = threadIdx.x;
    l->arrive_and_wait();
    out[threadIdx.x] = t[63 - threadIdx.x];
}
int main() {
    int* c;
    CHECK(cudaMalloc(&c, 1024));
    CHECK(cudaMemset(c, 0, 1024));
    refs<<<4, 64>>>(c, (unsigned*)c + 20, c + 21, c + 22);
    int h[64];
    CHECK(cudaMemcpy(h, c, 256, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 256 && h[1] == 128 && h[8] == 255 && h[22] == 99);
    CHECK(cudaMemset(c, 0, 1024));
    void* s;
    CHECK(cudaMalloc(&s, 64));
    make<<<1, 1>>>((cuda::binary_semaphore<cuda::thread_scope_device>*)s);
    locks<<<8, 32>>>(c, c + 1, (cuda::binary_semaphore<cuda::thread_scope_device>*)s, c + 2);
    CHECK(cudaMemcpy(h, c, 16, cudaMemcpyDeviceToHost));
    EXPECT(h[1] == 8 && h[2] == 8);
    CHECK(cudaMemset(c, 0, 1024));
    CHECK(cudaMemset(c + 35, 255, 4));
    misc<<<2, 64>>>((double*)c,
                    (__half2*)(c + 8),
                    (unsigned*)c + 32,
                    (unsigned long long*)(c + 16),
                    (float*)(c + 20));
    CHECK(cudaMemcpy(h, c, 256, cudaMemcpyDeviceToHost));
    EXPECT(*(double*)h == 64 && *(double*)(h + 2) == 32 && *(float*)(h + 20) == 128 &&
           h[32] == 128 % 10 && h[34] == -1 && h[35] == 5 && h[36] == 0 && h[37] == 64 &&
           h[39] == 128);
    latch<<<1, 64>>>(c);
    CHECK(cudaMemcpy(h, c, 256, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 63);
    CHECK(cudaFree(s));
    CHECK(cudaFree(c));
    std::puts("ok");
}
