// Unusual: The two buffers of a stage are one allocation, device memory comes from a pool, and the
// host asks the event until it says that the stage is free.
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

void linearize_chunks(const float* in, float* out, float* d_data, int n, int chunk,
                      const cudaStream_t* streams, int stream_count) {
    int k = 0;
    for (int first = 0; first < n; ++k) {
        const int size = std::min(n - first, chunk);
        const cudaStream_t stream = streams[k % stream_count];
        const size_t bytes = sizeof(float) * size;
        CUDA_CHECK(cudaMemcpyAsync(d_data + first, in + first, bytes, cudaMemcpyDefault, stream));
        launch_linearize(d_data + first, size, stream);
        CUDA_CHECK(cudaMemcpyAsync(out + first, d_data + first, bytes, cudaMemcpyDefault, stream));
        first += size;
    }
    for (int s = 0; s < std::min(k, stream_count); ++s)
        while (cudaStreamQuery(streams[s]) == cudaErrorNotReady) continue;
    CUDA_CHECK(cudaGetLastError());
}

void linearize_serial(const float* in, float* out, float* d_data, int n, cudaStream_t stream) {
    linearize_chunks(in, out, d_data, n, n > 0 ? n : 1, &stream, 1);
}

double pipeline_time(double up, double kernel, double down, int chunks) {
    const double slowest = std::max(up, std::max(kernel, down));
    return slowest + (up + kernel + down - slowest) / chunks;
}

void make_stages(Stage* stages, int count, int chunk) {
    for (int s = 0; s < count; ++s) {
        Stage made{};
        CUDA_CHECK(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaMallocHost(&made.in, 2 * sizeof(float) * chunk));
        made.out = made.in + chunk;
        CUDA_CHECK(cudaMallocAsync(&made.d_data, sizeof(float) * chunk, made.stream));
        CUDA_CHECK(cudaEventCreateWithFlags(&made.done, cudaEventBlockingSync));
        CUDA_CHECK(cudaStreamSynchronize(made.stream));
        stages[s] = made;
    }
}

void free_stages(Stage* stages, int count) {
    for (int s = 0; s < count; ++s) {
        Stage& old = stages[s];
        if (!old.stream) continue;
        CUDA_CHECK(cudaFreeAsync(old.d_data, old.stream));
        CUDA_CHECK(cudaStreamSynchronize(old.stream));
        CUDA_CHECK(cudaFreeHost(old.in));
        CUDA_CHECK(cudaEventDestroy(old.done));
        CUDA_CHECK(cudaStreamDestroy(old.stream));
        old = {};
    }
}

// The chunks on their way are those from `oldest` on; a chunk is taken out when its stage is
// needed.
void linearize_staged(const float* in, float* out, int n, int chunk, const Stage* stages,
                      int count) {
    int oldest = 0, next = 0;
    while (oldest < n) {
        if (next < n && next / chunk - oldest / chunk < count) {
            const Stage& stage = stages[next / chunk % count];
            const int size = std::min(chunk, n - next);
            const size_t bytes = sizeof(float) * size;
            std::copy(in + next, in + next + size, stage.in);
            CUDA_CHECK(cudaMemcpyAsync(
                stage.d_data, stage.in, bytes, cudaMemcpyHostToDevice, stage.stream));
            launch_linearize(stage.d_data, size, stage.stream);
            CUDA_CHECK(cudaMemcpyAsync(
                stage.out, stage.d_data, bytes, cudaMemcpyDeviceToHost, stage.stream));
            CUDA_CHECK(cudaEventRecord(stage.done, stage.stream));
            next += size;
            continue;
        }
        const Stage& stage = stages[oldest / chunk % count];
        cudaError_t state = cudaErrorNotReady;
        while (state == cudaErrorNotReady) state = cudaEventQuery(stage.done);
        CUDA_CHECK(state);
        const int size = std::min(chunk, n - oldest);
        std::copy(stage.out, stage.out + size, out + oldest);
        oldest += size;
    }
}
