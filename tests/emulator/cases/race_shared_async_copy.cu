// SPDX-License-Identifier: MIT
// nvcc: -arch=compute_80
// Asynchronous copies to shared memory that are read too early, in four ways.
#include <cuda_pipeline.h>

// A barrier does not wait for copies.
__global__ void no_wait(const int* in, int* out) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    out[t] = tile[63 - t];  // expect: race-shared "while a `cp.async` may still be writing it"
    __pipeline_wait_prior(0);
}

// The wait is for the thread's own copies: others need a barrier behind it.
__global__ void no_barrier(const int* in, int* out) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[63 - t];  // expect: race-shared "while another thread may still be writing it"
}

// One stage too many stays under way: a thread reads what it has copied itself.
__global__ void wrong_stage(const int* in, int* out) {
    __shared__ int tile[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int stage = 0; stage < 2; ++stage) {
        __pipeline_memcpy_async(&tile[stage][t], &in[64 * stage + t], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    for (int stage = 0; stage < 2; ++stage)
        sum += tile[stage][t];  // expect: race-shared "`cp.async`"
    out[t] = sum;
    __pipeline_wait_prior(0);
}

// The wait must come before the barrier, whichever warp happens to run first.
__global__ void barrier_too_early(const int* in, int* out) {
    __shared__ int left[32], right[32];
    const int t = threadIdx.x, lane = t % 32;
    if (t < 32)
        __pipeline_memcpy_async(&left[lane], &in[lane], sizeof(int));
    else
        __pipeline_memcpy_async(&right[lane], &in[lane], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[t] = (t < 32 ? right : left)[lane];  // expect: race-shared
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 128 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 128 * sizeof(int));
    no_wait<<<1, 64>>>(in, out);
    no_barrier<<<1, 64>>>(in, out);
    wrong_stage<<<1, 64>>>(in, out);
    barrier_too_early<<<1, 64>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
