// SPDX-License-Identifier: MIT
// Double-buffered cp.async pipelines: with the intrinsics and with cuda::pipeline; twins that wait
// too little.
// nvcc: -arch=compute_80
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

// twin: race-shared
template <int kPrior>
__global__ void intrinsics(const float* in, float* out, int tiles) {
    __shared__ float buffer[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&buffer[(k + 1) % 2][t], &in[(k + 1) * 128 + t], sizeof(float));
        }
        __pipeline_commit();
        __pipeline_wait_prior(kPrior);
        __syncthreads();
        sum += buffer[k % 2][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void no_second_barrier(const float* in, float* out, int tiles) {
    __shared__ float buffer[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&buffer[(k + 1) % 2][t], &in[(k + 1) * 128 + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        // The copy of the next round meets it, too: one missing barrier, one finding.
        sum += buffer[k % 2][127 - t];  // expect: race-shared
    }
    out[t] = sum;
}

// twin: race-shared
__global__ void block_pipeline(const float* in, float* out, int tiles) {
    __shared__ float buffer[2][128];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    int ahead = 0;
    for (int k = 0; k < tiles; ++k) {
        for (; ahead < tiles && ahead < k + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(
                block, buffer[ahead % 2], in + ahead * 128, sizeof(float) * 128, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[k % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// twin: race-shared
__global__ void thread_pipeline(const float* in, float* out, int tiles) {
    __shared__ float buffer[2][128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0, ahead = 0; k < tiles; ++k) {
        for (; ahead < tiles && ahead < k + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[ahead % 2][t], in + ahead * 128 + t, sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[k % 2][t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

__global__ void block_no_wait(const float* in, float* out) {
    __shared__ float buffer[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, buffer, in, sizeof(float) * 128);
    block.sync();
    out[threadIdx.x] = buffer[threadIdx.x];  // expect: race-shared
}

// twin: race-shared
__global__ void block_wait(const float* in, float* out) {
    __shared__ float buffer[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, buffer, in, sizeof(float) * 128);
    cg::wait(block);
    out[threadIdx.x] = buffer[threadIdx.x];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 128 * 8 * sizeof(float));
    cudaMalloc(&out, 128 * sizeof(float));
    cudaMemset(in, 0, 128 * 8 * sizeof(float));
    block_pipeline<<<1, 128>>>(in, out, 8);
    thread_pipeline<<<1, 128>>>(in, out, 8);
    block_wait<<<1, 128>>>(in, out);
    block_no_wait<<<1, 128>>>(in, out);
    intrinsics<1><<<1, 128>>>(in, out, 8);
    no_second_barrier<<<1, 128>>>(in, out, 8);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
