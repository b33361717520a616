// SPDX-License-Identifier: MIT
// cuda::barrier between producers and consumers of one block: right, with one arrival missing, and
// with none.
// nvcc: -arch=compute_80
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// twin: race-shared
__global__ void produce_consume(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][64];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        init(&full[t], blockDim.x);
        init(&empty[t], blockDim.x);
    }
    __syncthreads();
    bool producer = t < 64;
    int lane = t % 64;
    if (producer) {
        for (int r = 0; r < rounds; ++r) {
            empty[r % 2].arrive_and_wait();
            buffer[r % 2][lane] = in[r * 64 + lane];
            (void)full[r % 2].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int r = 0; r < rounds; ++r) {
            full[r % 2].arrive_and_wait();
            out[r * 64 + lane] = buffer[r % 2][63 - lane];
            (void)empty[r % 2].arrive();
        }
    }
}

__global__ void no_wait(const int* in, int* out) {
    __shared__ int buffer[64];
    __shared__ Barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    buffer[threadIdx.x] = in[threadIdx.x];
    auto token = bar.arrive();
    out[threadIdx.x] = buffer[63 - threadIdx.x];  // expect: race-shared
    bar.wait(std::move(token));
}

// twin: race-shared, hang
__global__ void split(const int* in, int* out) {
    __shared__ int buffer[64];
    __shared__ Barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    buffer[threadIdx.x] = in[threadIdx.x];
    auto token = bar.arrive();
    int mine = 3 * in[threadIdx.x];
    bar.wait(std::move(token));
    out[threadIdx.x] = mine + buffer[63 - threadIdx.x];
}

__global__ void wrong_count(const int* in, int* out) {
    __shared__ int buffer[64];
    __shared__ Barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
    __syncthreads();
    buffer[threadIdx.x] = in[threadIdx.x];
    bar.arrive_and_wait();  // expect: hang
    out[threadIdx.x] = buffer[63 - threadIdx.x];
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMemset(in, 0, 512 * sizeof(int));
    produce_consume<<<1, 128>>>(in, out, 8);
    split<<<1, 64>>>(in, out);
    no_wait<<<1, 64>>>(in, out);
    wrong_count<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
