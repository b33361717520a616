// SPDX-License-Identifier: MIT
// Lesson 35: kernels are written as text, compiled for this device, and loaded.
#include "checks.h"

#include <thread>

namespace {

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

// The text compiles and computes a + b, for these names of the two parameters.
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

// Checks that the kernel `name` of `source` is found and adds `add` to x.
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

Compiled adder() {
    return compiled_by_test(kNames, "names.cu", "plain");
}

}  // namespace

TEST_CASE("task 1: computes a root of double arrays", "[task1]") {
    check_source_of_roots<double>("aaa");
}

TEST_CASE("task 1: computes a root of float arrays", "[task1]") {
    check_source_of_roots<float>("aaa");
}

TEST_CASE("task 1: one value for all elements in place of an array", "[task1]") {
    check_source_of_roots<double>("aav");
    check_source_of_roots<float>("aav");
}

TEST_CASE("task 1: each parameter has its own type", "[task1]") {
    const auto what = described("mixed",
                                "unsigned char x, long long k, short y, float z",
                                "double sum",
                                "(double)(x * k) + y * z",
                                "avav");
    const OwnKernel kernel(compiled_by_test(kernel_source(what), "mixed.cu", "mixed"));
    const int n = 500;
    const auto x = wb::random_ints(n, 1, 0, 255), y = wb::random_ints(n, 2, -3000, 3000);
    const wb::DeviceBuffer<unsigned char> d_x(std::vector<unsigned char>(x.begin(), x.end()));
    const wb::DeviceBuffer<short> d_y(std::vector<short>(y.begin(), y.end()));
    const unsigned char* px = d_x.get();
    const short* py = d_y.get();
    const long long k = 5'000'000'000;
    const float z = 0.5f;
    std::vector<double> want;
    for (int i = 0; i < n; ++i) want.push_back(double(x[i] * k) + double(float(y[i]) * z));
    const auto got = wb::output_of<double>(n, wb::guard(kGuard), [&](double* d_sum) {
        kernel.run({&d_sum, &px, &k, &py, &z}, n);
    });
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 1: parameters may have any names", "[task1]") {
    check_names("i", "n");
    check_names("x", "out");
    check_names("index", "size");
    check_names("a", "aa");
}

TEST_CASE("task 1: names of functions in the expression stay as they are", "[task1]") {
    const auto what = described("largest",
                                "double a, double x",
                                "double out",
                                "a > x ? fmax(a, x) : fmax(x, a) + (exp(x) - exp(x))",
                                "aa");
    const OwnKernel kernel(compiled_by_test(kernel_source(what), "largest.cu", "largest"));
    const auto a = numbers<double>(700, 1, -1, 1), x = numbers<double>(700, 2, -1, 1);
    const wb::DeviceBuffer<double> d_a(a), d_x(x);
    const double *pa = d_a.get(), *px = d_x.get();
    std::vector<double> want;
    for (size_t i = 0; i < a.size(); ++i) want.push_back(std::max(a[i], x[i]));
    const auto got = wb::output_of<double>(700, wb::guard(kGuard), [&](double* d_out) {
        kernel.run({&d_out, &pa, &px}, 700);
    });
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 1: a kernel without an input", "[task1]") {
    const auto what = described("constant", "", "float out", "2.5f", "");
    const OwnKernel kernel(compiled_by_test(kernel_source(what), "constant.cu", "constant"));
    const auto got = wb::output_of<float>(
        300, wb::guard(kGuard), [&](float* d_out) { kernel.run({&d_out}, 300, 256); });
    CHECK_ARRAYS(got, std::vector<float>(300, 2.5f));
}

TEST_CASE("task 1: the name of the kernel stays as it is", "[task1]") {
    const auto what = described("my_kernel_7", "double x", "double out", "x", "a");
    const Compiled compiled =
        compiled_by_test(kernel_source(what), "my_kernel_7.cu", "my_kernel_7");
    INFO("its name in the PTX is " << compiled.symbol << ", and as extern \"C\" it is my_kernel_7");
    const bool plain_name = compiled.symbol == "my_kernel_7";
    CHECK(plain_name);
}

