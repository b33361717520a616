// Unusual: The solver builds its graph node by node, without a capture, and keeps the nodes.
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

// A stream of its own to record in. Its destructor ends a capture that an exception has left open.
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

struct HeatSolver::Parts {
    Parts(Rod the_rod, float first_rate, int steps)
        : rod(the_rod), rate(first_rate), steps_per_replay(steps) {
        CUDA_CHECK(cudaGraphCreate(&graph, 0));
        for (int step = 0; step < steps; ++step) {
            cudaGraphNode_t node = nullptr;
            add_kernel(step, &node);
            nodes.push_back(node);
        }
        if (steps % 2) {
            cudaGraphNode_t copy = nullptr;
            CUDA_CHECK(cudaGraphAddMemcpyNode1D(&copy,
                                                graph,
                                                &nodes.back(),
                                                1,
                                                rod.d_heat,
                                                rod.d_scratch,
                                                rod.n * sizeof(float),
                                                cudaMemcpyDeviceToDevice));
        }
        CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    }
    ~Parts() {
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
    // Calls use(params) with the parameters of a step; they are valid during the call only.
    template <class Use>
    void with_kernel(int step, Use use) {
        float* from = step % 2 ? rod.d_scratch : rod.d_heat;
        float* to = step % 2 ? rod.d_heat : rod.d_scratch;
        void* arguments[] = {&from, &to, &rod.n, &rate};
        cudaKernelNodeParams params{};
        params.func = reinterpret_cast<void*>(heat_kernel);
        params.gridDim = (rod.n + kBlock - 1) / kBlock;
        params.blockDim = kBlock;
        params.kernelParams = arguments;
        use(params);
    }
    void add_kernel(int step, cudaGraphNode_t* node) {
        with_kernel(step, [&](const cudaKernelNodeParams& params) {
            const cudaGraphNode_t* before = nodes.empty() ? nullptr : &nodes.back();
            CUDA_CHECK(cudaGraphAddKernelNode(node, graph, before, nodes.empty() ? 0 : 1, &params));
        });
    }
    Rod rod;
    float rate;
    int steps_per_replay;
    std::vector<cudaGraphNode_t> nodes;  // of the steps, in their order
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
};

HeatSolver::HeatSolver(Rod rod, float rate, int steps_per_replay)
    : parts_(new Parts(rod, rate, steps_per_replay)) {}
HeatSolver::~HeatSolver() = default;

void HeatSolver::advance([[maybe_unused]] int steps, [[maybe_unused]] cudaStream_t stream) {
    [[maybe_unused]] const Parts& own = *parts_;
    const int replays = steps / own.steps_per_replay;
    for (int i = 0; i < replays; ++i) CUDA_CHECK(cudaGraphLaunch(own.exec, stream));
    heat_steps(own.rod, own.rate, steps % own.steps_per_replay, stream);
}

void HeatSolver::set_rate([[maybe_unused]] float rate, cudaStream_t) {
    [[maybe_unused]] Parts& own = *parts_;
    own.rate = rate;
    for (size_t step = 0; step < own.nodes.size(); ++step) {
        own.with_kernel(int(step), [&](const cudaKernelNodeParams& params) {
            CUDA_CHECK(cudaGraphExecKernelNodeSetParams(own.exec, own.nodes[step], &params));
        });
    }
}
