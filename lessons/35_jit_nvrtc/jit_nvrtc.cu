// SPDX-License-Identifier: MIT
// Lesson 35, run-time compilation: the program writes a kernel as text, compiles, keeps and
// launches it. Start with README.md in this directory; `make 35` checks this file.
#include "jit_nvrtc.h"

[[maybe_unused]] static constexpr int kBlock = 256;

std::string kernel_source([[maybe_unused]] const Elementwise& what) {
    std::string text;
    // TODO 1 (about 16 lines): write the kernel into `text`: its head with all parameters, the
    // thread's index, the bounds check, and the assignment. In the expression a name stands for
    // element i. So give each array another name in the head, such as _in0, and put a line like
    // `const float a = _in0[_i];` before the assignment.
    // END 1
    return text;
}

// The digits of the device's architecture after compute_: "75" for compute capability 7.5.
[[maybe_unused]] static std::string capability() {
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return std::to_string(major) + std::to_string(minor);
}

// Owns a program of NVRTC, and destroys it even after an exception.
struct Program {
    Program(const std::string& source, const std::string& file) {
        NVRTC_CHECK(nvrtcCreateProgram(&handle, source.c_str(), file.c_str(), 0, nullptr, nullptr));
    }
    ~Program() { nvrtcDestroyProgram(&handle); }
    nvrtcProgram handle = nullptr;
};

// The log so far, without the NUL at its end.
[[maybe_unused]] static std::string log_of(const Program& program) {
    size_t bytes = 0;
    NVRTC_CHECK(nvrtcGetProgramLogSize(program.handle, &bytes));
    std::string log(bytes, '\0');
    NVRTC_CHECK(nvrtcGetProgramLog(program.handle, log.data()));
    return log.c_str();
}

Compiled compile(const std::string& source, const std::string& file,
                 [[maybe_unused]] const std::string& kernel,
                 [[maybe_unused]] const std::vector<std::string>& options) {
    [[maybe_unused]] const Program program(source, file);
    Compiled done;
    // TODO 2 (about 18 lines): register `kernel` as a name expression. Compile, with the options,
    // the architecture of this device and -lineinfo. If that fails with NVRTC_ERROR_COMPILATION,
    // throw CompileError with the log. Else fetch the log, the PTX and the lowered name.
    // END 2
    return done;
}

struct Kernel::Loaded {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ~Loaded() {
        if (module) cuModuleUnload(module);
    }
};

Kernel::Kernel([[maybe_unused]] const Compiled& compiled) : loaded_(new Loaded) {
    // TODO 3 (about 4 lines): make the device's context current in this thread by any call of the
    // runtime, such as cudaFree(nullptr). Load the PTX as a module, and find the function.
    // END 3
}

Kernel::~Kernel() = default;

CUfunction Kernel::function() const {
    return loaded_->function;
}

void launch([[maybe_unused]] CUfunction function, [[maybe_unused]] const Elementwise& what,
            [[maybe_unused]] const Argument& out, [[maybe_unused]] const std::vector<Argument>& in,
            [[maybe_unused]] long long n, [[maybe_unused]] cudaStream_t stream) {
    // TODO 4 (about 12 lines): convert each value to its parameter's type. Make a list of the
    // addresses of all arguments, in the order of the parameters, and launch. For n = 0, launch
    // nothing.
    // END 4
}

std::shared_ptr<const Kernel>
KernelCache::get([[maybe_unused]] const Elementwise& what,
                 [[maybe_unused]] const std::vector<std::string>& options) {
    // TODO 5 (about 9 lines): make a key of everything that the compiled kernel depends on: the
    // source, the architecture, the options. If kernels_ has a kernel for the key, return it.
    // Otherwise compile and load one, and keep it.
    return nullptr;
    // END 5
}

// --- given: all of it together
// --------------------------------------------------------------------

ElementwiseKernel::ElementwiseKernel(KernelCache& cache, const std::string& in,
                                     const std::string& out, const std::string& expression,
                                     const std::string& name,
                                     const std::vector<std::string>& options)
    : cache_(cache), declared_{name, parsed(in), parsed(out).at(0), expression}, options_(options) {
}

void ElementwiseKernel::operator()(const Argument& out, const std::vector<Argument>& in,
                                   long long n, cudaStream_t stream) {
    const Elementwise what = bound(declared_, out, in);
    const auto kernel = cache_.get(what, options_);
    if (kernel) launch(kernel->function(), what, out, in, n, stream);
}
