// SPDX-License-Identifier: MIT
// Lesson 35: a cache of kernels keeps different kernels apart, and a failure is not cached.
#include "checks.h"

namespace {

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

// The result of a kernel that was compiled for another type: it reads the bytes of the array and of
// the factor as values of that type.
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
             "does the key contain the type?",
             [&] { return as_if_compiled_for<float>(x, factor); }});
    wb::recognize<T>(got, times(x, factor), mistakes);
    CHECK_ARRAYS(got, times(x, factor));
}

}  // namespace

TEST_CASE("task 5: roots and sigmoids of float and double", "[task5]") {
    KernelCache cache;
    ElementwiseKernel roots(cache, "T a, T b, T c", "T root", kRoot, "roots");
    ElementwiseKernel sigmoid(cache, "T x", "T out", kSigmoid, "sigmoid");
    for (const int n : {1, 256, 257, 3000}) {
        check_elementwise_roots<double>(roots, n);
        check_elementwise_roots<float>(roots, n);
    }
    const auto check = [&](auto t) {
        using T = decltype(t);
        const auto x = numbers<T>(2000, 7, -30, 30);
        const wb::DeviceBuffer<T> d_x(x);
        check_sigmoid<T>(wb::output_of<T>(2000,
                                          wb::guard(kGuard),
                                          [&](T* d_out) { sigmoid(d_out, {d_x.get()}, 2000); }),
                         x);
    };
    check(0.0f);
    check(0.0);
}

TEST_CASE("task 5: types as they are declared", "[task5]") {
    KernelCache cache;
    ElementwiseKernel roots(cache, "double a, double b, double c", "double root", kRoot, "roots");
    check_elementwise_roots<double>(roots, 1000);
    wb::DeviceBuffer<float> d_x(10);
    wb::DeviceBuffer<double> d_out(10);
    thrown_by<std::invalid_argument>("an array of float where double is declared", [&] {
        roots(d_out.get(), {d_x.get(), d_x.get(), d_x.get()}, 10);
    });
}

TEST_CASE("task 5: another type is another kernel", "[task5]") {
    KernelCache cache;
    ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
    const auto floats = small_numbers(1000, 1);
    const std::vector<double> doubles(floats.begin(), floats.end());
    const std::vector<int> ints(floats.begin(), floats.end());
    CHECK_ARRAYS(multiplied<float>(product, floats, 0.5f), times(floats, 0.5f));
    check_product<double>(multiplied<double>(product, doubles, 0.25), doubles, 0.25);
    CHECK_ARRAYS(multiplied<int>(product, ints, 3), times(ints, 3));
    CHECK_ARRAYS(multiplied<float>(product, floats, -2.0f), times(floats, -2.0f));
}

TEST_CASE("task 5: an array in place of a value is another kernel", "[task5]") {
    KernelCache cache;
    ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
    const auto x = small_numbers(1000, 1);
    const wb::DeviceBuffer<float> d_x(x);
    std::vector<float> squares;
    for (const float value : x) squares.push_back(value * value);
    CHECK_ARRAYS(multiplied<float>(product, x, 3.0f), times(x, 3.0f));
    CHECK_ARRAYS(multiplied<float>(product, x, d_x.get()), squares);
    CHECK_ARRAYS(multiplied<float>(product, x, 5.0f), times(x, 5.0f));
}

TEST_CASE("task 5: another expression is another kernel, even under the same name", "[task5]") {
    KernelCache cache;
    ElementwiseKernel product(cache, "T x, T y", "T out", "x * y", "both");
    ElementwiseKernel sum(cache, "T x, T y", "T out", "x + y", "both");
    ElementwiseKernel swapped(cache, "T y, T x", "T out", "x - 2 * y", "both");
    const auto x = small_numbers(500, 1);
    std::vector<float> sums, differences;
    for (const float value : x) sums.push_back(value + 4);
    for (const float value : x) differences.push_back(4 - 2 * value);
    CHECK_ARRAYS(multiplied<float>(product, x, 4.0f), times(x, 4.0f));
    CHECK_ARRAYS(multiplied<float>(sum, x, 4.0f), sums);
    CHECK_ARRAYS(multiplied<float>(swapped, x, 4.0f), differences);
    CHECK_ARRAYS(multiplied<float>(product, x, 4.0f), times(x, 4.0f));
}