TEST_CASE("task 1: the number of elements is a long long", "[task1]") {
    const auto what = described("copy_of", "int x, float y", "int out", "x", "av");
    const Compiled compiled = compiled_by_test(kernel_source(what), "copy_of.cu", "copy_of");
    const std::string bits = last_parameter(compiled);
    INFO("the last parameter of the kernel, the number of elements, is ."
         << bits << " in the PTX, want .u64: a long long, which is what launch() passes");
    const bool has_eight_bytes = bits.size() == 3 && bits.substr(1) == "64";
    CHECK(has_eight_bytes);
}

TEST_CASE("task 2: compiles kernels of any name", "[task2]") {
    check_kernel(kNames, "plain", 1);
    check_kernel(kNames, "inner::hidden", 2);
    check_kernel(kNames, "adds<int, 7>", 7);
    check_kernel(kNames, "adds<unsigned int, 9>", 9);
}

TEST_CASE("task 2: for the architecture of the current device", "[task2]") {
    check_architecture();
    for (const auto& [major, minor] : {std::pair(8, 0), {8, 6}, {9, 0}}) {
        CAPTURE(major, minor);
        const cudaDeviceProp card = pretended_card(major, minor);
        wb::CallWatch watch;
        watch.card = card;
        check_architecture();
    }
}

TEST_CASE("task 2: a refused source is a CompileError with the compiler's log", "[task2]") {
    const char* source = "extern \"C\" __global__ void k(float* x) {\n    x[0] = 1;\n"
                         "    x[1] = undeclared + 1;\n}\n";
    const std::string log = thrown_by<CompileError>("compile() of a source with an error",
                                                    [&] { compile(source, "bad.cu", "k", {}); });
    INFO("what() should have the whole log, which begins with bad.cu(3): error; it is\n" << log);
    const bool has_the_log = log.find("bad.cu(3): error") != std::string::npos &&
                             log.find("undeclared") != std::string::npos;
    CHECK(has_the_log);
}

TEST_CASE("task 2: the log has all lines, and no more than that", "[task2]") {
    std::string source = "extern \"C\" __global__ void k(float* x) {\n";
    for (int i = 0; i < 40; ++i) source += "    int unused_" + std::to_string(i) + ";\n";
    const Compiled warned = compile(source + "}\n", "warned.cu", "k", {});
    {
        INFO("40 variables are unused, and the log is\n" << warned.log);
        const bool first_and_last = warned.log.find("unused_0") != std::string::npos &&
                                    warned.log.find("unused_39") != std::string::npos;
        CHECK(first_and_last);
    }
    const Compiled clean = compile(kNames, "names.cu", "plain", {});
    INFO("the source has no warnings, and the log has  " << clean.log.size() << " characters");
    const bool empty = clean.log.empty();
    CHECK(empty);
}

TEST_CASE("task 2: options are passed on", "[task2]") {
    const char* source = "extern \"C\" __global__ void k(int* x, long long n) {\n"
                         "    const long long i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (i < n) x[i] = FIRST * 100 + SECOND;\n}\n";
    const OwnKernel kernel(compile(source, "k.cu", "k", {"-DFIRST=3", "--define-macro=SECOND=4"}));
    wb::DeviceBuffer<int> d_x(50);
    int* x = d_x.get();
    kernel.run({&x}, 50);
    CHECK_ARRAYS(d_x.download(), std::vector<int>(50, 304));
}

