// Unusual: A stream for each step and not for each chunk, with events from one to the next. The
// host waits for one event.
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

// An event that is destroyed at the end.
class Moment {
public:
    Moment() { CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Moment() { cudaEventDestroy(event_); }
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;
    // Later work in `after` waits for the work that is now in `before`.
    void order(cudaStream_t before, cudaStream_t after) {
        CUDA_CHECK(cudaEventRecord(event_, before));
        CUDA_CHECK(cudaStreamWaitEvent(after, event_, 0));
    }
    void wait(cudaStream_t stream) {
        CUDA_CHECK(cudaEventRecord(event_, stream));
        CUDA_CHECK(cudaEventSynchronize(event_));
    }

private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace

void linearize_chunks(const float* in, float* out, float* d_data, int n, int chunk,
                      const cudaStream_t* streams, int stream_count) {
    if (n == 0) return;
    const cudaStream_t up = streams[0];
    const cudaStream_t compute = streams[1 % stream_count];
    const cudaStream_t down = streams[2 % stream_count];
    Moment uploaded, computed, done;
    for (long long first = 0; first < n; first += chunk) {
        const int size = int(std::min<long long>(chunk, n - first));
        const size_t bytes = sizeof(float) * size;
        CUDA_CHECK(cudaMemcpyAsync(d_data + first, in + first, bytes, cudaMemcpyHostToDevice, up));
        uploaded.order(up, compute);
        launch_linearize(d_data + first, size, compute);
        computed.order(compute, down);
        CUDA_CHECK(
            cudaMemcpyAsync(out + first, d_data + first, bytes, cudaMemcpyDeviceToHost, down));
    }
    done.wait(down);
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

void linearize_staged([[maybe_unused]] const float* in, [[maybe_unused]] float* out,
                      [[maybe_unused]] int n, [[maybe_unused]] int chunk,
                      [[maybe_unused]] const Stage* stages, [[maybe_unused]] int count) {
    const int chunks = (n + chunk - 1) / chunk;
    const auto size = [&](int k) { return std::min(chunk, n - k * chunk); };
    const auto finish = [&](int k) {
        const Stage& stage = stages[k % count];
        CUDA_CHECK(cudaEventSynchronize(stage.done));
        std::memcpy(out + k * chunk, stage.out, sizeof(float) * size(k));
    };
    for (int k = 0; k < chunks; ++k) {
        if (k >= count) finish(k - count);
        const Stage& stage = stages[k % count];
        const size_t bytes = sizeof(float) * size(k);
        std::memcpy(stage.in, in + k * chunk, bytes);
        CUDA_CHECK(cudaMemcpyAsync(stage.d_data, stage.in, bytes, cudaMemcpyDefault, stage.stream));
        launch_linearize(stage.d_data, size(k), stage.stream);
        CUDA_CHECK(
            cudaMemcpyAsync(stage.out, stage.d_data, bytes, cudaMemcpyDefault, stage.stream));
        CUDA_CHECK(cudaEventRecord(stage.done, stage.stream));
    }
    for (int k = std::max(0, chunks - count); k < chunks; ++k) finish(k);
}
