// SPDX-License-Identifier: MIT
// Lesson 03: the answer does not depend on the launch shape, each element is visited once, and the
// lanes of a warp stay side by side at every step.
//
// Tolerance: none. One correctly rounded addition or product for each element, on host and device.
// Outputs start as 0xFF bytes (NaN), so an element that no thread writes is wrong.
#include "cases/shared_work.h"
#include "grid_stride.h"
#include "lesson_test.h"
#include "watches/call_checks.h"

namespace {

constexpr size_t kGuard = 2048;  // elements on each side of every array, on a real GPU

struct Shape {
    int blocks, threads;
};

// One thread, one warp, an odd shape, the classic 30 x 128, far more threads than elements, and
// more blocks than fit into 16 bits.
const std::vector<Shape> kShapes{
    {1, 1}, {1, 32}, {7, 33}, {30, 128}, {3, 1024}, {4096, 256}, {5, 96}, {70000, 3}};

// The shape for the efficiency tests: 8 iterations of 3840 threads, in whole warps.
constexpr Shape kClassic{30, 128};
constexpr size_t kCount = 30720;

// For all shapes: a prime, and more than the 3840 threads of the classic one. Not many more: where
// each thread goes on to all elements behind its own, they are visited 8 million times.
constexpr size_t kAnyShape = 4099;

void check_add(size_t n, Shape shape) {
    CAPTURE(n, shape.blocks, shape.threads);
    const auto a = wb::random_floats(n, 100 + n), b = wb::random_floats(n, 200 + n);
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_out(n, wb::guard(kGuard));
    add(d_a.get(), d_b.get(), d_out.get(), n, shape.blocks, shape.threads);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> want(n);
    for (size_t i = 0; i < n; ++i) want[i] = a[i] + b[i];
    const auto got = d_out.download();
    wb::recognize<float>(got, want, wb::mistakes_of_sums(a, b));
    CHECK_ARRAYS(got, want);
    CHECK(d_out.intact());
}

void check_square(size_t n, Shape shape) {
    CAPTURE(n, shape.blocks, shape.threads);
    const auto before = wb::random_floats(n, 300 + n, -2.0f, 2.0f);
    auto want = before;
    wb::GuardedBuffer<float> d_data(want, wb::guard(kGuard));
    square(d_data.get(), n, shape.blocks, shape.threads);
    CUDA_CHECK(cudaGetLastError());
    for (float& value : want) value *= value;
    const auto got = d_data.download();
    const auto each = [&](auto change) {
        return [&, change] {
            auto values = before;
            for (float& value : values) value = change(value);
            return values;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"the number is doubled, not squared", each([](float x) { return 2 * x; })},
         {"squared twice: each element is visited twice",
          each([](float x) { return x * x * x * x; })},
         {"the fraction is lost: the number is squared as an int",
          each([](float x) { return std::trunc(x) * std::trunc(x); })},
         {"^ is not a power in C++: it is the exclusive or of bits",
          each([](float x) { return float(int(x) ^ 2); })}});
    CHECK_ARRAYS(got, want);
    CHECK(d_data.intact());
}

// Sectors of 32 bytes, each moved once: 4 for the 32 floats of a warp.
constexpr uint64_t sectors(uint64_t floats) {
    return floats * sizeof(float) / 32;
}

}  // namespace

TEST_CASE("task 1: numbers the threads of small grids", "[task1]") {
    CHECK_RESULT(global_index(0, 128, 0), 0);
    CHECK_RESULT(global_index(0, 128, 127), 127);
    CHECK_RESULT(global_index(1, 128, 0), 128);
    CHECK_RESULT(global_index(29, 128, 127), 3839);
    CHECK_RESULT(global_index(6, 33, 5), 203);
}

TEST_CASE("task 1: stays exact past 2^31 and 2^32 threads", "[task1]") {
    CHECK_RESULT(global_index(8388608, 256, 5), (size_t(1) << 31) + 5);
    CHECK_RESULT(global_index(4194304, 1024, 7), (size_t(1) << 32) + 7);
    CHECK_RESULT(global_index(2147483646, 1024, 1023), (size_t(2147483647) << 10) - 1);
}

TEST_CASE("task 2: counts the threads of small grids", "[task2]") {
    CHECK_RESULT(grid_stride(30, 128), 3840);
    CHECK_RESULT(grid_stride(1, 1), 1);
    CHECK_RESULT(grid_stride(7, 33), 231);
}

