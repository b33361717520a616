// SPDX-License-Identifier: MIT
// Helpers for the tests of lesson 35: kernels that the test compiles and loads itself, and inputs.
#pragma once

#include "jit_nvrtc.h"
#include "lesson_test.h"
#include "watches/jit_calls.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of an output, on a real GPU
constexpr int kSizes[] = {1, 31, 32, 33, 255, 256, 257, 1000, 5000};

// An Elementwise with these declarations; in `kinds`, 'a' stands for an array and 'v' for a value.
inline Elementwise described(const std::string& name, const std::string& in, const std::string& out,
                             const std::string& expression, const std::string& kinds) {
    Elementwise what{name, parsed(in), parsed(out).at(0), expression};
    what.out.is_array = true;
    for (size_t i = 0; i < what.in.size(); ++i) what.in[i].is_array = kinds.at(i) == 'a';
    return what;
}

// The capability of the device, or the one that a test pretends: "75".
inline std::string capability() {
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return std::to_string(major) + std::to_string(minor);
}

// Fails the test with NVRTC's log if NVRTC refuses the text.
inline Compiled compiled_by_test(const std::string& source, const std::string& file,
                                 const std::string& kernel) {
    {
        INFO("the source is empty: there is no kernel in it");
        const bool something_is_written = !source.empty();
        REQUIRE(something_is_written);
    }
    INFO("the source is\n" << source);
    nvrtcProgram program = nullptr;
    NVRTC_CHECK(nvrtcCreateProgram(&program, source.c_str(), file.c_str(), 0, nullptr, nullptr));
    NVRTC_CHECK(nvrtcAddNameExpression(program, kernel.c_str()));
    const std::string arch = "--gpu-architecture=compute_" + capability();
    const char* options[] = {arch.c_str(), "-lineinfo"};
    const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    Compiled done;
    size_t bytes = 0;
    NVRTC_CHECK(nvrtcGetProgramLogSize(program, &bytes));
    done.log.resize(bytes);
    NVRTC_CHECK(nvrtcGetProgramLog(program, done.log.data()));
    {
        INFO("NVRTC refuses it:\n" << done.log.c_str());
        const bool accepted = result == NVRTC_SUCCESS;
        REQUIRE(accepted);
    }
    const char* symbol = nullptr;
    NVRTC_CHECK(nvrtcGetLoweredName(program, kernel.c_str(), &symbol));
    done.symbol = symbol;
    NVRTC_CHECK(nvrtcGetPTXSize(program, &bytes));
    done.ptx.resize(bytes);
    NVRTC_CHECK(nvrtcGetPTX(program, done.ptx.data()));
    nvrtcDestroyProgram(&program);
    return done;
}

// A kernel in device memory, loaded without the student's code.
class OwnKernel {
public:
    explicit OwnKernel(const Compiled& compiled) {
        {
            INFO("ptx is empty: nothing was compiled, or it was not fetched");
            const bool has_ptx = !compiled.ptx.empty();
            REQUIRE(has_ptx);
        }
        CUDA_CHECK(cudaFree(nullptr));
        DRIVER_CHECK(cuModuleLoadData(&module_, compiled.ptx.c_str()));
        DRIVER_CHECK(cuModuleGetFunction(&function_, module_, compiled.symbol.c_str()));
    }
    ~OwnKernel() { cuModuleUnload(module_); }
    OwnKernel(const OwnKernel&) = delete;
    OwnKernel& operator=(const OwnKernel&) = delete;
    CUfunction function() const { return function_; }

    // `arguments` are addresses, in the order of the parameters.
    void run(std::vector<const void*> arguments, long long n, unsigned threads = 128) const {
        std::vector<void*> all;
        for (const void* one : arguments) all.push_back(const_cast<void*>(one));
        all.push_back(&n);
        DRIVER_CHECK(cuLaunchKernel(function_,
                                    unsigned((n + threads - 1) / threads),
                                    1,
                                    1,
                                    threads,
                                    1,
                                    1,
                                    0,
                                    nullptr,
                                    all.data(),
                                    nullptr));
    }

private:
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
};

// The type of the kernel's last parameter in the PTX: "u64".
inline std::string last_parameter(const Compiled& compiled) {
    const size_t entry = compiled.ptx.find(".entry " + compiled.symbol);
    const size_t end = compiled.ptx.find(')', entry);
    const size_t last = compiled.ptx.rfind(".param .", end);
    if (entry == std::string::npos || last == std::string::npos || last < entry) return "";
    const size_t type = last + 8;
    return compiled.ptx.substr(type, compiled.ptx.find(' ', type) - type);
}

// A right text for task 1.
inline std::string source_by_test(const Elementwise& what) {
    std::string head = what.out.type + "* out_", body;
    for (const Parameter& one : what.in) {
        head += one.is_array ? ", const " + one.type + "* _" + one.name
                             : ", " + one.type + " " + one.name;
        if (one.is_array) body += one.type + " " + one.name + " = _" + one.name + "[i_];\n";
    }
    return "extern \"C\" __global__ void " + what.name + "(" + head +
           ", long long n_) {\n"
           "long long i_ = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
           "if (i_ >= n_) return;\n" +
           body + "out_[i_] = " + what.expression + ";\n}\n";
}

inline Compiled compiled_by_test(const Elementwise& what) {
    return compiled_by_test(source_by_test(what), what.name + ".cu", what.name);
}

template <class T>
std::vector<T> numbers(size_t n, uint64_t seed, float low, float high) {
    const auto floats = wb::random_floats(n, seed, low, high);
    std::vector<T> out(floats.begin(), floats.end());
    if (sizeof(T) == 8)  // digits that a float does not have
        for (size_t i = 0; i < n; ++i) out[i] *= T(1 + 1e-9 * wb::uniform_float(seed + 99, i));
    return out;
}

constexpr const char* kRoot = "(-b + sqrt(b * b - 4 * a * c)) / (2 * a)";
constexpr const char* kSigmoid = "1 / (1 + exp(-x))";

// The equations of lesson 09: a in (5, 10), b in (10, 20), c in (-0.1, 0.1).
template <class T>
struct Equations {
    explicit Equations(size_t n, uint64_t seed = 1)
        : a(numbers<T>(n, seed, 5, 10)), b(numbers<T>(n, seed + 1, 10, 20)),
          c(numbers<T>(n, seed + 2, -0.1f, 0.1f)), d_a(a), d_b(b), d_c(c) {}
    size_t size() const { return a.size(); }
    std::vector<T> a, b, c;
    wb::DeviceBuffer<T> d_a, d_b, d_c;
};

inline std::vector<float> small_numbers(size_t n, uint64_t seed) {
    const auto whole = wb::random_ints(n, seed, -50, 50);
    return {whole.begin(), whole.end()};
}

inline cudaDeviceProp pretended_card(int major, int minor) {
    cudaDeviceProp card{};
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&card, device));
    card.major = major;
    card.minor = minor;
    return card;
}

}  // namespace
