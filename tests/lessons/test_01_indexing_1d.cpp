// SPDX-License-Identifier: MIT
// Lesson 01: every element is written by the thread it belongs to, once, for any launch shape.
//
// Tolerance: none, all results are exact. Inputs are random; outputs start as 0xFF bytes (-1, NaN),
// so what nobody writes is wrong.
#include "indexing_1d.h"
#include "lesson_test.h"

#include <algorithm>

namespace {

constexpr size_t kGuard = 2048;  // elements on each side of every array, on a real GPU

struct Shape {
    int blocks, threads;
    int n() const { return blocks * threads; }
};

// One block, many blocks, threads round the warp, and more blocks than a block may have threads.
const std::vector<Shape> kShapes{{1, 1},
                                 {1, 5},
                                 {1, 32},
                                 {1, 33},
                                 {1, 1024},
                                 {2, 1},
                                 {2, 5},
                                 {2, 32},
                                 {2, 33},
                                 {2, 1024},
                                 {1024, 1},
                                 {1024, 5},
                                 {1024, 32},
                                 {1024, 33},
                                 {1024, 1024},
                                 {3, 4},
                                 {1500, 33},
                                 {5, 1024}};

// What a property test looks at: blocks of whole warps, so that every access can be perfect.
constexpr Shape kWholeWarps{64, 256};

struct Data {
    std::vector<int> before;
    wb::GuardedBuffer<int> device;
    explicit Data(int n)
        : before(wb::random_ints(n, 10 + n, -1000, 1000)), device(before, wb::guard(kGuard)) {}
};

// One launch of the given shape; each thread loads and stores the given number of bytes; and no
// sector of 32 bytes moves twice, which takes consecutive lanes on consecutive addresses.
void check_traffic(const EmulatorCounters& counted, uint64_t load_bytes, uint64_t store_bytes) {
    CHECK(counted.launches == 1);
    CHECK(counted.global_load_bytes == load_bytes * kWholeWarps.n());
    CHECK(counted.global_store_bytes == store_bytes * kWholeWarps.n());
    CHECK(counted.global_load_sectors * 32 == load_bytes * kWholeWarps.n());
    CHECK(counted.global_store_sectors * 32 == store_bytes * kWholeWarps.n());
}

}  // namespace

TEST_CASE("task 1: zeroes 5120 elements with 1024 blocks of 5 threads", "[task1]") {
    const auto before = wb::random_floats(5120, 1, 1.0f, 2.0f);
    wb::GuardedBuffer<float> out(before, wb::guard(kGuard));
    zero_out(out.get(), 1024, 5);
    CHECK_ARRAYS(out.download(), std::vector<float>(5120, 0.0f));
    CHECK(out.intact());
}

TEST_CASE("task 1: zeroes with any number of blocks and threads", "[task1]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        wb::GuardedBuffer<float> out(shape.n(), wb::guard(kGuard));
        zero_out(out.get(), shape.blocks, shape.threads);
        CHECK_ARRAYS(out.download(), std::vector<float>(shape.n(), 0.0f));
        CHECK(out.intact());
    }
}

TEST_CASE("task 2: adds one to every element", "[task2]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        Data data(shape.n());
        increment(data.device.get(), shape.blocks, shape.threads);
        CUDA_CHECK(cudaGetLastError());
        auto want = data.before;
        for (int& value : want) value += 1;
        CHECK_ARRAYS(data.device.download(), want);
        CHECK(data.device.intact());
    }
}

TEST_CASE("task 2: adds three after three calls", "[task2]") {
    Data data(990);
    for (int call = 0; call < 3; ++call) increment(data.device.get(), 30, 33);
    auto want = data.before;
    for (int& value : want) value += 3;
    CHECK_ARRAYS(data.device.download(), want);
}

TEST_CASE("task 3: writes every element's own index", "[task3]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        wb::GuardedBuffer<int> out(shape.n(), wb::guard(kGuard));
        iota(out.get(), shape.blocks, shape.threads);
        CUDA_CHECK(cudaGetLastError());
        std::vector<int> want(shape.n());
        for (int i = 0; i < shape.n(); ++i) want[i] = i;
        CHECK_ARRAYS(out.download(), want);
        CHECK(out.intact());
    }
}

TEST_CASE("task 4: reverses within one block", "[task4]") {
    Data data(33);
    wb::GuardedBuffer<int> out(33, wb::guard(kGuard));
    reverse(data.device.get(), out.get(), 1, 33);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(out.download(), std::vector<int>(data.before.rbegin(), data.before.rend()));
}

TEST_CASE("task 4: reverses the whole array across blocks", "[task4]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        Data data(shape.n());
        wb::GuardedBuffer<int> out(shape.n(), wb::guard(kGuard));
        reverse(data.device.get(), out.get(), shape.blocks, shape.threads);
        CUDA_CHECK(cudaGetLastError());
        CHECK_ARRAYS(out.download(), std::vector<int>(data.before.rbegin(), data.before.rend()));
        CHECK_ARRAYS(data.device.download(), data.before);
        CHECK(out.intact());
    }
}

TEST_CASE("efficient: zero_out stores each element once, lane by lane", "[efficient]") {
    wb::DeviceBuffer<float> out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { zero_out(out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, 0, sizeof(float));
}

TEST_CASE("efficient: increment loads and stores each element once, lane by lane", "[efficient]") {
    wb::DeviceBuffer<int> data(kWholeWarps.n());
    const auto counted =
        wb::count([&] { increment(data.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, sizeof(int), sizeof(int));
}

TEST_CASE("efficient: iota stores each element once, lane by lane", "[efficient]") {
    wb::DeviceBuffer<int> out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { iota(out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, 0, sizeof(int));
}

TEST_CASE("efficient: reverse loads and stores each element once, lane by lane", "[efficient]") {
    wb::DeviceBuffer<int> in(kWholeWarps.n()), out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { reverse(in.get(), out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, sizeof(int), sizeof(int));
}
