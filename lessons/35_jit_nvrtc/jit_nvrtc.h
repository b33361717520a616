// SPDX-License-Identifier: MIT
// Lesson 35, run-time compilation: what jit_nvrtc.cu implements and the test calls. arguments.h
// declares the arguments of kernels (Argument) and their computation (Elementwise).
//
// Everything here except a destructor throws JitError when a call of NVRTC or of the driver fails,
// and wb::CudaError when a call of the runtime fails. The caller uses one device for everything. No
// function waits for the device.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "cuda_check.h"

// Task 1: the source of the kernel, which is extern "C" and so keeps its name. Its parameters are
// the output, then all of `in` in order, then the number of elements, a long long: T* for the
// output, const T* for an array, T for a value. No thread touches an element beyond the last one.
std::string kernel_source(const Elementwise& what);

struct Compiled {
    std::string ptx;
    std::string symbol;  // the kernel's name in the PTX
    std::string log;     // the compiler's warnings; empty without
};

// Task 2: compiles `source` for the current device: for exactly its architecture. `kernel` names
// the kernel as C++ does, whether it is extern "C" or not: "axpy", "physics::mass", "scale<float>".
// `file` stands for the source in the compiler's log and in the messages of tools, with the numbers
// of the lines. `options` are passed on to NVRTC. Throws CompileError if NVRTC refuses the source.
Compiled compile(const std::string& source, const std::string& file, const std::string& kernel,
                 const std::vector<std::string>& options);

// Task 3: a kernel in the memory of the current device, where it stays until the destructor.
class Kernel {
public:
    // Works in every host thread, even if it has made no CUDA call before.
    explicit Kernel(const Compiled& compiled);
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    CUfunction function() const;

private:
    struct Loaded;  // its members are defined in jit_nvrtc.cu
    std::unique_ptr<Loaded> loaded_;
};

// Task 4: puts one launch of the function into `stream`, with at least one thread for each of the
// elements 0 to n - 1, and does not wait for it. The function has the parameters of task 1. `what`
// says which of `in` are arrays and which are values; a value is converted to the parameter's type.
// For n = 0, launches nothing. n <= 2^31.
void launch(CUfunction function, const Elementwise& what, const Argument& out,
            const std::vector<Argument>& in, long long n, cudaStream_t stream);

// Task 5: compiles a kernel when a caller first asks for it. A kernel stays loaded as long as the
// cache exists or a caller holds it.
class KernelCache {
public:
    // A kernel for `what`, under its name, compiled with these options for the current device.
    // Tools show its file as that name with ".cu". If NVRTC refuses the source, each call throws
    // CompileError.
    std::shared_ptr<const Kernel> get(const Elementwise& what,
                                      const std::vector<std::string>& options);

private:
    std::map<std::string, std::shared_ptr<const Kernel>> kernels_;
};

// Combines all of this, like CuPy's class of the same name:
//
//     ElementwiseKernel roots(cache, "T a, T b, T c", "T root",
//                             "(-b + sqrt(b * b - 4 * a * c)) / (2 * a)", "roots");
//     roots(d_root, {d_a, d_b, 1.0f}, n, stream);   // a and b are arrays, c is 1 for all
//
// T is the type of the output's elements, and the same for all parameters. Throws
// std::invalid_argument if the arguments do not fit the parameters. The cache must outlive it.
class ElementwiseKernel {
public:
    ElementwiseKernel(KernelCache& cache, const std::string& in, const std::string& out,
                      const std::string& expression, const std::string& name,
                      const std::vector<std::string>& options = {});
    void operator()(const Argument& out, const std::vector<Argument>& in, long long n,
                    cudaStream_t stream = nullptr);

private:
    KernelCache& cache_;
    Elementwise declared_;
    std::vector<std::string> options_;
};
