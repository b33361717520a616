// Variant: the PTX is kept, but each call loads it again.
// verdict: efficient "efficient: the second call compiles nothing"
// verdict: efficient "efficient: a new type compiles once"
// SPDX-License-Identifier: MIT
// Lesson 35, run-time compilation: the program writes a kernel as text, compiles, keeps and
// launches it. Start with README.md in this directory; `make 35` checks this file.
#include "jit_nvrtc.h"

static constexpr int kBlock = 256;

std::string kernel_source(const Elementwise& what) {
    std::string text;
    // TODO 1 (about 16 lines): write the kernel into `text`: its head with all parameters, the
    // thread's index, the bounds check, and the assignment. In the expression a name stands for
    // element i. So give each array another name in the head, such as _in0, and put a line like
    // `const float a = _in0[_i];` before the assignment.
    std::string parameters = what.out.type + "* _out", loads;
    for (size_t k = 0; k < what.in.size(); ++k) {
        const Parameter& one = what.in[k];
        const std::string array = "_in" + std::to_string(k);
        if (one.is_array) {
            parameters += ", const " + one.type + "* " + array;
            loads += "    const " + one.type + " " + one.name + " = " + array + "[_i];\n";
        } else {
            parameters += ", " + one.type + " " + one.name;
        }
    }
    text = "extern \"C\" __global__ void " + what.name + "(" + parameters + ", long long _n) {\n";
    text += "    const long long _i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n";
    text += "    if (_i >= _n) return;\n";
    text += loads;
    text += "    _out[_i] = " + what.expression + ";\n}\n";
    // END 1
    return text;
}

// The digits of the device's architecture after compute_: "75" for compute capability 7.5.
static std::string capability() {
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
static std::string log_of(const Program& program) {
    size_t bytes = 0;
    NVRTC_CHECK(nvrtcGetProgramLogSize(program.handle, &bytes));
    std::string log(bytes, '\0');
    NVRTC_CHECK(nvrtcGetProgramLog(program.handle, log.data()));
    return log.c_str();
}

Compiled compile(const std::string& source, const std::string& file, const std::string& kernel,
                 const std::vector<std::string>& options) {
    const Program program(source, file);
    Compiled done;
    // TODO 2 (about 18 lines): register `kernel` as a name expression. Compile, with the options,
    // the architecture of this device and -lineinfo. If that fails with NVRTC_ERROR_COMPILATION,
    // throw CompileError with the log. Else fetch the log, the PTX and the lowered name.
    NVRTC_CHECK(nvrtcAddNameExpression(program.handle, kernel.c_str()));
    const std::string architecture = "--gpu-architecture=compute_" + capability();
    std::vector<const char*> all{architecture.c_str(), "-lineinfo"};
    for (const std::string& option : options) all.push_back(option.c_str());
    const nvrtcResult result = nvrtcCompileProgram(program.handle, int(all.size()), all.data());
    if (result == NVRTC_ERROR_COMPILATION) throw CompileError(log_of(program));
    NVRTC_CHECK(result);
    done.log = log_of(program);
    const char* symbol = nullptr;  // belongs to the program
    NVRTC_CHECK(nvrtcGetLoweredName(program.handle, kernel.c_str(), &symbol));
    done.symbol = symbol;
    size_t bytes = 0;
    NVRTC_CHECK(nvrtcGetPTXSize(program.handle, &bytes));
    done.ptx.resize(bytes);
    NVRTC_CHECK(nvrtcGetPTX(program.handle, done.ptx.data()));
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

Kernel::Kernel(const Compiled& compiled) : loaded_(new Loaded) {
    // TODO 3 (about 4 lines): make the device's context current in this thread by any call of the
    // runtime, such as cudaFree(nullptr). Load the PTX as a module, and find the function.
    CUDA_CHECK(cudaFree(nullptr));
    DRIVER_CHECK(cuModuleLoadData(&loaded_->module, compiled.ptx.c_str()));
    DRIVER_CHECK(cuModuleGetFunction(&loaded_->function, loaded_->module, compiled.symbol.c_str()));
    // END 3
}

Kernel::~Kernel() = default;

CUfunction Kernel::function() const {
    return loaded_->function;
}

void launch(CUfunction function, const Elementwise& what, const Argument& out,
            const std::vector<Argument>& in, long long n, cudaStream_t stream) {
    // TODO 4 (about 12 lines): convert each value to its parameter's type. Make a list of the
    // addresses of all arguments, in the order of the parameters, and launch. For n = 0, launch
    // nothing.
    if (n == 0) return;
    std::vector<Argument> values;
    for (size_t i = 0; i < in.size(); ++i)
        values.push_back(in[i].is_array() ? in[i] : in[i].as(what.in[i].type));
    std::vector<void*> addresses{const_cast<void*>(out.address())};
    for (const Argument& value : values) addresses.push_back(const_cast<void*>(value.address()));
    addresses.push_back(&n);
    const auto blocks = unsigned((n + kBlock - 1) / kBlock);
    DRIVER_CHECK(
        cuLaunchKernel(function, blocks, 1, 1, kBlock, 1, 1, 0, stream, addresses.data(), nullptr));
    // END 4
}

std::shared_ptr<const Kernel> KernelCache::get(const Elementwise& what,
                                               const std::vector<std::string>& options) {
    // TODO 5 (about 9 lines): make a key of everything that the compiled kernel depends on: the
    // source, the architecture, the options. If kernels_ has a kernel for the key, return it.
    // Otherwise compile and load one, and keep it.
    const std::string source = kernel_source(what);
    std::string key = source + '\n' + capability();
    for (const std::string& option : options) key += '\n' + option;
    static std::map<std::pair<const KernelCache*, std::string>, Compiled> texts;
    if (kernels_.empty()) texts.clear();  // another cache may have had this address
    const auto found = texts.find({this, key});
    const Compiled compiled = found != texts.end()
                                  ? found->second
                                  : compile(source, what.name + ".cu", what.name, options);
    texts[{this, key}] = compiled;
    return kernels_[key + '\n' + std::to_string(kernels_.size())] =
               std::make_shared<const Kernel>(compiled);
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
