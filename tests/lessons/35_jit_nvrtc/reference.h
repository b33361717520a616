// SPDX-License-Identifier: MIT
// What lesson 35's test compares with: kernels that it has compiled and loaded itself, formulas on
// the host, and what usual mistakes make of them.
#pragma once

#include "jit_calls.h"
#include "jit_nvrtc.h"
#include "lesson_test.h"

#include <cmath>
#include <limits>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of an output, on a real GPU
constexpr int kSizes[] = {1, 31, 32, 33, 255, 256, 257, 1000, 5000};

// What is declared so, where 'a' in `kinds` stands for an array and 'v' for a value.
inline Elementwise described(const std::string& name, const std::string& in, const std::string& out,
                             const std::string& expression, const std::string& kinds) {
    Elementwise what{name, parsed(in), parsed(out).at(0), expression};
    what.out.is_array = true;
    for (size_t i = 0; i < what.in.size(); ++i) what.in[i].is_array = kinds.at(i) == 'a';
    return what;
}

// The capability of the device, or of the one that a test pretends: "75".
inline std::string capability() {
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return std::to_string(major) + std::to_string(minor);
}

// Fails the test where NVRTC refuses the text, with its log.
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

// A kernel in the device's memory, of which nothing is the student's.
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

// The text of task 1, as the interface describes it.
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

// With c the same for all if `one` is set. Tolerance, as in lesson 09, with u = 2^-24 for float and
// 2^-53 for double: the six roundings are allowed 8 u (|b| + s) / |2 a|, s = sqrt(b b - 4 a c).
template <class T>
void check_roots(const std::vector<T>& got, const Equations<T>& e, const T* one = nullptr) {
    std::vector<T> want;
    std::vector<double> bound;
    const double u = std::numeric_limits<T>::epsilon() / 2.0;
    for (size_t i = 0; i < e.size(); ++i) {
        const long double a = e.a[i], b = e.b[i], c = one ? *one : e.c[i];
        const long double s = std::sqrt(b * b - 4 * a * c);
        want.push_back(T(2 * c / (-b - s)));
        bound.push_back(8 * u * double((b + s) / (2 * a)));
    }
    const auto formula = [&](auto f) {
        return [&, f] {
            std::vector<T> out;
            for (size_t i = 0; i < e.size(); ++i)
                out.push_back(T(f(
                    (long double)e.a[i], (long double)e.b[i], (long double)(one ? *one : e.c[i]))));
            return out;
        };
    };
    const auto root = [](auto a, auto b, auto c) {
        return (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
    };
    const auto tolerance = [&](size_t i) { return bound[i]; };
    wb::recognize<T>(got,
                     want,
                     {{"the arguments arrive in another order: a, b and c have moved by one",
                       formula([=](auto a, auto b, auto c) { return root(b, c, a); })},
                      {"the arguments arrive in another order: a, b and c have moved by two",
                       formula([=](auto a, auto b, auto c) { return root(c, a, b); })},
                      {"the arguments arrive in the reverse order",
                       formula([=](auto a, auto b, auto c) { return root(c, b, a); })},
                      {"every element is computed from the first element of each array",
                       [&] {
                           return std::vector<T>(e.size(),
                                                 T(root((long double)e.a[0],
                                                        (long double)e.b[0],
                                                        (long double)(one ? *one : e.c[0]))));
                       }}},
                     tolerance);
    CHECK_ARRAYS(got, want, tolerance);
}

// Tolerance: exp is good to 2 units, and the sum and the quotient round once each; 8 u relative to
// the true value. Results below the smallest normal number may be 0.
template <class T>
void check_sigmoid(const std::vector<T>& got, const std::vector<T>& x) {
    std::vector<T> want;
    for (const T value : x) want.push_back(T(1 / (1 + std::exp(-(long double)value))));
    const double u = std::numeric_limits<T>::epsilon() / 2.0;
    CHECK_ARRAYS(got, want, [&](size_t i) {
        return 8 * u * std::fabs(double(want[i])) + std::numeric_limits<T>::min();
    });
}

// Fails where `work` does not throw E. `what` begins the message: "compile() of a wrong text".
template <class E>
std::string thrown_by(const char* what, const std::function<void()>& work) {
    std::string text, other = "returned as if nothing had happened";
    bool thrown = false;
    try {
        work();
    } catch (const E& error) {
        thrown = true;
        text = error.what();
    } catch (const std::exception& error) {
        other = std::string("threw `") + error.what() + "`, which is of another class";
    }
    INFO(what << " " << other);
    CHECK(thrown);
    return text;
}

// Each noted call of `work` whose name has `part` in it fails once; that must be an exception.
inline void check_failing_jit_calls(const char* name, const char* part,
                                    const std::function<void()>& work) {
    std::vector<wb::JitCall> calls;
    {
        wb::JitWatch watch;
        work();
        calls = watch.calls;
    }
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const std::string& call = calls[k].name;
        if (call.find(part) == std::string::npos || call.find("Destroy") != std::string::npos ||
            call.find("Unload") != std::string::npos)
            continue;
        ++failed;
        wb::JitWatch watch;
        watch.fail_call = k;
        try {
            work();
            dropped = call;
        } catch (const std::exception&) {
        }
    }
    {
        INFO(name << " makes no call that could fail: where is the work done?");
        const bool calls_were_made = failed > 0;
        CHECK(calls_were_made);
    }
    INFO("when " << dropped << " fails, " << name << " goes on as if it had not");
    const bool every_call_is_checked = dropped.empty();
    CHECK(every_call_is_checked);
}

}  // namespace
