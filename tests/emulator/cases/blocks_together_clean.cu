// SPDX-License-Identifier: MIT
// Clean: decoupled look-back, locks per block and per warp, tickets, dynamic work queue.
#include <cstdio>
#include <cuda_runtime.h>

struct Tile {
    int state;  // 0 nothing, 1 sum of the tile, 2 prefix
    int sum, prefix;
};

// twin: race-global
__global__ void scan(const int* in, int* out, volatile int* state, volatile int* sums,
                     volatile int* prefixes, unsigned* next, int n) {
    __shared__ int tile[128];
    __shared__ int before, at;
    if (threadIdx.x == 0) at = atomicAdd(next, 1);
    __syncthreads();
    int i = at * 128 + threadIdx.x;
    int v = i < n ? in[i] : 0;
    tile[threadIdx.x] = v;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int left = threadIdx.x >= d ? tile[threadIdx.x - d] : 0;
        __syncthreads();
        tile[threadIdx.x] += left;
        __syncthreads();
    }
    if (threadIdx.x == 127) {
        int mine = tile[127];
        if (at == 0) {
            prefixes[0] = mine;
            __threadfence();
            state[0] = 2;
            before = 0;
        } else {
            sums[at] = mine;
            __threadfence();
            state[at] = 1;
            int total = 0;
            for (int b = at - 1;; --b) {
                int s;
                while ((s = state[b]) == 0) {
                }
                __threadfence();
                if (s == 2) {
                    total += prefixes[b];
                    break;
                }
                total += sums[b];
            }
            before = total;
            prefixes[at] = total + mine;
            __threadfence();
            state[at] = 2;
        }
    }
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x] + before;
}

__device__ void lock(int* mutex) {
    while (atomicCAS(mutex, 0, 1) != 0) __nanosleep(20);
    __threadfence();
}
__device__ void unlock(int* mutex) {
    __threadfence();
    atomicExch(mutex, 0);
}

// twin: race-global
__global__ void sum_with_lock_per_block(const int* in, int* total, int* mutex) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        lock(mutex);
        *total += s;
        unlock(mutex);
    }
}

// twin: race-global
__global__ void sum_with_lock_per_warp(const int* in, int* total, int* mutex) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) {
        bool done = false;
        while (!done) {
            if (atomicCAS(mutex, 0, 1) == 0) {
                __threadfence();
                int old = *(volatile int*)total;
                *(volatile int*)total = old + v;
                __threadfence();
                atomicExch(mutex, 0);
                done = true;
            }
        }
    }
}

// twin: race-global
__global__ void insert_sorted(int* list, int* size, int* mutex) {
    // every thread takes the lock
    for (bool done = false; !done;) {
        if (atomicExch(mutex, 1) == 0) {
            __threadfence();
            int n = *size;
            list[n] = threadIdx.x;
            *size = n + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}

// twin: race-global
__global__ void queue(int* items, int* head, int* tail, int* done, int limit) {
    // Items v produce 2v and 2v+1 while below the limit.
    while (true) {
        if (atomicAdd(done, 0) >= limit - 1) break;
        int at = atomicAdd(head, 1);
        if (at >= limit - 1) break;
        int v;
        while ((v = atomicAdd(&items[at], 0)) == 0) __nanosleep(10);
        for (int k = 0; k < 2; ++k) {
            int child = 2 * v + k;
            if (child < limit) {
                int to = atomicAdd(tail, 1);
                atomicExch(&items[to], child);
            }
        }
        atomicAdd(done, 1);
    }
}

__device__ unsigned int arrived = 0;
// twin: race-global
__global__ void block_sums(const int* in, int* partial, int* total, int n) {
    __shared__ int warp_sums[8];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) sum += warp_sums[w];
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        int v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
        if (threadIdx.x == 0) {
            *total = v;
            arrived = 0;
        }
    }
}

int main() {
    const int n = 1024;
    int host[n], *in, *out, *work;
    for (int i = 0; i < n; ++i) host[i] = i % 7;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&work, 4096 * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(work, 0, 4096 * sizeof(int));
    unsigned* next = reinterpret_cast<unsigned*>(work + 4000);
    scan<<<8, 128>>>(in, out, work, work + 100, work + 200, next, n);
    sum_with_lock_per_block<<<8, 128>>>(in, work + 300, work + 301);
    sum_with_lock_per_warp<<<8, 128>>>(in, work + 302, work + 303);
    insert_sorted<<<2, 64>>>(work + 400, work + 399, work + 398);
    int one = 1;
    cudaMemcpy(work + 1000, &one, sizeof one, cudaMemcpyHostToDevice);
    cudaMemcpy(work + 3001, &one, sizeof one, cudaMemcpyHostToDevice);
    queue<<<2, 32>>>(work + 1000, work + 3000, work + 3001, work + 3002, 200);
    block_sums<<<20, 256>>>(in, work + 3100, work + 3150, n);
    int got[4096], last;
    cudaMemcpy(got, work, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(&last, out + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    int want = 0;
    for (int v : host) want += v;
    bool right = last == want && got[300] == want && got[302] == want && got[399] == 128 &&
                 got[3150] == want;
    std::printf("%d %d %d %d %d %d\n", want, last, got[300], got[302], got[399], got[3150]);
    cudaFree(in);
    cudaFree(out);
    cudaFree(work);
    return right ? 0 : 1;
}
