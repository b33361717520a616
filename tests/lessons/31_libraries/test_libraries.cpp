// SPDX-License-Identifier: MIT
// Lesson 31: a product, a linear system, singular values and a filter by libraries, by rows, in one
// stream, and with every status checked.
//
// Tolerances: sums of k products as in lesson 29; residuals of a system and of a decomposition, by
// the bounds in libraries.h, which any backward stable method meets; transforms by 8 2^-24 log2(n)
// times the norm of the samples. The data are random, with NaN in the gaps between rows.
#include "checks.h"

namespace {

// A stream for the student's own handles, which are closed at the end.
class Opened {
public:
    explicit Opened(int samples) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        libraries_ = open_libraries(stream_, samples);
    }
    ~Opened() {
        try {
            close_libraries(libraries_);
        } catch (const std::exception&) {
        }
        cudaStreamDestroy(stream_);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    const Libraries& get() const { return libraries_; }
    cudaStream_t stream() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
    Libraries libraries_{};
};

std::string stream_in_words(cudaStream_t got, cudaStream_t want) {
    return got == want ? "the stream of open_libraries()"
           : got       ? "another stream"
                       : "the default stream";
}

// Checks that all work of a function is done in the stream of its libraries.
void check_stream(const Libraries& libraries, const std::function<void()>& work) {
    wb::LibraryWatch watch;
    wb::CallWatch cuda;
    work();
    std::string stray;
    for (const wb::LibraryCall& call : watch.calls)
        if (call.computes && call.stream != libraries.stream && stray.empty())
            stray = call.name + " works in " + stream_in_words(call.stream, libraries.stream) +
                    ": the stream of its handle was never set to libraries.stream";
    for (const wb::CudaCall& call : cuda.calls) {
        const bool is_launch = call.name.find("Launch") != std::string::npos;
        const bool is_copy = call.name.find("Memcpy") != std::string::npos ||
                             call.name.find("Memset") != std::string::npos;
        if ((is_launch || is_copy) && call.stream != libraries.stream && stray.empty())
            stray = (is_launch ? "a kernel is launched" : call.name + " works") + " in " +
                    stream_in_words(call.stream, libraries.stream);
    }
    CHECK_SAID(stray.empty(), stray);
    CHECK_SAID(watch.computed() != "none", "no library is called: where is the work done?");
}

}  // namespace

TEST_CASE("task 1: makes handles and plans", "[task1]") {
    const Opened opened(100);
    const Libraries& libraries = opened.get();
    CHECK_SAID(libraries.blas != nullptr, "libraries.blas is null: no handle was made");
    CHECK_SAID(libraries.solver != nullptr, "libraries.solver is null: no handle was made");
    REQUIRE(libraries.forward != libraries.inverse);
    CHECK(libraries.stream == opened.stream());
    CHECK(libraries.samples == 100);
    // Each plan is used once and must have the right type and length. The steps are ordered
    // whatever the streams are, since another test checks the streams.
    const Floats in = wb::random_floats(100, 1);
    // There is room for larger plans, so that a wrong plan is recognised and does not write past
    // the end.
    InStream d_in(in, opened.stream()), d_out(40000, opened.stream());
    Scratch<cufftComplex> spectrum(40000, opened.stream());
    CUDA_CHECK(cudaMemsetAsync(spectrum.get(), 0, 40000 * sizeof(cufftComplex), opened.stream()));
    CUDA_CHECK(cudaDeviceSynchronize());
    const bool there = cufftExecR2C(libraries.forward, d_in.get(), spectrum.get()) == CUFFT_SUCCESS;
    CHECK_SAID(there, "libraries.forward is not a plan from real to complex numbers: CUFFT_R2C");
    CUDA_CHECK(cudaDeviceSynchronize());
    const bool back = cufftExecC2R(libraries.inverse, spectrum.get(), d_out.get()) == CUFFT_SUCCESS;
    CHECK_SAID(back, "libraries.inverse is not a plan from complex to real numbers: CUFFT_C2R");
    CUDA_CHECK(cudaDeviceSynchronize());
    if (!there || !back) return;
    Floats got = d_out.download();
    got.resize(100);
    const Floats exact = times(Doubles(in.begin(), in.end()), 100);
    const auto near = [](size_t) { return 1e-3; };
    CHECK_ARRAYS(got, exact, near);
    wb::recognize<float>(
        got,
        exact,
        {{"the plans have another length: the length is that of the real numbers, and "
          "the batch is 1",
          [&] { return got; }}},
        near);
}

