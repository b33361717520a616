// SPDX-License-Identifier: MIT
// Lesson 35, run-time compilation: what jit_nvrtc.cu implements and the test calls. What kernels
// are called with (Argument), and what they compute (Elementwise), is in arguments.h.
//
// Everything here except a destructor throws JitError when a call of NVRTC or of the driver fails,
// and wb::CudaError when one of the runtime does. All of it is used with the same device. The host
// never waits for it.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "cuda_check.h"

// Task 1: the source of the kernel, as extern "C", so that its name stays as it is. Its parameters
// are the output, then all of `in` in order, then the number of elements, a long long: T* for the
// output, const T* for an array, T for a value. No thread touches an element beyond the last one.
std::string kernel_source(const Elementwise& what);

struct Compiled {
    std::string ptx;
    std::string symbol;  // the kernel's name in the PTX
    std::string log;     // the compiler's warnings; empty without
};

// Task 2: compiles `source` for the current device: not for an older architecture, and not for a
// newer one. `kernel` names the kernel as C++ does, whether it is extern "C" or not: "axpy",
// "physics::mass", "scale<float>". `file` stands for the source in the compiler's log and in the
// messages of tools, with the numbers of the lines. `options` are passed on to NVRTC. Throws
// CompileError where the source is refused.
Compiled compile(const std::string& source, const std::string& file, const std::string& kernel,
                 const std::vector<std::string>& options);

// Task 3: a kernel in the memory of the current device, where it stays until the destructor.
class Kernel {
public:
    // Works in every host thread, whether it has made a CUDA call before or not.
    explicit Kernel(const Compiled& compiled);
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    CUfunction function() const;

private:
    struct Loaded;  // what it keeps is up to jit_nvrtc.cu
    std::unique_ptr<Loaded> loaded_;
};

// Task 4: puts one launch of the function into `stream`, with at least one thread for each of the
// elements 0 to n - 1, and does not wait for it. The function has the parameters of task 1. `in`
// are arrays and values as `what` says; a value is converted to the parameter's type. For n = 0
// nothing is launched. n <= 2^31.
void launch(CUfunction function, const Elementwise& what, const Argument& out,
            const std::vector<Argument>& in, long long n, cudaStream_t stream);

// Task 5: kernels that are compiled when they are first asked for. They stay loaded as long as the
// cache, or as a caller still has one.
class KernelCache {
public:
    // A kernel for `what` and of its name, compiled with these options for the current device. The
    // file that tools show is that name with ".cu". Where the source is refused, each call throws
    // CompileError.
    std::shared_ptr<const Kernel> get(const Elementwise& what,
                                      const std::vector<std::string>& options);

private:
    std::map<std::string, std::shared_ptr<const Kernel>> kernels_;
};

// All of it together, as CuPy's class of this name:
//
//     ElementwiseKernel roots(cache, "T a, T b, T c", "T root",
//                             "(-b + sqrt(b * b - 4 * a * c)) / (2 * a)", "roots");
//     roots(d_root, {d_a, d_b, 1.0f}, n, stream);   // a and b are arrays, c is 1 for all
//
// T is one type for all, that of the output's elements. Throws std::invalid_argument where the
// arguments do not fit the parameters. The cache must outlive it.
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
