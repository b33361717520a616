// SPDX-License-Identifier: MIT
// Lesson 35: kernels are launched with arguments of any type.
#include "checks.h"

namespace {

// launch() of a kernel with one array and one value: x times k, where k has the declared type.
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
    unsigned char bytes[8];  // the size of an Argument's storage, which holds only the value
    std::memset(bytes, 0xCD, sizeof bytes);
    std::memcpy(bytes, &given, sizeof given);
    Declared read;
    std::memcpy(&read, bytes, sizeof read);
    const double of_output = value;
    Declared read_of_output;
    std::memcpy(&read_of_output, &of_output, sizeof read_of_output);
    const auto with = [&](Declared k) {
        return [&x, k] {
            std::vector<double> out;
            for (const double one : x) out.push_back(one * double(k));
            return out;
        };
    };
    wb::recognize<double>(
        got,
        want,
        {{"the bytes of the value are read as the declared type, which the value does not "
          "have: convert it first",
          with(read)},
         {"the value is converted to the type of the output, a double, and its bytes are read as "
          "the type that is declared for this parameter",
          with(read_of_output)}});
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

}  // namespace

TEST_CASE("task 4: the number of elements is passed as a long long", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    wb::DeviceBuffer<int> d_x(100), d_out(100);
    std::optional<long long> got;
    bool launched = false;
    for (size_t k = 0; k < 8 && !launched; ++k) {
        wb::JitWatch watch;
        watch.argument = 2;   // the number of elements, after the output and x
        watch.fail_call = k;  // so that no kernel runs with a wrong number
        wb::overwrite_stack();
        try {
            launch(kernel.function(), what, d_out.get(), {d_x.get()}, 100, nullptr);
        } catch (const std::exception&) {
        }
        launched = watch.launches() > 0;
        if (launched) got = watch.calls[k].argument;
    }
    {
        INFO("launch() launches nothing");
        REQUIRE(launched);
    }
    INFO("for 100 elements the kernel gets "
         << got.value_or(0) << " as the number of elements: it declares a long long, "
         << "and all eight bytes are read at the address of what is passed");
    const bool arrives = !got || *got == 100;  // with all arguments in one buffer, `got` is empty
    CHECK(arrives);
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

TEST_CASE("task 4: at least one thread for each of 2^31 elements", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    wb::DeviceBuffer<int> d_x(1), d_out(1);
    for (const long long n : {300'000LL, 1LL << 31}) {
        unsigned blocks = 0, threads = 0;
        // The launch fails, and so does each call before it: only the grid is checked.
        for (size_t k = 0; k < 8 && threads == 0; ++k) {
            wb::JitWatch watch;
            watch.fail_call = k;
            try {
                launch(kernel.function(), what, d_out.get(), {d_x.get()}, n, nullptr);
            } catch (const std::exception&) {
            }
            if (watch.launches() > 0)
                blocks = watch.calls[k].blocks, threads = watch.calls[k].threads;
        }
        INFO("for " << n << " elements launch() asks for " << blocks << " blocks of " << threads
                    << " threads");
        const bool a_block_may_have_1024_threads = threads >= 1 && threads <= 1024;
        CHECK(a_block_may_have_1024_threads);
        const bool enough_for_all = (long long)(blocks)*threads >= n;
        CHECK(enough_for_all);
    }
}

TEST_CASE("task 4: one launch, in the stream that it is given", "[task4]") {
    const auto what = described("copy_of", "int x", "int out", "x", "a");
    const OwnKernel kernel(compiled_by_test(what));
    const std::vector<int> values = wb::random_ints(5000, 9, -1000, 1000);
    wb::DeviceBuffer<int> d_x(values), d_out(5000);
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaDeviceSynchronize());  // waits for the fills above: `stream` does not
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
