// Unusual: For the real architecture, and with a key of fields whose lengths are in it.
// SPDX-License-Identifier: MIT
// Lesson 35, run-time compilation: a kernel is written as text, compiled while the program runs,
// kept and launched.
// Start with README.md in this directory; `make 35` checks this file.
#include "jit_nvrtc.h"

static constexpr int kBlock = 256;

std::string kernel_source(const Elementwise& what) {
    std::string text;
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
    return text;
}

// "75" on a device of compute capability 7.5: what follows compute_ in the name of an architecture.
static std::string capability() {
    int current = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&current));
    DRIVER_CHECK(cuInit(0));
    CUdevice device = 0;
    DRIVER_CHECK(cuDeviceGet(&device, current));
    DRIVER_CHECK(
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    DRIVER_CHECK(
        cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    return std::to_string(major) + std::to_string(minor);
}

// Destroys the program whatever happens.
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
    NVRTC_CHECK(nvrtcAddNameExpression(program.handle, kernel.c_str()));
    const std::string architecture = "-arch=sm_" + capability();
    std::vector<const char*> all{architecture.c_str(), "--generate-line-info"};
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
    CUDA_CHECK(cudaFree(nullptr));
    DRIVER_CHECK(cuModuleLoadData(&loaded_->module, compiled.ptx.c_str()));
    DRIVER_CHECK(cuModuleGetFunction(&loaded_->function, loaded_->module, compiled.symbol.c_str()));
}

Kernel::~Kernel() = default;

CUfunction Kernel::function() const {
    return loaded_->function;
}

void launch(CUfunction function, const Elementwise& what, const Argument& out,
            const std::vector<Argument>& in, long long n, cudaStream_t stream) {
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
}

std::shared_ptr<const Kernel> KernelCache::get(const Elementwise& what,
                                               const std::vector<std::string>& options) {
    const std::string source = kernel_source(what);
    std::string key;
    const auto add = [&](const std::string& field) {
        key += std::to_string(field.size()) + ':' + field;
    };
    add(capability());
    for (const std::string& option : options) add(option);
    for (const Parameter& one : what.in) add(one.type + (one.is_array ? "* " : " ") + one.name);
    add(what.out.type + what.name);
    add(what.expression);
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    const Compiled compiled = compile(source, what.name + ".cu", what.name, options);
    return kernels_[key] = std::make_shared<const Kernel>(compiled);
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
