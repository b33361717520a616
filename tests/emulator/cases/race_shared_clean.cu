// SPDX-License-Identifier: MIT
// What orders accesses to shared memory: barriers, named barriers, warp syncs, shuffles, locks.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// twin: race-shared
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][33];
    for (int k = 0; k < 2; ++k) {
        for (int row = threadIdx.y; row < 32; row += blockDim.y)
            tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
        __syncthreads();
        for (int row = threadIdx.y; row < 32; row += blockDim.y)
            out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
        __syncthreads();
    }
}

__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// twin: race-shared
__global__ void warps(const int* in, int* out) {
    __shared__ int tile[128];
    int t = threadIdx.x, lane = t % 32, first = t - lane;
    tile[t] = in[t];
    __syncwarp();
    int sum = tile[first + (lane + 1) % 32];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    tile[t] = sum;  // the shuffle stood between
    cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(cg::this_thread_block());
    tile8.sync();
    int neighbour = tile[(t & ~7) + (t + 3) % 8];
    tile8.sync();
    tile[t] = neighbour;
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        int last = tile[first + 15];
        __syncwarp(0x0000ffff);
        tile[t] += last;
    }
    out[t] = tile[t];
}

// Warp 0 fills, warps 1 and 2 empty, four rounds.
__global__ void producer_consumer(const int* in, int* out) {
    __shared__ int slot[64];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int round = 0; round < 4; ++round) {
        if (warp == 0) {
            if (round > 0) asm volatile("bar.sync 2, 96;" ::: "memory");
            slot[lane] = in[round * 64 + lane];
            slot[lane + 32] = in[round * 64 + lane + 32];
            asm volatile("bar.arrive 1, 96;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            out[round * 64 + (warp - 1) * 32 + lane] = slot[(warp - 1) * 32 + (lane ^ 1)];
            if (round < 3) asm volatile("bar.arrive 2, 96;" ::: "memory");
        }
    }
}

// twin: race-shared
__global__ void locked(int* out) {
    __shared__ int lock, total;
    if (threadIdx.x == 0) lock = total = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            total += threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

// Bytes and shorts of neighbouring threads lie in one word.
__global__ void bytes(unsigned char* out) {
    __shared__ unsigned char text[130];
    __shared__ short numbers[64];
    int t = threadIdx.x;
    text[t] = (unsigned char)t;
    text[t + 64] = (unsigned char)t;
    numbers[t] = short(t);
    text[t] += 1;
    numbers[t] += 1;
    if (t % 3 == 0) text[t + 64] = (unsigned char)numbers[t];
    __syncthreads();
    out[t] = text[63 - t] + (unsigned char)numbers[63 - t];
}

int main() {
    float *a, *b, *c;
    int *in, *out;
    unsigned char* text;
    cudaMalloc(&a, 1024 * sizeof(float));
    cudaMalloc(&b, 1024 * sizeof(float));
    cudaMalloc(&c, 1024 * sizeof(float));
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMalloc(&text, 64);
    cudaMemset(a, 0, 1024 * sizeof(float));
    cudaMemset(b, 0, 1024 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(int));
    transpose<<<1, dim3(32, 8)>>>(a, c);
    matrix_product<<<dim3(2, 2), dim3(16, 16)>>>(a, b, c, 32);
    warps<<<1, 128>>>(in, out);
    producer_consumer<<<1, 96>>>(in, out);
    locked<<<1, 96>>>(out);
    bytes<<<1, 64>>>(text);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(in);
    cudaFree(out);
    cudaFree(text);
}
