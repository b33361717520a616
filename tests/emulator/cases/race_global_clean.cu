// SPDX-License-Identifier: MIT
// Ways in which blocks rightly work together: tickets, locks, flags, look-back, grid-wide sync.
// nvcc: -rdc=true
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ unsigned int tickets = 0;

// As the threadFenceReduction sample has it: plain stores, a fence, a ticket, the last block reads.
__global__ void last_block_sums(const float* in, volatile float* partial, float* out) {
    __shared__ float tile[64];
    __shared__ bool last;
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        *out = sum;
        tickets = 0;
    }
}

// Everybody stores and fences; thread 0 takes the ticket after the barrier; plain reads.
__global__ void last_block_reads(int* all, int* out, unsigned int* ticket) {
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[i] = i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (int k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) sum += all[k];
    atomicAdd(out, sum);
    if (threadIdx.x == 0) *ticket = 0;
}

__global__ void locked_by_blocks(int* lock, int* total, int* log) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        int n = *total;
        log[n] = blockIdx.x;
        *total = n + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// twin: race-global
__global__ void locked_by_lanes(int* lock, int* total) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *total += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Blocks in a ring hand a value on.
__global__ void chain(int* value, volatile int* flags) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b > 0) {
            while (flags[b - 1] == 0) {
            }
            __threadfence();
        }
        value[b] = b == 0 ? 1 : value[b - 1] + 1;
        __threadfence();
        flags[b] = 1;
    }
}

struct alignas(8) Status {
    int flag, value;
};

// Single pass, decoupled look-back: flag and value travel in one 64-bit word.
__global__ void scan_packed(const int* in, int* out, unsigned long long* status) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, value = in[b * 32 + t];
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xffffffff, value, step);
        if (t >= step) value += left;
    }
    if (t == 31) {
        volatile unsigned long long* mine = status + b;
        *mine = (b == 0 ? 2ull : 1ull) << 32 | unsigned(value);
        int sum = 0;
        for (int k = b - 1; k >= 0; --k) {
            unsigned long long word;
            do {
                word = *(volatile unsigned long long*)(status + k);
            } while (word >> 32 == 0);
            sum += int(word);
            if (word >> 32 == 2) break;
        }
        if (b > 0) *mine = 2ull << 32 | unsigned(sum + value);
        before = sum;
    }
    __syncwarp();
    out[b * 32 + t] = before + value;
}

// The same with the flag and the value apart, and fences.
__global__ void scan_fenced(const int* in, int* out, int* sums, int* flags) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, value = in[b * 32 + t];
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xffffffff, value, step);
        if (t >= step) value += left;
    }
    if (t == 31) {
        int sum = 0;
        if (b > 0) {
            int flag;
            do {
                asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
                             : "=r"(flag)
                             : "l"(flags + b - 1)
                             : "memory");
            } while (flag == 0);
            __threadfence();
            sum = sums[b - 1];
        }
        sums[b] = sum + value;
        __threadfence();
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(flags + b), "r"(1) : "memory");
        before = sum;
    }
    __syncwarp();
    out[b * 32 + t] = before + value;
}

// twin: race-global
__global__ void jacobi(float* a, float* b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < steps; ++k) {
        b[i] = 0.5f * (a[(i + n - 1) % n] + a[(i + 1) % n]);
        grid.sync();
        float* other = a;
        a = b;
        b = other;
    }
}

// twin: race-global
__global__ void histogram(const int* in, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] & 15], 1);
}

__global__ void raise_flag(const int* in, int* found) {
    if (in[threadIdx.x] == 0) *found = 1;
}

int main() {
    const int blocks = 24, n = blocks * 64;
    int *words, *in, *out, *sums, *flags;
    unsigned long long* status;
    float *a, *b;
    cudaMalloc(&words, 16 * sizeof(int));
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&sums, n * sizeof(int));
    cudaMalloc(&flags, n * sizeof(int));
    cudaMalloc(&status, n * sizeof(unsigned long long));
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(words, 0, 16 * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    cudaMemset(flags, 0, n * sizeof(int));
    cudaMemset(status, 0, n * sizeof(unsigned long long));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(b, 0, n * sizeof(float));
    for (int k = 0; k < 2; ++k) {
        last_block_sums<<<blocks, 64>>>(a, b, b + 100);
        last_block_reads<<<blocks, 64>>>(out, words + 5, (unsigned int*)words + 6);
    }
    locked_by_blocks<<<blocks, 32>>>(words, words + 1, out);
    locked_by_lanes<<<2, 64>>>(words, words + 2);
    chain<<<blocks, 32>>>(sums, flags);
    cudaMemset(flags, 0, n * sizeof(int));
    scan_packed<<<blocks, 32>>>(in, out, status);
    scan_fenced<<<blocks, 32>>>(in, out, sums, flags);
    int count = n, steps = 5;
    void* arguments[] = {&a, &b, &count, &steps};
    cudaError_t error = cudaLaunchCooperativeKernel((void*)jacobi, blocks, 64, arguments, 0, 0);
    histogram<<<blocks, 64>>>(in, words, n);
    raise_flag<<<4, 64>>>(in, words + 3);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    int total[2];
    cudaMemcpy(total, words + 1, sizeof total, cudaMemcpyDeviceToHost);
    cudaFree(words);
    cudaFree(in);
    cudaFree(out);
    cudaFree(sums);
    cudaFree(flags);
    cudaFree(status);
    cudaFree(a);
    cudaFree(b);
    return total[0] == blocks && total[1] == 128 ? 0 : 2;
}
