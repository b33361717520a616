// SPDX-License-Identifier: MIT
// Lesson 32, streams: chunks of data are copied while other chunks are computed.
// Start with README.md in this directory; `make 32` checks this file.
#include "streams_overlap.h"

#include <algorithm>

// The kernel is given. It has few blocks, so that kernels of several streams run side by side.
static constexpr int kBlocks = 8;
static constexpr int kThreads = 256;
static constexpr int kSteps = 30;
static constexpr float kBend = 0.25f;

// Iterates y = x - kBend y^3: the distance to the right y shrinks in each step.
__global__ void linearize_kernel(float* data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float x = data[i];
        float y = x;
        for (int step = 0; step < kSteps; ++step) y = fmaf(-kBend * y * y, y, x);
        data[i] = y;
    }
}

void launch_linearize(float* d_data, int n, cudaStream_t stream) {
    linearize_kernel<<<kBlocks, kThreads, 0, stream>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

static size_t bytes_of(int samples) {
    return static_cast<size_t>(samples) * sizeof(float);
}

void linearize_serial(const float* in, float* out, float* d_data, int n, cudaStream_t stream) {
    if (n == 0) return;
    CUDA_CHECK(cudaMemcpyAsync(d_data, in, bytes_of(n), cudaMemcpyHostToDevice, stream));
    launch_linearize(d_data, n, stream);
    CUDA_CHECK(cudaMemcpyAsync(out, d_data, bytes_of(n), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

double pipeline_time([[maybe_unused]] double up, [[maybe_unused]] double kernel,
                     [[maybe_unused]] double down, [[maybe_unused]] int chunks) {
    // TODO 1 (about 2 lines): how long do all three steps of one chunk take? How long after a chunk
    // is the next chunk done? Times may be fractions.
    //| return 0;
    const double slowest = std::max({up, kernel, down});
    return (up + kernel + down + (chunks - 1) * slowest) / chunks;
    // END 1
}

void linearize_chunks([[maybe_unused]] const float* in, [[maybe_unused]] float* out,
                      [[maybe_unused]] float* d_data, [[maybe_unused]] int n,
                      [[maybe_unused]] int chunk, [[maybe_unused]] const cudaStream_t* streams,
                      [[maybe_unused]] int stream_count) {
    // TODO 2 (about 13 lines): for each chunk, queue its upload, its kernel and its download in the
    // chunk's stream. When all chunks are queued, wait until `out` is complete.
    for (int k = 0; k * static_cast<long long>(chunk) < n; ++k) {
        const int first = k * chunk;
        const int count = std::min(chunk, n - first);
        const cudaStream_t stream = streams[k % stream_count];
        CUDA_CHECK(cudaMemcpyAsync(
            d_data + first, in + first, bytes_of(count), cudaMemcpyHostToDevice, stream));
        launch_linearize(d_data + first, count, stream);
        CUDA_CHECK(cudaMemcpyAsync(
            out + first, d_data + first, bytes_of(count), cudaMemcpyDeviceToHost, stream));
    }
    for (int s = 0; s < stream_count; ++s) CUDA_CHECK(cudaStreamSynchronize(streams[s]));
    // END 2
}

void make_stages(Stage* stages, int count, [[maybe_unused]] int chunk) {
    for (int s = 0; s < count; ++s) {
        // TODO 3 (about 6 lines): create the five members of stages[s]. The stream does not wait
        // for the default stream, and both host buffers are pinned.
        //| stages[s] = {};
        Stage& stage = stages[s];
        CUDA_CHECK(cudaStreamCreateWithFlags(&stage.stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaMallocHost(&stage.in, bytes_of(chunk)));
        CUDA_CHECK(cudaMallocHost(&stage.out, bytes_of(chunk)));
        CUDA_CHECK(cudaMalloc(&stage.d_data, bytes_of(chunk)));
        CUDA_CHECK(cudaEventCreateWithFlags(&stage.done, cudaEventDisableTiming));
        // END 3
    }
}

void free_stages(Stage* stages, int count) {
    for (int s = 0; s < count; ++s) {
        if (!stages[s].stream) continue;
        CUDA_CHECK(cudaStreamDestroy(stages[s].stream));
        CUDA_CHECK(cudaFreeHost(stages[s].in));
        CUDA_CHECK(cudaFreeHost(stages[s].out));
        CUDA_CHECK(cudaFree(stages[s].d_data));
        CUDA_CHECK(cudaEventDestroy(stages[s].done));
    }
}

void linearize_staged([[maybe_unused]] const float* in, [[maybe_unused]] float* out,
                      [[maybe_unused]] int n, [[maybe_unused]] int chunk,
                      [[maybe_unused]] const Stage* stages, [[maybe_unused]] int count) {
    // TODO 4 (about 19 lines): copy chunk k to the `in` of its stage, queue its upload, kernel and
    // download to the stage's `out`, and record `done`. Before you use a stage again, and at the
    // end, wait for its `done` and copy the results of its chunk to `out`.
    const int chunks = (n + chunk - 1) / chunk;
    for (int k = 0; k < chunks + count; ++k) {
        const Stage& stage = stages[k % count];
        const int before = k - count;  // the chunk that used this stage before
        if (before >= 0 && before < chunks) {
            CUDA_CHECK(cudaEventSynchronize(stage.done));
            const int first = before * chunk;
            std::copy_n(stage.out, std::min(chunk, n - first), out + first);
        }
        if (k < chunks) {
            const int first = k * chunk;
            const int size = std::min(chunk, n - first);
            std::copy_n(in + first, size, stage.in);
            CUDA_CHECK(cudaMemcpyAsync(
                stage.d_data, stage.in, bytes_of(size), cudaMemcpyHostToDevice, stage.stream));
            launch_linearize(stage.d_data, size, stage.stream);
            CUDA_CHECK(cudaMemcpyAsync(
                stage.out, stage.d_data, bytes_of(size), cudaMemcpyDeviceToHost, stage.stream));
            CUDA_CHECK(cudaEventRecord(stage.done, stage.stream));
        }
    }
    // END 4
}