TEST_CASE("task 2: tools can name the lines of the source", "[task2]") {
    const Compiled compiled = compile(kNames, "names.cu", "plain", {});
    const bool lines = compiled.ptx.find("\t.loc\t") != std::string::npos;
    const bool file = compiled.ptx.find("names.cu\"") != std::string::npos;
    INFO((lines ? "the PTX does not name the file: how does NVRTC know it?"
                : "the PTX has no .loc: which option writes the numbers of the lines?"));
    CHECK((lines && file));
}

TEST_CASE("task 2: a wrong option, and a kernel that is not there", "[task2]") {
    thrown_by<JitError>("compile() with an option that NVRTC does not know", [] {
        try {
            compile(kNames, "names.cu", "plain", {"--no-such-option"});
        } catch (const CompileError&) {
            throw std::runtime_error("CompileError");  // only the option was refused
        }
    });
    thrown_by<JitError>("compile() for a kernel that the source does not have",
                        [] { compile(kNames, "names.cu", "absent", {}); });
}

TEST_CASE("task 2: programs are destroyed, also if the source is refused", "[task2]") {
    wb::JitWatch watch;
    compile(kNames, "names.cu", "plain", {});
    try {
        compile("not C++", "bad.cu", "plain", {});
    } catch (const JitError&) {
    }
    const size_t made = watch.count({"nvrtcCreateProgram"}),
                 destroyed = watch.count({"nvrtcDestroyProgram"});
    INFO(made << " programs made, " << destroyed << " destroyed");
    const bool as_many_destroyed = made >= 2 && made == destroyed;
    CHECK(as_many_destroyed);
}

TEST_CASE("task 2: each failed call is an exception", "[task2]") {
    check_failing_jit_calls("compile()", "nvrtc", [] { compile(kNames, "names.cu", "plain", {}); });
}

TEST_CASE("task 3: loads a kernel by its symbol", "[task3]") {
    for (const char* name : {"plain", "inner::hidden", "adds<int, 5>"}) {
        CAPTURE(name);
        const Compiled compiled = compiled_by_test(kNames, "names.cu", name);
        const Kernel kernel(compiled);
        {
            INFO("function() is null");
            const bool loaded = kernel.function() != nullptr;
            REQUIRE(loaded);
        }
        const char* found = nullptr;
        DRIVER_CHECK(cuFuncGetName(&found, kernel.function()));
        const std::string got = found;
        INFO("function() is " << got << ", and the symbol was " << compiled.symbol);
        const bool right_kernel = got == compiled.symbol;
        CHECK(right_kernel);
    }
}

TEST_CASE("task 3: in a host thread that has made no CUDA call", "[task3]") {
    const Compiled compiled = adder();
    std::string problem;
    bool loaded = false;
    std::thread([&] {
        try {
            const Kernel kernel(compiled);
            loaded = kernel.function() != nullptr;
        } catch (const std::exception& error) {
            problem = error.what();
        }
    }).join();
    INFO((problem.empty() ? "function() is null" : problem));
    CHECK(loaded);
}

TEST_CASE("task 3: PTX that cannot be loaded is an exception", "[task3]") {
    Compiled wrong = adder();
    wrong.symbol = "absent";
    thrown_by<JitError>("Kernel() with a symbol that the PTX does not have",
                        [&] { const Kernel kernel(wrong); });
}

TEST_CASE("task 3: the destructor unloads the module", "[task3]") {
    Compiled compiled = adder();
    wb::JitWatch watch;
    { const Kernel kernel(compiled); }
    compiled.symbol = "absent";
    try {
        const Kernel kernel(compiled);
    } catch (const std::exception&) {
    }
    INFO(watch.loads() << " modules loaded, " << watch.unloads()
                       << " unloaded (the second one has no kernel of the name)");
    const bool as_many_unloaded = watch.loads() >= 2 && watch.loads() == watch.unloads();
    CHECK(as_many_unloaded);
}

TEST_CASE("task 3: each failed call is an exception", "[task3]") {
    const Compiled compiled = adder();
    check_failing_jit_calls("Kernel()", "cu", [&] { const Kernel kernel(compiled); });
}
