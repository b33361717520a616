// SPDX-License-Identifier: MIT
// Lesson 01: every element gets its value exactly once, for any launch shape.
//
// Tolerance: none, all results are exact. Inputs are random; outputs start as 0xFF bytes (-1, NaN),
// so an element that no thread writes is wrong.
#include "cases/shared_work.h"
#include "indexing_1d.h"
#include "lesson_test.h"
#include "watches/call_checks.h"

#include <algorithm>

namespace {

constexpr size_t kGuard = 2048;  // elements on each side of every array, on a real GPU

struct Shape {
    int blocks, threads;
    int n() const { return blocks * threads; }
};

// One block, many blocks, block sizes around a warp, and more blocks than a block may have threads.
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

// An index that threads compute in place of their own, and what is wrong with it.
struct WrongIndex {
    const char* words;
    std::function<int64_t(int64_t block, int64_t thread, Shape shape)> index;
};
const std::vector<WrongIndex> kWrongIndexes{
    {"the index multiplies the block's number by the thread's: many threads get the same index",
     [](int64_t b, int64_t t, Shape) { return b * t; }},
    {"the index adds the block's number to the thread's: as if each block held one element",
     [](int64_t b, int64_t t, Shape) { return b + t; }},
    {"block and thread are swapped in the index",
     [](int64_t b, int64_t t, Shape s) { return t * s.threads + b; }},
    {"the index is a float, and beyond 2^24 a float cannot count in ones",
     [](int64_t b, int64_t t, Shape s) { return int64_t(float(b * s.threads + t)); }},
    {"the index is the block's number alone", [](int64_t b, int64_t, Shape) { return b; }},
    {"the index is computed as if each block had 5 threads: the example's number is hard-coded",
     [](int64_t b, int64_t t, Shape) { return b * 5 + t; }}};

// Names the mistake where each thread stored value(i) at one of the wrong indexes above.
template <class T>
void recognize_index(const std::vector<T>& got, const std::vector<T>& before,
                     const std::vector<T>& want, Shape shape, std::function<T(int64_t)> value) {
    std::vector<wb::Mistake<T>> mistakes;
    for (const WrongIndex& wrong : kWrongIndexes)
        mistakes.push_back({wrong.words, [&, index = wrong.index] {
                                std::vector<T> out = before;
                                for (int b = 0; b < shape.blocks; ++b)
                                    for (int t = 0; t < shape.threads; ++t)
                                        if (const int64_t i = index(b, t, shape); i < shape.n())
                                            out[i] = value(i);
                                return out;
                            }});
    wb::recognize<T>(got, want, mistakes);
}

// The shape for the efficiency tests: blocks of whole warps, so that every access can be perfect.
constexpr Shape kWholeWarps{64, 256};

struct Data {
    std::vector<int> before;
    wb::GuardedBuffer<int> device;
    explicit Data(int n)
        : before(wb::random_ints(n, 10 + n, -1000, 1000)), device(before, wb::guard(kGuard)) {}
};

// One launch; each element costs the given number of bytes; and no sector of 32 bytes moves twice,
// which requires consecutive lanes on consecutive addresses.
void check_traffic(const wb::Counters& counted, uint64_t load_bytes, uint64_t store_bytes) {
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
    const auto got = out.download();
    const std::vector<float> want(5120, 0.0f);
    recognize_index<float>(got, before, want, {1024, 5}, [](int64_t) { return 0.0f; });
    CHECK_ARRAYS(got, want);
    CHECK(out.intact());
}

TEST_CASE("task 1: zeroes with any number of blocks and threads", "[task1]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        wb::GuardedBuffer<float> out(shape.n(), wb::guard(kGuard));
        const auto before = out.download();
        zero_out(out.get(), shape.blocks, shape.threads);
        const auto got = out.download();
        const std::vector<float> want(shape.n(), 0.0f);
        recognize_index<float>(got, before, want, shape, [](int64_t) { return 0.0f; });
        CHECK_ARRAYS(got, want);
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
        const auto got = data.device.download();
        const auto each = [&](auto change) {
            return [&, change] {
                auto values = data.before;
                for (int i = 0; i < int(values.size()); ++i) values[i] = change(values[i], i);
                return values;
            };
        };
        wb::recognize<int>(
            got,
            want,
            {{"the element's index is added to it, and not 1",
              each([](int v, int i) { return v + i; })},
             {"the element's index is stored, and the old value is lost",
              each([](int, int i) { return i; })},
             {"1 is stored, not added: the old value is lost", each([](int, int) { return 1; })},
             {"1 is subtracted, not added", each([](int v, int) { return v - 1; })}});
        CHECK_ARRAYS(got, want);
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

TEST_CASE("task 2: a refused launch is an exception", "[task2]") {
    wb::DeviceBuffer<int> data(wb::random_ints(64, 5, -9, 9));
    wb::check_refused_launch("increment", [&] { increment(data.get(), 2, 32); });
}

TEST_CASE("task 3: writes every element's own index", "[task3]") {
    auto shapes = kShapes;
    shapes.push_back(
        {17000, 1000});  // the most that the header allows: past 2^24, where floats skip
    for (const Shape shape : shapes) {
        CAPTURE(shape.blocks, shape.threads);
        wb::GuardedBuffer<int> out(shape.n(), wb::guard(kGuard));
        const std::vector<int> before(shape.n(), -1);  // what the buffer is filled with
        iota(out.get(), shape.blocks, shape.threads);
        CUDA_CHECK(cudaGetLastError());
        std::vector<int> want(shape.n());
        for (int i = 0; i < shape.n(); ++i) want[i] = i;
        const auto got = out.download();
        recognize_index<int>(got, before, want, shape, [](int64_t i) { return int(i); });
        CHECK_ARRAYS(got, want);
        CHECK(out.intact());
    }
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    wb::DeviceBuffer<int> out(64);
    wb::check_refused_launch("iota", [&] { iota(out.get(), 2, 32); });
}

// Compares with the reversed input.
void check_reversed(const std::vector<int>& got, const std::vector<int>& before) {
    const std::vector<int> want(before.rbegin(), before.rend());
    wb::recognize<int>(
        got, want, {{"a copy of the input: nothing is reversed", [&] { return before; }}});
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 4: reverses within one block", "[task4]") {
    Data data(33);
    wb::GuardedBuffer<int> out(33, wb::guard(kGuard));
    reverse(data.device.get(), out.get(), 1, 33);
    CUDA_CHECK(cudaGetLastError());
    check_reversed(out.download(), data.before);
}

TEST_CASE("task 4: reverses the whole array across blocks", "[task4]") {
    for (const Shape shape : kShapes) {
        CAPTURE(shape.blocks, shape.threads);
        Data data(shape.n());
        wb::GuardedBuffer<int> out(shape.n(), wb::guard(kGuard));
        reverse(data.device.get(), out.get(), shape.blocks, shape.threads);
        CUDA_CHECK(cudaGetLastError());
        check_reversed(out.download(), data.before);
        wb::check_unchanged(data.device.download(), data.before);
        CHECK(out.intact());
    }
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    wb::DeviceBuffer<int> in(wb::random_ints(64, 6, -9, 9)), out(64);
    wb::check_refused_launch("reverse", [&] { reverse(in.get(), out.get(), 2, 32); });
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const auto [blocks, threads] = kWholeWarps;
    wb::DeviceBuffer<float> zeros(kWholeWarps.n());
    wb::DeviceBuffer<int> in(kWholeWarps.n()), out(kWholeWarps.n());
    zero_out(zeros.get(), blocks, threads);
    wb::check_shared_work("zero_out", zeros.get(), kWholeWarps.n());
    increment(in.get(), blocks, threads);
    wb::check_shared_work("increment", in.get(), kWholeWarps.n());
    iota(out.get(), blocks, threads);
    wb::check_shared_work("iota", out.get(), kWholeWarps.n());
    reverse(in.get(), out.get(), blocks, threads);
    wb::check_shared_work("reverse", out.get(), kWholeWarps.n());
}

TEST_CASE("efficient: zero_out stores each element once, lane by lane", "[efficient][task1]") {
    wb::DeviceBuffer<float> out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { zero_out(out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, 0, sizeof(float));
}

TEST_CASE("efficient: increment loads and stores each element once, lane by lane",
          "[efficient][task2]") {
    wb::DeviceBuffer<int> data(kWholeWarps.n());
    const auto counted =
        wb::count([&] { increment(data.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, sizeof(int), sizeof(int));
}

TEST_CASE("efficient: iota stores each element once, lane by lane", "[efficient][task3]") {
    wb::DeviceBuffer<int> out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { iota(out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, 0, sizeof(int));
}

TEST_CASE("efficient: reverse loads and stores each element once, lane by lane",
          "[efficient][task4]") {
    wb::DeviceBuffer<int> in(kWholeWarps.n()), out(kWholeWarps.n());
    const auto counted =
        wb::count([&] { reverse(in.get(), out.get(), kWholeWarps.blocks, kWholeWarps.threads); });
    NEED_COUNTERS(counted);
    check_traffic(*counted, sizeof(int), sizeof(int));
}