TEST_CASE("task 5: another name is another kernel, even for the same expression", "[task5]") {
    KernelCache cache;
    for (const char* name : {"first", "second", "first"}) {
        const auto kernel = cache.get(described(name, "int x", "int out", "x + 1", "a"), {});
        const bool there_is_a_kernel = kernel && kernel->function();
        REQUIRE(there_is_a_kernel);
        const char* found = nullptr;
        DRIVER_CHECK(cuFuncGetName(&found, kernel->function()));
        const std::string got = found;
        INFO("the kernel that was asked for is " << name << ", and get() returned " << got);
        const bool right_kernel = got == name;
        CHECK(right_kernel);
    }
}

TEST_CASE("task 5: other options are another kernel", "[task5]") {
    KernelCache cache;
    const auto x = small_numbers(500, 1);
    for (const int factor : {3, 4, 3}) {
        ElementwiseKernel scaled(cache,
                                 "T x, T y",
                                 "T out",
                                 "x * FACTOR + 0 * y",
                                 "scaled",
                                 {"-DFACTOR=" + std::to_string(factor)});
        CHECK_ARRAYS(multiplied<float>(scaled, x, 1.0f), times(x, float(factor)));
    }
}

TEST_CASE("task 5: another architecture is another kernel", "[task5]") {
    KernelCache cache;
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    cache.get(what, {});
    const cudaDeviceProp card = pretended_card(8, 0);
    wb::CallWatch runtime;
    runtime.card = card;
    wb::JitWatch watch;
    try {
        cache.get(what, {});
    } catch (const JitError&) {  // the device is older than the pretended one and refuses the PTX
    }
    INFO("the current device has another architecture than before, and "
         << (watch.compilations() ? "the kernel was compiled for the old one"
                                  : "nothing was compiled: the old kernel was returned"));
    bool compiled = false;
    for (const wb::JitCall& call : watch.calls)
        for (const std::string& option : call.options)
            compiled |= option.find("_80") != std::string::npos;
    CHECK(compiled);
}

TEST_CASE("task 5: a refused expression is a CompileError, each time", "[task5]") {
    KernelCache cache;
    ElementwiseKernel wrong(cache, "T x", "T out", "x + undeclared", "shifted");
    wb::DeviceBuffer<float> d_x(10), d_out(10);
    for (int time = 1; time <= 2; ++time) {
        CAPTURE(time);
        const std::string log = thrown_by<CompileError>(
            "a call with a wrong expression", [&] { wrong(d_out.get(), {d_x.get()}, 10); });
        INFO("what() should be the compiler's log, with the file shifted.cu; it is\n" << log);
        const bool has_the_log = log.find("shifted.cu(") != std::string::npos &&
                                 log.find("undeclared") != std::string::npos;
        CHECK(has_the_log);
    }
    ElementwiseKernel right(cache, "T x, T y", "T out", "x * y", "shifted");
    const auto x = small_numbers(100, 1);
    CHECK_ARRAYS(multiplied<float>(right, x, 2.0f), times(x, 2.0f));
}

TEST_CASE("task 5: the cache keeps its kernels loaded, and no longer than it lives", "[task5]") {
    const auto x = small_numbers(100, 1);
    wb::JitWatch watch;
    {
        KernelCache cache;
        for (const float factor : {2.0f, 3.0f}) {
            ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
            CHECK_ARRAYS(multiplied<float>(product, x, factor), times(x, factor));
        }
    }
    INFO(watch.loads() << " modules loaded, " << watch.unloads() << " unloaded");
    const bool as_many_unloaded = watch.loads() > 0 && watch.loads() == watch.unloads();
    CHECK(as_many_unloaded);
}