TEST_CASE("task 2: stays exact past 2^31 and 2^32 threads", "[task2]") {
    CHECK_RESULT(grid_stride(8388609, 256), (size_t(1) << 31) + 256);
    CHECK_RESULT(grid_stride(4194304, 1024), size_t(1) << 32);
    CHECK_RESULT(grid_stride(2147483647, 1024), size_t(2147483647) << 10);
}

TEST_CASE("task 3: adds 100,000 elements with 30 blocks of 128 threads", "[task3]") {
    const size_t n = 100000;
    std::vector<float> a(n), b(n), want(n);
    for (size_t i = 0; i < n; ++i) a[i] = float(i), b[i] = 2.0f * i, want[i] = 3.0f * i;
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_out(n, wb::guard(kGuard));
    add(d_a.get(), d_b.get(), d_out.get(), n, 30, 128);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_out.download(), want);
    CHECK(d_out.intact());
}

TEST_CASE("task 3: adds with any launch shape", "[task3]") {
    for (const Shape shape : kShapes) check_add(kAnyShape, shape);
}

TEST_CASE("task 3: adds when there are fewer elements than threads", "[task3]") {
    for (const size_t n : {1, 31, 32, 33, 127, 129, 3839}) check_add(n, kClassic);
}

TEST_CASE("task 3: adds when the last iteration is full, one short, and one over", "[task3]") {
    for (const size_t n : {3840, 7679, 7680, 7681}) check_add(n, kClassic);
}

TEST_CASE("task 3: does nothing for an empty array", "[task3]") {
    for (const Shape shape : kShapes) check_add(0, shape);
}

TEST_CASE("task 4: squares with any launch shape", "[task4]") {
    for (const Shape shape : kShapes) check_square(kAnyShape, shape);
}

TEST_CASE("task 4: squares when there are fewer elements than threads", "[task4]") {
    for (const size_t n : {0, 1, 31, 33, 129, 3841}) check_square(n, kClassic);
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    wb::DeviceBuffer<float> d_data(wb::random_floats(128, 7));
    wb::check_refused_launch("square", [&] { square(d_data.get(), 128, 1, 128); });
}

TEST_CASE("efficient: each sum is loaded and stored once, in one launch",
          "[efficient][task1][task2][task3]") {
    wb::DeviceBuffer<float> d_a(wb::random_floats(kCount, 1)), d_b(wb::random_floats(kCount, 2));
    wb::DeviceBuffer<float> d_out(kCount);
    const auto counted = wb::count(
        [&] { add(d_a.get(), d_b.get(), d_out.get(), kCount, kClassic.blocks, kClassic.threads); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads == uint64_t(kClassic.blocks) * kClassic.threads);
    CHECK(counted->global_load_bytes == 2 * sizeof(float) * kCount);
    CHECK(counted->global_store_bytes == sizeof(float) * kCount);
}

TEST_CASE("efficient: at every step the lanes of a warp add neighbours",
          "[efficient][task1][task2][task3]") {
    wb::DeviceBuffer<float> d_a(wb::random_floats(kCount, 3)), d_b(wb::random_floats(kCount, 4));
    wb::DeviceBuffer<float> d_out(kCount);
    const auto counted = wb::count(
        [&] { add(d_a.get(), d_b.get(), d_out.get(), kCount, kClassic.blocks, kClassic.threads); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_sectors == sectors(kCount));
    CHECK(counted->global_load_sectors == 2 * sectors(kCount));
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    wb::DeviceBuffer<float> d_a(wb::random_floats(kCount, 6)), d_b(wb::random_floats(kCount, 7));
    wb::DeviceBuffer<float> d_out(kCount);
    add(d_a.get(), d_b.get(), d_out.get(), kCount, kClassic.blocks, kClassic.threads);
    wb::check_shared_work("add", d_out.get(), kCount);
    square(d_a.get(), kCount, kClassic.blocks, kClassic.threads);
    wb::check_shared_work("square", d_a.get(), kCount);
}

TEST_CASE("efficient: each square is loaded and stored once, by neighbours",
          "[efficient][task1][task2][task4]") {
    wb::DeviceBuffer<float> d_data(wb::random_floats(kCount, 5));
    const auto counted =
        wb::count([&] { square(d_data.get(), kCount, kClassic.blocks, kClassic.threads); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads == uint64_t(kClassic.blocks) * kClassic.threads);
    CHECK(counted->global_load_sectors == sectors(kCount));
    CHECK(counted->global_store_sectors == sectors(kCount));
}
