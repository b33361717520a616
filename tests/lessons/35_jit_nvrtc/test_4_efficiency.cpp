// SPDX-License-Identifier: MIT
// Lesson 35: no kernel is compiled twice, and a kernel moves no more than necessary.
#include "checks.h"

TEST_CASE("efficient: the second call compiles nothing, for any values and sizes",
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

TEST_CASE("efficient: many kernels are compiled once, and stay loaded",
          "[efficient][task1][task2][task3][task5]") {
    KernelCache cache;
    wb::JitWatch watch;
    const auto ask_for_all = [&] {
        for (int k = 0; k < 12; ++k)
            cache.get(described("k" + std::to_string(k), "int x", "int out", "x", "a"), {});
    };
    ask_for_all();
    const size_t first = watch.compilations();
    ask_for_all();
    INFO("12 kernels were asked for twice: " << first << " compilations, then "
                                             << watch.compilations() - first << "; "
                                             << watch.unloads() << " modules were unloaded");
    const bool compiled_once_and_kept =
        first == 12 && watch.compilations() == 12 && watch.unloads() == 0;
    CHECK(compiled_once_and_kept);
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
