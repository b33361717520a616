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

void heat_steps([[maybe_unused]] Rod rod, [[maybe_unused]] float rate, [[maybe_unused]] int steps,
                [[maybe_unused]] cudaStream_t stream) {
    // TODO 1 (about 9 lines): launch one step after another, all in `stream`. Each step reads the
    // result of the step before. If the last step wrote to d_scratch, copy the result to d_heat.
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
    // END 1
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
    // TODO 2 (about 6 lines): begin to capture own.stream, in the global mode. Let `work` put its
    // kernels there. End the capture, which gives graph_, and instantiate it once as exec_. If that
    // fails, destroy graph_: the destructor does not run for an object that was not completed.
    //| CUDA_CHECK(cudaGraphCreate(&graph_, 0));  // an empty graph, which does nothing
    //| CUDA_CHECK(cudaGraphInstantiate(&exec_, graph_, 0));
    CUDA_CHECK(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
    work(own.stream);
    CUDA_CHECK(cudaStreamEndCapture(own.stream, &graph_));
    const cudaError_t error = cudaGraphInstantiate(&exec_, graph_, 0);
    if (error != cudaSuccess) cudaGraphDestroy(graph_);  // no destructor runs after an exception
    CUDA_CHECK(error);
    // END 2
}

Recording::~Recording() {
    if (exec_) cudaGraphExecDestroy(exec_);
    if (graph_) cudaGraphDestroy(graph_);
}

void Recording::replay(cudaStream_t stream) const {
    CUDA_CHECK(cudaGraphLaunch(exec_, stream));
}

struct HeatSolver::Parts {
    Parts(Rod the_rod, float first_rate, int steps)
        : rod(the_rod), rate(first_rate), steps_per_replay(steps),
          recording([&](cudaStream_t own) { heat_steps(rod, rate, steps_per_replay, own); }) {}
    Rod rod;
    float rate;
    int steps_per_replay;
    Recording recording;
};

HeatSolver::HeatSolver(Rod rod, float rate, int steps_per_replay)
    : parts_(new Parts(rod, rate, steps_per_replay)) {}
HeatSolver::~HeatSolver() = default;

void HeatSolver::advance([[maybe_unused]] int steps, [[maybe_unused]] cudaStream_t stream) {
    [[maybe_unused]] const Parts& own = *parts_;
    // TODO 3 (about 3 lines): replay the recording as often as it fits into `steps`, and make the
    // remaining steps one by one.
    const int replays = steps / own.steps_per_replay;
    for (int i = 0; i < replays; ++i) own.recording.replay(stream);
    heat_steps(own.rod, own.rate, steps % own.steps_per_replay, stream);
    // END 3
}

void HeatSolver::set_rate([[maybe_unused]] float rate, cudaStream_t) {
    [[maybe_unused]] Parts& own = *parts_;
    // TODO 4 (about 15 lines): remember the rate for the steps that are made one by one. Then give
    // each kernel node of the graph the same kernel, grid and arguments as before, but this rate:
    // in own.recording.exec(), the instance that is launched. Do not change other nodes.
    own.rate = rate;
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(own.recording.graph(), nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CUDA_CHECK(cudaGraphGetNodes(own.recording.graph(), nodes.data(), &count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        CUDA_CHECK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        cudaKernelNodeParams params;
        CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &params));
        void** were = params.kernelParams;  // this list belongs to the node: do not change it
        void* arguments[] = {were[0], were[1], were[2], &rate};  // from, to, n, rate
        params.kernelParams = arguments;
        CUDA_CHECK(cudaGraphExecKernelNodeSetParams(own.recording.exec(), node, &params));
    }
    // END 4
}
