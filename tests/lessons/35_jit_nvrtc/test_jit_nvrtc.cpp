// SPDX-License-Identifier: MIT
// Lesson 35: a kernel is written as text, compiled for this device, loaded, launched with arguments
// of any type, and kept, so that nothing is compiled twice.
//
// Tolerances: check_roots and check_sigmoid; whole numbers are exact. What tasks 2 to 4 get is made
// by the test. Compilations and loads are counted from the calls of NVRTC and of the driver.
#include "checks.h"

#include <thread>

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
    INFO("nothing is to be said, and the log has " << clean.log.size() << " characters");
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
    thrown_by<JitError>("compile() with an option that NVRTC does not know",
                        [] { compile(kNames, "names.cu", "plain", {"--no-such-option"}); });
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

TEST_CASE("task 3: what was loaded is unloaded", "[task3]") {
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

TEST_CASE("task 4: launches with arrays", "[task4]") {
    for (const int n : kSizes) check_launch<double>(n);
    check_launch<float>(1000);
}

TEST_CASE("task 4: values of each width", "[task4]") {
    check_value<signed char>(static_cast<signed char>(-100));
    check_value<unsigned char>(static_cast<unsigned char>(200));
    check_value<short>(short(-30000));
    check_value<unsigned short>(static_cast<unsigned short>(60000));
    check_value<int>(-2'000'000'000);
    check_value<unsigned int>(4'000'000'000u);
    check_value<long long>(-5'000'000'000LL);
    check_value<unsigned long long>(9'000'000'000ULL);
    check_value<float>(0.375f);
    check_value<double>(0.1);
}

TEST_CASE("task 4: an int where another type is declared", "[task4]") {
    check_value<long long>(7);
    check_value<long long>(-7);
    check_value<double>(3);
    check_value<float>(-3);
    check_value<short>(-12);
    check_value<unsigned long long>(12u);
}

TEST_CASE("task 4: a double where another type is declared", "[task4]") {
    check_value<float>(0.25);
    check_value<int>(-41.0);
    check_value<double>(0.1f);
    check_value<long long>(6e9);
}

TEST_CASE("task 4: many arguments", "[task4]") {
    const auto what = described("many",
                                "float a, int b, double c, short d, float e, long long f, char g",
                                "double out",
                                "a + 2.0 * b + 4 * c + 8 * d + 16 * e + 32 * f",
                                "avavavv");
    Elementwise known = what;
    known.in.back().type = "signed char";
    const OwnKernel kernel(compiled_by_test(known));
    const int n = 200;
    const auto a = small_numbers(n, 1), e = small_numbers(n, 3);
    const auto c = wb::random_ints(n, 2, -50, 50);
    const wb::DeviceBuffer<float> d_a(a), d_e(e);
    const wb::DeviceBuffer<double> d_c(std::vector<double>(c.begin(), c.end()));
    std::vector<double> want;
    for (int i = 0; i < n; ++i)
        want.push_back(a[i] + 2.0 * 3 + 4.0 * c[i] + 8 * -2 + 16 * e[i] + 32 * 5e9);
    const auto got = wb::output_of<double>(n, wb::guard(kGuard), [&](double* d_out) {
        launch(kernel.function(),
               known,
               d_out,
               {d_a.get(), 3, d_c.get(), -2, d_e.get(), 5e9, 1},
               n,
               nullptr);
    });
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 4: launches nothing for no elements", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    wb::DeviceBuffer<int> d_x(1), d_out(1);
    wb::JitWatch watch;
    launch(kernel.function(), what, d_out.get(), {d_x.get()}, 0, nullptr);
    const size_t for_none = watch.launches();
    launch(kernel.function(), what, d_out.get(), {d_x.get()}, 1, nullptr);
    CHECK_RESULT(for_none, 0);
    CHECK_RESULT(watch.launches() - for_none, 1);
}

TEST_CASE("task 4: one launch, in the stream that it is given", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    const std::vector<int> values = wb::random_ints(5000, 9, -1000, 1000);
    wb::DeviceBuffer<int> d_x(values), d_out(5000);
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaDeviceSynchronize());  // the fills above, for a stream that does not wait
    size_t launches = 0, elsewhere = 0;
    {
        wb::JitWatch watch;
        launch(kernel.function(), what, d_out.get(), {d_x.get()}, 5000, stream);
        for (const wb::JitCall& call : watch.calls)
            elsewhere += call.name.rfind("cuLaunch", 0) == 0 && call.stream != stream;
        launches = watch.launches();
    }
    const auto got = d_out.download();
    CUDA_CHECK(cudaStreamDestroy(stream));
    CHECK_ARRAYS(got, values);
    CHECK_RESULT(launches, 1);
    INFO("launch() uses another stream than the one it was given");
    const bool in_the_stream = elsewhere == 0;
    CHECK(in_the_stream);
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    wb::DeviceBuffer<int> d_x(100), d_out(100);
    CUDA_CHECK(cudaMemset(d_x.get(), 0, 400));
    check_failing_jit_calls("launch()", "cuLaunch", [&] {
        launch(kernel.function(), what, d_out.get(), {d_x.get()}, 100, nullptr);
    });
}

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

TEST_CASE("task 5: another expression is another kernel, whatever its name", "[task5]") {
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
    } catch (const JitError&) {  // an older device does not load it
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

TEST_CASE("efficient: the second call compiles nothing, whatever values and sizes",
          "[efficient][task1][task2][task3][task4][task5]") {
    KernelCache cache;
    ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
    wb::DeviceBuffer<float> d_x(small_numbers(1000, 1)), d_out(1000);
    const auto calls = wb::jit_calls([&] {
        for (const int n : {1000, 1000, 10, 999})
            for (const float factor : {1.0f, 2.0f, 3.5f})
                product(d_out.get(), {d_x.get(), factor}, n);
    });
    CHECK(calls.compilations == 1);
    CHECK(calls.module_loads == 1);
    CHECK(calls.host_launches == 12);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: a new type compiles once", "[efficient][task1][task2][task3][task4][task5]") {
    KernelCache cache;
    ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
    wb::DeviceBuffer<float> d_x(small_numbers(100, 1)), d_out(100);
    wb::DeviceBuffer<double> d_y(std::vector<double>(100, 2.0)), d_double(100);
    const auto calls = wb::jit_calls([&] {
        for (int i = 0; i < 5; ++i) {
            product(d_out.get(), {d_x.get(), 2}, 100);
            product(d_double.get(), {d_y.get(), 2}, 100);
        }
    });
    CHECK(calls.compilations == 2);
    CHECK(calls.module_loads == 2);
}

TEST_CASE("efficient: equal kernels share one compilation",
          "[efficient][task1][task2][task3][task4][task5]") {
    KernelCache cache;
    wb::DeviceBuffer<float> d_x(small_numbers(100, 1)), d_out(100);
    const auto calls = wb::jit_calls([&] {
        for (int i = 0; i < 4; ++i) {
            ElementwiseKernel product(cache, "T x, T factor", "T out", "x * factor", "product");
            product(d_out.get(), {d_x.get(), i}, 100);
        }
    });
    CHECK(calls.compilations == 1);
}

TEST_CASE("efficient: roots by one launch, and four transfers for each",
          "[efficient][task1][task2][task3][task4][task5]") {
    const size_t n = 4096;
    KernelCache cache;
    ElementwiseKernel roots(cache, "T a, T b, T c", "T root", kRoot, "roots");
    const Equations<float> e(n);
    wb::DeviceBuffer<float> d_root(n);
    const auto run = [&] { roots(d_root.get(), {e.d_a.get(), e.d_b.get(), e.d_c.get()}, n); };
    run();
    const auto counters = wb::count(run);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes == 3 * n * sizeof(float));
    CHECK(counters->global_load_sectors == 3 * n / 8);
    CHECK(counters->global_store_sectors == n / 8);
    CHECK(counters->double_instructions == 0);
    CHECK(counters->device_allocations == 0);
}
