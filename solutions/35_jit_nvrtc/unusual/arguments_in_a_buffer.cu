// Unusual: All arguments in one buffer, each where its alignment puts it.
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
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
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
    std::vector<unsigned char> buffer;
    const auto put = [&](const void* value, size_t bytes) {
        buffer.resize((buffer.size() + bytes - 1) / bytes * bytes);
        const auto* first = static_cast<const unsigned char*>(value);
        buffer.insert(buffer.end(), first, first + bytes);
    };
    const auto bytes_of = [](const std::string& type) -> size_t {
        if (type.find("char") != type.npos) return 1;
        if (type.find("short") != type.npos) return 2;
        return type == "double" || type.find("long") != type.npos ? 8 : 4;
    };
    put(out.address(), sizeof(void*));
    for (size_t i = 0; i < in.size(); ++i) {
        const std::string& type = what.in[i].type;
        if (in[i].is_array())
            put(in[i].address(), sizeof(void*));
        else
            put(in[i].as(type).address(), bytes_of(type));
    }
    put(&n, sizeof n);
    const auto blocks = unsigned((n + kBlock - 1) / kBlock);
    size_t bytes = buffer.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                     buffer.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes,
                     CU_LAUNCH_PARAM_END};
    DRIVER_CHECK(cuLaunchKernel(function, blocks, 1, 1, kBlock, 1, 1, 0, stream, nullptr, extra));
}

std::shared_ptr<const Kernel> KernelCache::get(const Elementwise& what,
                                               const std::vector<std::string>& options) {
    const std::string source = kernel_source(what);
    std::string key = source + '\n' + capability();
    for (const std::string& option : options) key += '\n' + option;
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