TEST_CASE("task 1: all four work in the stream", "[task1]") {
    const Opened opened(64);
    const auto& streams = wb::LibraryWatch::streams();
    const auto stream_of = [&](auto handle) {
        const auto found = streams.find(wb::library_detail::number(handle));
        return stream_in_words(found == streams.end() ? nullptr : found->second, opened.stream());
    };
    const std::string want = "the stream of open_libraries()";
    const std::string blas = stream_of(opened.get().blas), solver = stream_of(opened.get().solver);
    const std::string forward = stream_of(opened.get().forward);
    const std::string inverse = stream_of(opened.get().inverse);
    CHECK_SAID(blas == want, "cuBLAS works in " << blas << ", want " << want);
    CHECK_SAID(solver == want, "cuSOLVER works in " << solver << ", want " << want);
    CHECK_SAID(forward == want, "the forward plan works in " << forward << ", want " << want);
    CHECK_SAID(inverse == want, "the inverse plan works in " << inverse << ", want " << want);
}

TEST_CASE("task 1: a refused call is an exception", "[task1]") {
    check_failing_library_calls("open_libraries", [] { Opened opened(32); });
    CHECK_SAID(throws_library_error([] { Opened opened(-1); }),
               "cuFFT refuses a plan of -1 samples, but open_libraries() does not throw");
}

TEST_CASE("task 2: multiplies square matrices", "[task2]") {
    for (const int n : {2, 31, 32, 33, 64, 100}) check_product({n, n, n, 1.5f, 0.5f});
}

TEST_CASE("task 2: multiplies wide and tall matrices", "[task2]") {
    for (const Shape& shape : {Shape{4, 4, 8},
                               {1, 1, 1},
                               {1, 1, 300},
                               {1, 70, 1},
                               {70, 1, 1},
                               {33, 65, 17},
                               {65, 17, 33},
                               {17, 33, 65},
                               {128, 3, 64}})
        check_product(shape);
}

TEST_CASE("task 2: scales the product, and adds to the old contents of C", "[task2]") {
    check_product({20, 20, 20, 2.5f, -0.5f});
    check_product({33, 50, 40, 0.75f, 3});
    check_product({33, 50, 40, -1, 1});
}

TEST_CASE("task 2: multiplies parts of larger matrices", "[task2]") {
    check_product({20, 20, 20, 1, 0, 4, 0, 0});
    check_product({20, 20, 20, 1, 0, 0, 5, 0});
    check_product({20, 20, 20, 1, 0, 0, 0, 6});
    check_product({33, 65, 40, 2, 3, 31, 1, 95});
}

TEST_CASE("task 2: works in the stream", "[task2]") {
    const Libraries& libraries = libraries_for(16);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    check_stream(libraries, [&] {
        multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    });
}

TEST_CASE("task 2: a refused call is an exception", "[task2]") {
    const Libraries& libraries = libraries_for(16);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    const auto with = [&](Sizes sizes) {
        multiply(libraries, sizes, 1, d_a.get(), d_b.get(), 0, d_c.get());
    };
    check_failing_library_calls("multiply", [&] { with({8, 8, 8, 8, 8, 8}); });
    CHECK_SAID(throws_library_error([&] {
                   with({8, 8, 8, 8, 7, 8});
               }),
               "cuBLAS refuses rows of 8 floats that begin 7 floats apart, but multiply() does not "
               "throw");
}

TEST_CASE("task 3: solves systems", "[task3]") {
    for (const int n : {1, 2, 17, 32, 33, 100}) check_solution(matrix_of_condition(n, 1, n), n, 1);
}

TEST_CASE("task 3: solves for many right-hand sides", "[task3]") {
    check_solution(matrix_of_condition(20, 1, 1), 20, 20);
    check_solution(matrix_of_condition(33, 1, 2), 33, 3);
    check_solution(matrix_of_condition(5, 1, 3), 5, 100);
}

TEST_CASE("task 3: solves systems that need another order of rows", "[task3]") {
    // Without an exchange of rows the first step divides by 0.
    const int n = 10;
    Floats a = matrix_of_condition(n, 1, 7);
    a[0] = 0;
    check_solution(a, n, 2);
}

TEST_CASE("task 3: solves nearly singular systems", "[task3]") {
    for (const int n : {8, 24, 40}) check_solution(matrix_of_condition(n, 5, 10 + n), n, 2);
}

TEST_CASE("task 3: says when a matrix is singular", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    for (const int n : {1, 2, 20}) {
        CAPTURE(n);
        Floats a = wb::random_floats(size_t(n) * n, 61);
        for (int i = 0; i < n; ++i) a[size_t(n - 1) * n + i] = a[size_t(i) * n + n - 1] = 0;
        const Floats b = wb::random_floats(n, 62);
        InStream d_a(a, libraries.stream), d_b(b, libraries.stream);
        const bool solved = solve(libraries, n, 1, d_a.get(), d_b.get());
        CHECK_SAID(
            !solved,
            "A has a row of zeros, but solve() returned true: cuSOLVER reports it in devInfo, "
            "not in its status");
        if (!solved) wb::check_unchanged(d_b.download(), b);
    }
}

