// SPDX-License-Identifier: MIT
// Checks of lesson 35, one for each thing that a task promises; reference.h has what
// they compare with.
#pragma once

#include "reference.h"

namespace {

template <class T>
std::string roots_of() {
    const std::string t = type_name<T>();
    return t + " a, " + t + " b, " + t + " c";
}

template <class T>
void check_source_of_roots(const std::string& kinds) {
    const T one = T(0.07);
    const bool value = kinds[2] == 'v';
    const auto what = described("roots", roots_of<T>(), type_name<T>() + " root", kRoot, kinds);
    const OwnKernel kernel(compiled_by_test(kernel_source(what), "roots.cu", "roots"));
    for (const int n : kSizes) {
        CAPTURE(n);
        const Equations<T> e(n);
        const T* d[] = {e.d_a.get(), e.d_b.get(), e.d_c.get()};
        const auto got = wb::output_of<T>(n, wb::guard(kGuard), [&](T* d_root) {
            kernel.run({&d_root, &d[0], &d[1], value ? (const void*)&one : &d[2]}, n);
        });
        check_roots<T>(got, e, value ? &one : nullptr);
    }
}

// The text is accepted, and computes a + b, whatever a and b are called.
void check_names(const std::string& a, const std::string& b) {
    CAPTURE(a, b);
    const auto what =
        described("sum_of_two", "int " + a + ", int " + b, "int sum", a + " + " + b, "av");
    const OwnKernel kernel(compiled_by_test(kernel_source(what), "sum_of_two.cu", "sum_of_two"));
    const std::vector<int> values = wb::random_ints(1000, 3, -1000, 1000);
    const wb::DeviceBuffer<int> d_values(values);
    const int* d_a = d_values.get();
    const int add = 12345;
    std::vector<int> want;
    for (const int value : values) want.push_back(value + add);
    const auto got = wb::output_of<int>(1000, wb::guard(kGuard), [&](int* d_sum) {
        kernel.run({&d_sum, &d_a, &add}, 1000);
    });
    CHECK_ARRAYS(got, want);
}

// A kernel that is extern "C", in a namespace, or an instance of a template: adds `add` to x.
void check_kernel(const char* source, const char* name, int add) {
    CAPTURE(name);
    const Compiled compiled = compile(source, "names.cu", name, {});
    {
        INFO("symbol is \"" << compiled.symbol << "\", and the PTX has no kernel of that name");
        const bool symbol_is_in_the_ptx =
            !compiled.symbol.empty() &&
            compiled.ptx.find(".entry " + compiled.symbol + "(") != std::string::npos;
        REQUIRE(symbol_is_in_the_ptx);
    }
    const OwnKernel kernel(compiled);
    const std::vector<int> values = wb::random_ints(300, 4, -1000, 1000);
    wb::DeviceBuffer<int> d_x(values);
    int* x = d_x.get();
    kernel.run({&x}, 300);
    std::vector<int> want;
    for (const int value : values) want.push_back(value + add);
    CHECK_ARRAYS(d_x.download(), want);
}

constexpr const char* kNames =
    R"(template <class T, int kAdd> __device__ void add_to(T* x, long long n) {
    const long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += kAdd;
}
extern "C" __global__ void plain(int* x, long long n) { add_to<int, 1>(x, n); }
namespace inner { __global__ void hidden(int* x, long long n) { add_to<int, 2>(x, n); } }
template <class T, int kAdd> __global__ void adds(T* x, long long n) { add_to<T, kAdd>(x, n); }
)";

// The text between `before` and the next character that is no letter, digit or point.
std::string word_after(const std::string& text, const std::string& before) {
    const size_t at = text.find(before);
    if (at == std::string::npos) return "";
    size_t end = at + before.size();
    while (end < text.size() && (std::isalnum(text[end]) || text[end] == '_')) ++end;
    return text.substr(at + before.size(), end - at - before.size());
}

void check_architecture() {
    const std::string want = "sm_" + capability();
    const Compiled compiled = compile(kNames, "names.cu", "plain", {});
    const std::string got = word_after(compiled.ptx, ".target ");
    INFO("the PTX is for " << (got.empty() ? "no architecture" : got)
                           << ", and the current device is " << want);
    const bool for_this_device = got == want;
    CHECK(for_this_device);
}

cudaDeviceProp pretended_card(int major, int minor) {
    cudaDeviceProp card{};
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&card, device));
    card.major = major;
    card.minor = minor;
    return card;
}

Compiled adder() {
    return compiled_by_test(kNames, "names.cu", "plain");
}

