// SPDX-License-Identifier: MIT
// A barrier object orders what came before its phase. Who overwrites at once what slower threads
// still read, and only then arrives again, is too early.
// nvcc: -arch=compute_80 -diag-suppress 20054
// also: -G -arch=compute_80 -diag-suppress 20054
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

template <bool kWaits>
__global__ void turn(const int* in, int* out) {
    __shared__ Barrier barrier;
    __shared__ int values[64];
    const int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    values[t] = in[t];
    barrier.arrive_and_wait();
    const int other = values[63 - t];
    if (kWaits) barrier.arrive_and_wait();
    values[t] = other;  // expect: race-shared
    barrier.arrive_and_wait();
    out[t] = values[t];
}

// Two halves of a tile, filled by one warp and read by the other, a phase after another.
// twin: race-shared
__global__ void ahead(const int* in, int* out, int tiles) {
    __shared__ Barrier full[2], empty[2];
    __shared__ int tile[2][32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int k = 0; k < 2; ++k) {
            init(&full[k], 64);
            init(&empty[k], 64);
        }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int t = 0; t < tiles; ++t) {
            empty[t % 2].arrive_and_wait();
            tile[t % 2][lane] = in[t * 32 + lane];
            (void)full[t % 2].arrive();
        }
    } else {
        int sum = 0;
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int t = 0; t < tiles; ++t) {
            full[t % 2].arrive_and_wait();
            sum += tile[t % 2][31 - lane];
            (void)empty[t % 2].arrive();
        }
        out[lane] = sum;
    }
}

int main() {
    int* words;
    cudaMalloc(&words, 4096);
    cudaMemset(words, 0, 4096);
    turn<false><<<1, 64>>>(words, words + 512);
    // twin: race-shared
    turn<true><<<1, 64>>>(words, words + 512);
    ahead<<<1, 64>>>(words, words + 512, 6);
    cudaDeviceSynchronize();
    cudaFree(words);
}
