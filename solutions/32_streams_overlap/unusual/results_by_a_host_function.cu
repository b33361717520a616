// Unusual: The device itself fills `out`: a host function in the stage's stream copies the results
// on, so that the host only waits before it fills a buffer.
// SPDX-License-Identifier: MIT
// Lesson 32, streams: chunks of data that are copied while others are computed.
// Start with README.md in this directory; `make 32` checks this file.
#include "streams_overlap.h"

#include <algorithm>
#include <cstring>
#include <vector>

static constexpr float kBend = 0.25f;

__global__ void bend_back(float* data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float y = data[i];
        const float x = y;
        for (int step = 0; step < 30; ++step) y = fmaf(-kBend * y * y, y, x);
        data[i] = y;
    }
}

void launch_linearize(float* d_data, int n, cudaStream_t stream) {
    bend_back<<<8, 256, 0, stream>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

namespace {

struct Copy {
    const float* from;
    float* to;
    size_t bytes;
};

void copy_on(void* copy) {
    const Copy& c = *static_cast<const Copy*>(copy);
    std::memcpy(c.to, c.from, c.bytes);
}

// All chunks of one call, from the last to the first: the order does not matter.
template <class Queue>
void for_chunks(int n, int chunk, const Queue& queue) {
    const int chunks = (n + chunk - 1) / chunk;
    for (int k = chunks - 1; k >= 0; --k) queue(k, k * chunk, std::min(chunk, n - k * chunk));
}

}  // namespace

void linearize_chunks(const float* in, float* out, float* d_data, int n, int chunk,
                      const cudaStream_t* streams, int stream_count) {
    for_chunks(n, chunk, [&](int k, int first, int size) {
        const cudaStream_t stream = streams[k % stream_count];
        const size_t bytes = sizeof(float) * size;
        CUDA_CHECK(
            cudaMemcpyAsync(d_data + first, in + first, bytes, cudaMemcpyHostToDevice, stream));
        launch_linearize(d_data + first, size, stream);
        CUDA_CHECK(
            cudaMemcpyAsync(out + first, d_data + first, bytes, cudaMemcpyDeviceToHost, stream));
    });
    for (int s = 0; s < stream_count; ++s) CUDA_CHECK(cudaStreamSynchronize(streams[s]));
}

void linearize_serial(const float* in, float* out, float* d_data, int n, cudaStream_t stream) {
    linearize_chunks(in, out, d_data, n, n > 0 ? n : 1, &stream, 1);
}

double pipeline_time(double up, double kernel, double down, int chunks) {
    double engines[3] = {0, 0, 0};  // when each is free
    const double steps[3] = {up / chunks, kernel / chunks, down / chunks};
    for (int k = 0; k < chunks; ++k) {
        double ready = 0;
        for (int e = 0; e < 3; ++e) ready = engines[e] = std::max(engines[e], ready) + steps[e];
    }
    return engines[2];
}

void make_stages(Stage* stages, int count, int chunk) {
    const size_t bytes = sizeof(float) * chunk;
    for (Stage* s = stages; s != stages + count; ++s) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaHostAlloc(&s->in, bytes, cudaHostAllocDefault));
        CUDA_CHECK(cudaHostAlloc(&s->out, bytes, cudaHostAllocDefault));
        CUDA_CHECK(cudaMalloc(&s->d_data, bytes));
        CUDA_CHECK(cudaEventCreate(&s->done));
    }
}

void free_stages(Stage* stages, int count) {
    for (Stage* s = stages; s != stages + count; ++s) {
        if (!s->stream) continue;
        CUDA_CHECK(cudaEventDestroy(s->done));
        CUDA_CHECK(cudaFree(s->d_data));
        CUDA_CHECK(cudaFreeHost(s->out));
        CUDA_CHECK(cudaFreeHost(s->in));
        CUDA_CHECK(cudaStreamDestroy(s->stream));
    }
}

void linearize_staged(const float* in, float* out, int n, int chunk, const Stage* stages,
                      int count) {
    std::vector<Copy> copies((n + chunk - 1) / chunk);
    std::vector<bool> used(count, false);
    for_chunks(n, chunk, [&](int k, int first, int size) {
        const Stage& stage = stages[k % count];
        if (used[k % count]) CUDA_CHECK(cudaEventSynchronize(stage.done));
        used[k % count] = true;
        const size_t bytes = sizeof(float) * size;
        std::memcpy(stage.in, in + first, bytes);
        CUDA_CHECK(
            cudaMemcpyAsync(stage.d_data, stage.in, bytes, cudaMemcpyHostToDevice, stage.stream));
        launch_linearize(stage.d_data, size, stage.stream);
        CUDA_CHECK(
            cudaMemcpyAsync(stage.out, stage.d_data, bytes, cudaMemcpyDeviceToHost, stage.stream));
        copies[k] = {stage.out, out + first, bytes};
        CUDA_CHECK(cudaLaunchHostFunc(stage.stream, copy_on, &copies[k]));
        CUDA_CHECK(cudaEventRecord(stage.done, stage.stream));
    });
    for (int s = 0; s < count; ++s)
        if (used[s]) CUDA_CHECK(cudaEventSynchronize(stages[s].done));
}