// launch() of a kernel with one array and one value: x times k, which has the declared type.
template <class Declared, class Given>
void check_value(Given given) {
    const std::string declared = type_name<Declared>(), was = type_name<Given>();
    const double value = double(given);
    CAPTURE(declared, was, value);
    const auto what = described(
        "times_value", "double x, " + declared + " k", "double out", "x * (double)k", "av");
    const OwnKernel kernel(compiled_by_test(what));
    const std::vector<double> x = numbers<double>(100, 5, -8, 8);
    const wb::DeviceBuffer<double> d_x(x);
    std::vector<double> want;
    for (const double one : x) want.push_back(one * double(Declared(given)));
    const auto got = wb::output_of<double>(100, wb::guard(kGuard), [&](double* d_out) {
        launch(kernel.function(), what, d_out, {d_x.get(), given}, 100, nullptr);
    });
    unsigned char bytes[8];  // what Argument holds, which has no more than the value
    std::memset(bytes, 0xCD, sizeof bytes);
    std::memcpy(bytes, &given, sizeof given);
    Declared read;
    std::memcpy(&read, bytes, sizeof read);
    wb::recognize<double>(
        got,
        want,
        {{"the bytes of the value are read as the type that is declared, which the value does not "
          "have: it has to be converted",
          [&] {
              std::vector<double> out;
              for (const double one : x) out.push_back(one * double(read));
              return out;
          }}});
    CHECK_ARRAYS(got, want);
}

template <class T>
void check_launch(int n) {
    CAPTURE(n);
    const auto what = described("roots", roots_of<T>(), type_name<T>() + " root", kRoot, "aaa");
    static const OwnKernel kernel(compiled_by_test(what));
    const Equations<T> e(n);
    const auto got = wb::output_of<T>(n, wb::guard(kGuard), [&](T* d_root) {
        launch(
            kernel.function(), what, d_root, {e.d_a.get(), e.d_b.get(), e.d_c.get()}, n, nullptr);
    });
    check_roots<T>(got, e);
}

template <class T>
void check_elementwise_roots(ElementwiseKernel& roots, int n, uint64_t seed = 1) {
    const std::string type = type_name<T>();
    CAPTURE(n, type);
    const Equations<T> e(n, seed);
    const auto got = wb::output_of<T>(n, wb::guard(kGuard), [&](T* d_root) {
        roots(d_root, {e.d_a.get(), e.d_b.get(), e.d_c.get()}, n);
    });
    check_roots<T>(got, e);
}

// x * factor by a kernel; x are small whole numbers.
template <class T>
std::vector<T> multiplied(ElementwiseKernel& kernel, const std::vector<T>& x, Argument factor) {
    const wb::DeviceBuffer<T> d_x(x);
    return wb::output_of<T>(x.size(), wb::guard(kGuard), [&](T* d_out) {
        kernel(d_out, {d_x.get(), factor}, (long long)x.size());
    });
}

template <class T>
std::vector<T> times(const std::vector<T>& x, T factor) {
    std::vector<T> out;
    for (const T value : x) out.push_back(value * factor);
    return out;
}

// What `kernel` makes of x and a factor if it was compiled for another type: it takes the bytes of
// the array for elements of that type, and those of the factor.
template <class Other, class T>
std::vector<T> as_if_compiled_for(const std::vector<T>& x, T factor) {
    std::vector<T> out(x.size());
    std::memset(out.data(), 0xFF, x.size() * sizeof(T));
    Other f;
    std::memcpy(&f, &factor, sizeof f);
    for (size_t i = 0; i < x.size(); ++i) {
        Other element;
        std::memcpy(
            &element, reinterpret_cast<const char*>(x.data()) + i * sizeof element, sizeof element);
        element = element * f;
        std::memcpy(
            reinterpret_cast<char*>(out.data()) + i * sizeof element, &element, sizeof element);
    }
    return out;
}

// Compares x * factor.
template <class T>
void check_product(const std::vector<T>& got, const std::vector<T>& x, T factor) {
    std::vector<wb::Mistake<T>> mistakes;
    if constexpr (sizeof(T) >= sizeof(float) && !std::is_same_v<T, float>)
        mistakes.push_back(
            {"the kernel that was compiled for float is launched with arrays of another type: "
             "what tells the two apart in the cache?",
             [&] { return as_if_compiled_for<float>(x, factor); }});
    wb::recognize<T>(got, times(x, factor), mistakes);
    CHECK_ARRAYS(got, times(x, factor));
}

std::vector<float> small_numbers(size_t n, uint64_t seed) {
    const auto whole = wb::random_ints(n, seed, -50, 50);
    return {whole.begin(), whole.end()};
}

}  // namespace
