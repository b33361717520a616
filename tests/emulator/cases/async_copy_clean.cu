// SPDX-License-Identifier: MIT
// nvcc: -arch=compute_80 -diag-suppress 20054
// Pipelines of asynchronous copies and barrier objects, as the programming guide has them.
#include <utility>
#include <vector>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kThreads = 128, kTiles = 5, kStages = 2;

// A shared pipeline of two stages.
__global__ void staged(const float* in, float* out) {
    __shared__ alignas(16) float tile[kStages][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int t = 0, next = 0; t < kTiles; ++t) {
        for (; next < kTiles && next < t + kStages; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block,
                               tile[next % kStages],
                               in + next * kThreads,
                               cuda::aligned_size_t<16>(sizeof(float) * kThreads),
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tile[t % kStages][kThreads - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// The same by hand, with the primitives.
__global__ void primitives(const float* in, float* out) {
    __shared__ float tile[kStages][kThreads];
    const int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    for (int k = 0; k < kTiles; ++k) {
        if (k + 1 < kTiles)
            __pipeline_memcpy_async(
                &tile[(k + 1) % 2][t], &in[(k + 1) * kThreads + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k % 2][kThreads - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// A thread needs nobody to read what it has copied itself, once it has waited.
__global__ void by_itself(const float* in, float* out) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < kTiles; ++k) {
        __pipeline_memcpy_async(&tile[t], &in[(k + 1) * kThreads - 1 - t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        sum += tile[t];
    }
    out[t] = sum;
}

// Cooperative groups wait and synchronise in one.
__global__ void grouped(const float* in, float* out) {
    __shared__ alignas(16) float tile[kThreads];
    auto block = cg::this_thread_block();
    float sum = 0;
    for (int k = 0; k < kTiles; ++k) {
        cg::memcpy_async(block, tile, in + k * kThreads, sizeof(float) * kThreads);
        cg::wait(block);
        sum += tile[kThreads - 1 - threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}

// Copies that a barrier object keeps track of, and a barrier object instead of __syncthreads.
__global__ void with_barrier(const float* in, float* out) {
    __shared__ alignas(16) float tile[kThreads];
    __shared__ Barrier barrier;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, kThreads);
    block.sync();
    float sum = 0;
    for (int k = 0; k < kTiles; ++k) {
        cuda::memcpy_async(block,
                           tile,
                           in + k * kThreads,
                           cuda::aligned_size_t<16>(sizeof(float) * kThreads),
                           barrier);
        barrier.arrive_and_wait();
        sum += tile[kThreads - 1 - threadIdx.x];
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
    }
    out[threadIdx.x] = sum;
}

int main() {
    std::vector<float> host(kThreads * kTiles), results(kThreads);
    for (size_t i = 0; i < host.size(); ++i) host[i] = float(i * 37 % 101);
    float *in, *out;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&out, kThreads * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    int wrong = 0;
    for (auto* kernel : {staged, primitives, by_itself, grouped, with_barrier}) {
        cudaMemset(out, 0, kThreads * sizeof(float));
        kernel<<<1, kThreads>>>(in, out);
        if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
        cudaMemcpy(results.data(), out, kThreads * sizeof(float), cudaMemcpyDeviceToHost);
        for (int t = 0; t < kThreads; ++t) {
            float sum = 0;
            for (int k = 0; k < kTiles; ++k) sum += host[k * kThreads + kThreads - 1 - t];
            wrong += results[t] != sum;
        }
    }
    cudaFree(in);
    cudaFree(out);
    return wrong != 0;
}
