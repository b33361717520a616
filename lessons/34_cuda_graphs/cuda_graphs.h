// SPDX-License-Identifier: MIT
// Lesson 34, CUDA graphs: what cuda_graphs.cu implements and the test calls.
//
// Everything here except a destructor throws wb::CudaError when a CUDA call fails. No function
// waits for the device, unless it says so. Streams may be blocking or non-blocking.
#pragma once

#include <functional>
#include <memory>

#include "cuda_check.h"

// A rod of n points, n >= 1, in device memory that the caller owns. d_heat holds the heat of each
// point, before and after a call. d_scratch has room for n more floats; its contents do not matter.
struct Rod {
    float* d_heat;
    float* d_scratch;
    int n;
};

// Task 1: puts `steps` steps into `stream`, steps >= 0, with one kernel launch for each. In a step
// every point except the first and the last becomes
//     heat[i] + rate * (heat[i - 1] - 2 * heat[i] + heat[i + 1])
// where all values on the right are those before the step. The two ends keep their values. After
// the last step the result is in d_heat, for even and odd numbers of steps.
void heat_steps(Rod rod, float rate, int steps, cudaStream_t stream);

// A function that puts work into a stream and may return before the work is done.
using Work = std::function<void(cudaStream_t)>;

// Task 2: work that was recorded once and can be launched many times.
class Recording {
public:
    // Calls `work` once, with a stream that captures, and instantiates the graph. The work itself
    // does not run. If the work cannot be captured or a CUDA call fails, throws wb::CudaError; an
    // exception that `work` throws is passed on. In either case no capture remains open, and every
    // stream and graph is destroyed.
    explicit Recording(const Work& work);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Puts the whole recorded work into `stream`, by one launch.
    void replay(cudaStream_t stream) const;

    // For changes: the graph with its nodes, and the instance that is launched.
    cudaGraph_t graph() const { return graph_; }
    cudaGraphExec_t exec() const { return exec_; }

private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};

// Makes many steps with few launches. The rod must outlive it.
class HeatSolver {
public:
    // Records steps_per_replay steps, steps_per_replay >= 1. Changes nothing in the rod.
    HeatSolver(Rod rod, float rate, int steps_per_replay);
    // The caller has waited for all of the solver's work.
    ~HeatSolver();

    // Task 3: puts `steps` steps into `stream`, steps >= 0: steps / steps_per_replay replays, and
    // one kernel launch for each step that remains. Afterwards the result is in d_heat.
    void advance(int steps, cudaStream_t stream);

    // Task 4: steps that are put into `stream` from now on have this rate. Steps that the stream
    // already contains keep their rate. Nothing is recorded again.
    void set_rate(float rate, cudaStream_t stream);

private:
    struct Parts;  // its members are defined in cuda_graphs.cu
    std::unique_ptr<Parts> parts_;
};