TEST_CASE("task 3: works in the stream", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    InStream d_a(matrix_of_condition(8, 1, 5), libraries.stream);
    InStream d_b(wb::random_floats(8, 6), libraries.stream);
    check_stream(libraries, [&] { solve(libraries, 8, 1, d_a.get(), d_b.get()); });
}

TEST_CASE("task 3: a refused call is an exception", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    const Floats a = matrix_of_condition(8, 1, 5);
    check_failing_library_calls("solve", [&] {
        InStream d_a(a, libraries.stream), d_b(wb::random_floats(8, 6), libraries.stream);
        solve(libraries, 8, 1, d_a.get(), d_b.get());
    });
}

TEST_CASE("task 4: decomposes random matrices", "[task4]") {
    for (const int n : {1, 2, 17, 32, 33, 64})
        check_decomposition(wb::random_floats(size_t(n) * n, 70 + n), n);
}

TEST_CASE("task 4: decomposes matrices with small singular values", "[task4]") {
    check_decomposition(matrix_of_condition(20, 6, 71), 20);
    check_decomposition(matrix_of_condition(64, 4, 72), 64);
    check_decomposition(Floats(9, 0.0f), 3);
}

TEST_CASE("task 4: works in the stream", "[task4]") {
    const Libraries& libraries = libraries_for(16);
    InStream d_a(wb::random_floats(64, 5), libraries.stream), d_u(64, libraries.stream);
    InStream d_s(8, libraries.stream), d_vt(64, libraries.stream);
    check_stream(libraries, [&] {
        singular_values(libraries, 8, d_a.get(), d_u.get(), d_s.get(), d_vt.get());
    });
}

TEST_CASE("task 4: a refused call is an exception", "[task4]") {
    const Libraries& libraries = libraries_for(16);
    check_failing_library_calls("singular_values", [&] {
        InStream d_a(wb::random_floats(64, 5), libraries.stream), d_u(64, libraries.stream);
        InStream d_s(8, libraries.stream), d_vt(64, libraries.stream);
        singular_values(libraries, 8, d_a.get(), d_u.get(), d_s.get(), d_vt.get());
    });
}

TEST_CASE("task 5: keeps low frequencies", "[task5]") {
    for (const auto& [samples, keep] : {std::pair{16, 3}, {100, 10}, {1000, 20}, {1024, 200}})
        check_filter(samples, keep);
}

TEST_CASE("task 5: takes any number of samples", "[task5]") {
    for (const auto& [samples, keep] :
         {std::pair{1, 1}, {2, 1}, {3, 1}, {15, 5}, {17, 5}, {511, 100}, {513, 257}, {4099, 1000}})
        check_filter(samples, keep);
}

TEST_CASE("task 5: keeps everything, and nothing", "[task5]") {
    for (const int samples : {16, 17, 1000}) check_filter(samples, samples / 2 + 1);
    for (const int samples : {16, 17, 1000}) check_filter(samples, 0);
}

TEST_CASE("task 5: works in the stream", "[task5]") {
    const Libraries& libraries = libraries_for(64);
    InStream d_in(wb::random_floats(64, 5), libraries.stream), d_out(64, libraries.stream);
    check_stream(libraries, [&] { low_pass(libraries, 5, d_in.get(), d_out.get()); });
}

TEST_CASE("task 5: a refused call is an exception", "[task5]") {
    const Libraries& libraries = libraries_for(64);
    InStream d_in(wb::random_floats(64, 5), libraries.stream), d_out(64, libraries.stream);
    const auto work = [&] { low_pass(libraries, 5, d_in.get(), d_out.get()); };
    check_failing_library_calls("low_pass", work);
    size_t launches;
    {
        wb::CallWatch watch;
        work();
        launches = watch.launches();
    }
    if (launches)
        wb::check_refused_launch("low_pass", work);  // without a launch: a library may do this step
}

TEST_CASE("efficient: handles and plans are made once", "[efficient][task1][task2][task3][task4]"
                                                        "[task5]") {
    const Opened opened(64);
    const Libraries& libraries = opened.get();
    const Floats a = matrix_of_condition(8, 1, 5);
    wb::LibraryWatch watch;
    for (int round = 0; round < 12; ++round) {
        InStream d_a(a, opened.stream()), d_b(a, opened.stream()), d_c(a, opened.stream());
        InStream d_s(8, opened.stream()), d_vt(64, opened.stream());
        multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
        low_pass(libraries, 5, d_b.get(), d_c.get());
        singular_values(libraries, 8, d_b.get(), d_c.get(), d_s.get(), d_vt.get());
        solve(libraries, 8, 1, d_a.get(), d_s.get());
    }
    const size_t handles_made = watch.made();
    CHECK_SAID(handles_made == 0,
               "twelve rounds of all functions make " << handles_made
                                                      << " handles and plans, want none");
}

