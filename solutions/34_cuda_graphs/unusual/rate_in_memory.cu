// Unusual: The recorded kernels read the rate from device memory, so a new one is a copy in the
// stream.
// SPDX-License-Identifier: MIT
// Lesson 34, CUDA graphs: many small kernels are recorded once and replayed by one launch.
// Start with README.md in this directory; `make 34` checks this file.
#include "cuda_graphs.h"

#include <utility>
#include <vector>

static constexpr int kBlock = 256;

// One step: reads the heat in `from` and writes the heat afterwards to `to`.
__global__ void heat_kernel(const float* from, float* to, int n, float rate) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const bool inner = i > 0 && i < n - 1;
    to[i] = inner ? from[i] + rate * (from[i - 1] - 2 * from[i] + from[i + 1]) : from[i];
}

[[maybe_unused]] static void launch_step(const float* from, float* to, int n, float rate,
                                         cudaStream_t stream) {
    heat_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(from, to, n, rate);
    CUDA_CHECK(cudaGetLastError());
}

// The same, with a rate that lies in device memory and is read when the kernel runs.
__global__ void heat_from_memory_kernel(const float* from, float* to, int n, const float* rate) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const bool inner = i > 0 && i < n - 1;
    to[i] = inner ? from[i] + *rate * (from[i - 1] - 2 * from[i] + from[i + 1]) : from[i];
}

void heat_steps(Rod rod, float rate, int steps, cudaStream_t stream) {
    float* from = rod.d_heat;
    float* to = rod.d_scratch;
    for (int step = 0; step < steps; ++step) {
        launch_step(from, to, rod.n, rate, stream);
        std::swap(from, to);
    }
    if (from == rod.d_scratch) {
        CUDA_CHECK(cudaMemcpyAsync(
            rod.d_heat, from, rod.n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    }
}

// A stream to record in. Its destructor ends a capture that an exception has left open.
struct CaptureStream {
    CaptureStream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~CaptureStream() {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream, &status);
        if (status != cudaStreamCaptureStatusNone) {
            cudaGraph_t rest = nullptr;
            cudaStreamEndCapture(stream, &rest);
            if (rest) cudaGraphDestroy(rest);
        }
        cudaStreamDestroy(stream);
    }
    cudaStream_t stream = nullptr;
};

Recording::Recording([[maybe_unused]] const Work& work) {
    [[maybe_unused]] CaptureStream own;
    CUDA_CHECK(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
    work(own.stream);
    CUDA_CHECK(cudaStreamEndCapture(own.stream, &graph_));
    const cudaError_t error = cudaGraphInstantiate(&exec_, graph_, 0);
    if (error != cudaSuccess) cudaGraphDestroy(graph_);  // no destructor runs after an exception
    CUDA_CHECK(error);
}

Recording::~Recording() {
    if (exec_) cudaGraphExecDestroy(exec_);
    if (graph_) cudaGraphDestroy(graph_);
}

void Recording::replay(cudaStream_t stream) const {
    CUDA_CHECK(cudaGraphLaunch(exec_, stream));
}

// Owns the rate in device memory. It exists before the recording, which names its address.
struct DeviceRate {
    DeviceRate() { CUDA_CHECK(cudaMalloc(&data, sizeof(float))); }
    ~DeviceRate() { cudaFree(data); }
    float* data = nullptr;
};

struct HeatSolver::Parts {
    Parts(Rod the_rod, float first_rate, int steps)
        : rod(the_rod), steps_per_replay(steps),
          recording([&](cudaStream_t own) { put_into(own, steps_per_replay); }) {
        CUDA_CHECK(cudaMemcpy(rate.data, &first_rate, sizeof(float), cudaMemcpyHostToDevice));
        // Of memory that is not pinned cudaMemcpy returns as soon as it has read it, and a stream
        // that does not wait for the default stream could come before the copy.
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
    void put_into(cudaStream_t stream, int steps) const {
        const int blocks = (rod.n + kBlock - 1) / kBlock;
        for (int step = 0; step < steps; ++step) {
            const bool even = step % 2 == 0;
            heat_from_memory_kernel<<<blocks, kBlock, 0, stream>>>(
                even ? rod.d_heat : rod.d_scratch,
                even ? rod.d_scratch : rod.d_heat,
                rod.n,
                rate.data);
            CUDA_CHECK(cudaGetLastError());
        }
        if (steps % 2) {
            CUDA_CHECK(cudaMemcpyAsync(
                rod.d_heat, rod.d_scratch, rod.n * sizeof(float), cudaMemcpyDefault, stream));
        }
    }
    Rod rod;
    DeviceRate rate;
    int steps_per_replay;
    Recording recording;
};

HeatSolver::HeatSolver(Rod rod, float rate, int steps_per_replay)
    : parts_(new Parts(rod, rate, steps_per_replay)) {}
HeatSolver::~HeatSolver() = default;

void HeatSolver::advance([[maybe_unused]] int steps, [[maybe_unused]] cudaStream_t stream) {
    [[maybe_unused]] const Parts& own = *parts_;
    const int replays = steps / own.steps_per_replay;
    for (int i = 0; i < replays; ++i) own.recording.replay(stream);
    own.put_into(stream, steps % own.steps_per_replay);
}

void HeatSolver::set_rate(float rate, cudaStream_t stream) {
    // From memory that is not pinned: the call has read it when it returns.
    CUDA_CHECK(
        cudaMemcpyAsync(parts_->rate.data, &rate, sizeof(float), cudaMemcpyHostToDevice, stream));
}