TEST_CASE("efficient: a product is one call, without copies", "[efficient][task2]") {
    const Libraries& libraries = libraries_for(16);
    const int m = 64, n = 96, k = 128;
    InStream d_a(wb::random_floats(m * k, 1), libraries.stream);
    InStream d_b(wb::random_floats(k * n, 2), libraries.stream), d_c(m * n, libraries.stream);
    const auto counters = wb::count([&] {
        multiply(libraries, {m, n, k, k, n, n}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes == 4 * m * n);
    CHECK(counters->global_load_bytes <= 4 * (m * k + k * n));
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
}

TEST_CASE("efficient: a system is solved without its inverse", "[efficient][task3]") {
    const Libraries& libraries = libraries_for(16);
    const int n = 128;
    InStream d_a(matrix_of_condition(n, 1, 8), libraries.stream);
    InStream d_b(wb::random_floats(n, 9), libraries.stream);
    wb::LibraryWatch watch;
    const auto counters = wb::count([&] { solve(libraries, n, 1, d_a.get(), d_b.get()); });
    NEED_COUNTERS(counters);
    INFO("calls that compute: " << watch.computed()
                                << "; one factorisation and one solution are enough");
    CHECK(counters->global_store_bytes >= 4 * n);
    // The factors, the solution and workspace. An inverse would add as many bytes as A has.
    CHECK(counters->global_store_bytes <= 4 * 2 * n * n);
    CHECK(counters->launches <= 4);
    CHECK(counters->device_to_host_bytes <= 16);
}

TEST_CASE("efficient: singular values take one call, without copies", "[efficient][task4]") {
    const Libraries& libraries = libraries_for(16);
    const int n = 64;
    InStream d_a(wb::random_floats(n * n, 5), libraries.stream), d_u(n * n, libraries.stream);
    InStream d_s(n, libraries.stream), d_vt(n * n, libraries.stream);
    const auto counters = wb::count(
        [&] { singular_values(libraries, n, d_a.get(), d_u.get(), d_s.get(), d_vt.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes <= 16);
}

TEST_CASE("efficient: a filter is two transforms and a kernel", "[efficient][task5]") {
    const int samples = 1024;
    const Libraries& libraries = libraries_for(samples);
    InStream d_in(wb::random_floats(samples, 5), libraries.stream);
    InStream d_out(samples, libraries.stream);
    wb::CallWatch watch;
    const auto counters = wb::count([&] { low_pass(libraries, 20, d_in.get(), d_out.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches <= 3);
    for (const wb::CudaCall& call : watch.calls) {
        const int numbers = samples / 2 + 1, blocks = (numbers + 31) / 32;
        INFO("a kernel for " << numbers << " numbers is launched with " << call.grid.x
                             << " blocks: with a thread for each number, " << blocks
                             << " are enough, even of one warp");
        const bool few_blocks = call.grid.x <= unsigned(blocks);
        CHECK(few_blocks);
    }
    // The samples, and three times the spectrum: stored by a transform, loaded and stored by the
    // kernel.
    CHECK(counters->global_store_bytes <= 4 * samples + 2 * 8 * (samples / 2 + 1));
    CHECK(counters->global_load_bytes <= 4 * samples + 2 * 8 * (samples / 2 + 1));
    CHECK(counters->double_instructions == 0);
    CHECK(counters->device_to_host_bytes + counters->host_to_device_bytes == 0);
}

TEST_CASE("efficient: products and filters do not wait for the device",
          "[efficient][task2][task5]") {
    const Libraries& libraries = libraries_for(64);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    wb::CallWatch watch;
    wb::LibraryWatch libraries_watch;
    multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    low_pass(libraries, 5, d_a.get(), d_c.get());
    std::string waits;
    for (const wb::CudaCall& call : watch.calls)
        if (call.name == "cudaDeviceSynchronize" || call.name == "cudaStreamSynchronize" ||
            call.name == "cudaMemcpy" || call.name == "cudaMalloc" || call.name == "cudaFree")
            waits = call.name;
    for (const wb::LibraryCall& call : libraries_watch.calls)  // these call the runtime themselves
        if (call.name.find("Destroy") != std::string::npos) waits = call.name;
    CHECK_SAID(
        waits.empty(),
        waits << " waits for the device: later work in the stream is ordered without a wait");
}
