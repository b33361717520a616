// SPDX-License-Identifier: MIT
// Lesson 02: every n is right, and nothing outside [0, n) is touched.
//
// Tolerance: none. c = a + b is one correctly rounded addition on host and device, a gather copies,
// and the rest are whole numbers. Outputs start as 0xFF bytes (NaN), so an element that no thread
// writes is wrong.
#include "boundary_checks.h"
#include "lesson_test.h"
#include "watches/call_checks.h"

#include <algorithm>

// Messages name it as the student's code does.
template <>
struct Catch::StringMaker<OutOfRange> {
    static std::string convert(OutOfRange value) {
        constexpr const char* kNames[] = {"kWrap", "kClamp", "kCount"};
        return kNames[int(value)];
    }
};

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

std::vector<float> sum(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> c(a.size());
    for (size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
    return c;
}

// Runs add(d_a, d_b, d_c) on random arrays of n floats and compares.
template <class Add>
void check_add(int n, Add add) {
    const auto a = wb::random_floats(n, 100 + n), b = wb::random_floats(n, 200 + n);
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(n, wb::guard(kGuard));
    add(d_a.get(), d_b.get(), d_c.get());
    CUDA_CHECK(cudaGetLastError());
    const auto got = d_c.download(), want = sum(a, b);
    wb::recognize<float>(got, want, wb::mistakes_of_sums(a, b));
    CHECK_ARRAYS(got, want);
    CHECK(d_c.intact());
}

// What gather must do, one element at a time.
struct Gathered {
    std::vector<float> out;
    std::vector<int> errors{0};
};
Gathered gathered(const std::vector<float>& values, const std::vector<int>& index,
                  const std::vector<float>& before, OutOfRange policy) {
    const int64_t length = values.size();
    Gathered result{before};
    for (size_t k = 0; k < index.size(); ++k) {
        const int64_t i = index[k];
        int64_t from = i;
        if (policy == OutOfRange::kWrap) from = (i % length + length) % length;
        if (policy == OutOfRange::kClamp) from = i < 0 ? 0 : i >= length ? length - 1 : i;
        if (from < 0 || from >= length)
            ++result.errors[0];
        else
            result.out[k] = values[from];
    }
    return result;
}

void check_gather(const std::vector<float>& values, const std::vector<int>& index,
                  OutOfRange policy) {
    const int n = int(index.size());
    const auto before = wb::random_floats(n, 7, 1000.0f, 2000.0f);
    wb::GuardedBuffer<float> d_values(values, wb::guard(kGuard)), d_out(before, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_index(index, wb::guard(kGuard));
    wb::DeviceBuffer<int> d_errors(1);
    gather(
        d_values.get(), int(values.size()), d_index.get(), d_out.get(), n, policy, d_errors.get());
    CUDA_CHECK(cudaGetLastError());
    const Gathered want = gathered(values, index, before, policy);
    const auto out = d_out.download();
    const auto under = [&](OutOfRange other) {
        return [&, other] { return gathered(values, index, before, other).out; };
    };
    wb::recognize<float>(
        out,
        want.out,
        {{"bad indexes wrap around, which is another policy", under(OutOfRange::kWrap)},
         {"bad indexes are clamped, which is another policy", under(OutOfRange::kClamp)},
         {"elements with a bad index are left alone, which is another policy",
          under(OutOfRange::kCount)},
         {"the values are scattered, to out[index[k]], and not gathered from there",
          [&] {
              auto scattered = before;
              for (size_t k = 0; k < index.size() && k < values.size(); ++k)
                  if (index[k] >= 0 && index[k] < n) scattered[index[k]] = values[k];
              return scattered;
          }},
         {"0 is stored where an index is bad, but that element must stay as it was", [&] {
              auto zeros = want.out;
              for (size_t k = 0; k < index.size(); ++k)
                  if (index[k] < 0 || index[k] >= int64_t(values.size())) zeros[k] = 0;
              return zeros;
          }}});
    CHECK_ARRAYS(out, want.out);
    const auto errors = d_errors.download();
    wb::recognize<int>(
        errors,
        want.errors,
        {{"each bad index is counted twice: counted in two places, or launched twice",
          [&] { return std::vector<int>{2 * want.errors[0]}; }},
         {"all good indexes are counted, and not the bad ones",
          [&] { return std::vector<int>{n - want.errors[0]}; }},
         {"bad indexes are counted under every policy, and not under kCount alone",
          [&] { return gathered(values, index, before, OutOfRange::kCount).errors; }}});
    CHECK_ARRAYS(
        errors, want.errors, [](size_t) { return 0.0; }, "error count");
    CHECK(d_out.intact());
}

void check_ceil_div(long long n, int size, long long want) {
    const long long got = ceil_div(n, size);
    const char* known = "";
    if (got != want && got == n / size) known = ", which is rounded down";
    if (got != want && got == n / size + 1)
        known = ", one more than n / size even where the division has no remainder";
    if (got != want && got == (int(uint32_t(n)) + size - 1) / size)
        known = ", which comes from 32 bits: an int cannot hold numbers this large";
    if (got != want && n < 1ll << 62 && got == (long long)std::ceil(float(n) / float(size)))
        known = ", which comes from a float: it has 24 bits";
    if (got != want && got == (long long)std::ceil(double(n) / size))
        known = ", which comes from a double: it has 53 bits";
    if (got != want && got == n + size - 1 / size)
        known = ": without parentheses the division comes first";
    INFO("ceil_div(" << n << ", " << size << "): got " << got << known << ", want " << want);
    CHECK(got == want);
}

void check_wrap_index(int i, int length, int64_t want) {
    const int64_t got = wrap_index(i, length);
    const char* known = "";
    if (got != want && got == i % length)
        known = ", which is the remainder in C++: negative for a negative index";
    else if (got != want && got == std::abs(int64_t(i)) % length)
        known = ", as if the sign of the index did not matter";
    else if (got != want && got == (i < 0 ? i + length : i >= length ? i - length : i))
        known = ", as if the length were added or subtracted once: one may not be enough";
    else if (got != want && (got < 0 || got >= length))
        known = ", which is not an index of the array";
    INFO("wrap_index(" << i << ", " << length << "): got " << got << known << ", want " << want);
    CHECK(got == want);
}

// Indexes up to the limits of an int.
const std::vector<int> kFarAway{
    INT32_MIN, INT32_MIN + 1, -1000001, -97000, -97, -1, 0, 96, 97, 97001, 1000003, INT32_MAX};

const std::vector<float> kSixValues{0.0f, 1.1f, 2.2f, 3.3f, 4.4f, 5.5f};

// 2^16 blocks of 256 threads: a number of 16 bits has none of them. A grid-stride loop may do with
// fewer. No kernel runs, so one array serves for all three vectors.
void check_large_launch() {
    constexpr int n = 1 << 24;
    wb::DeviceBuffer<float> d_data(n);
    wb::CallWatch watch;
    watch.refuse_launches = true;
    try {
        vector_add(d_data.get(), d_data.get(), d_data.get(), n);
    } catch (const wb::CudaError&) {
    }
    unsigned blocks = 0;
    for (const wb::CudaCall& call : watch.calls) blocks = std::max(blocks, call.grid.x);
    INFO("vector_add of " << n << " elements launches " << blocks << " blocks, want some");
    const bool some_blocks = blocks > 0;
    CHECK(some_blocks);
}

}  // namespace

TEST_CASE("task 1: adds two vectors of 1024 elements", "[task1]") {
    check_add(1024, [](auto a, auto b, auto c) { vector_add_on_grid(a, b, c, 1024, 4, 256); });
}

TEST_CASE("task 1: adds 1000 elements with 24 threads to spare", "[task1]") {
    check_add(1000, [](auto a, auto b, auto c) { vector_add_on_grid(a, b, c, 1000, 4, 256); });
}

TEST_CASE("task 1: adds when the last block is only partly needed", "[task1]") {
    const int n = GENERATE(1, 31, 32, 33, 250, 255, 257, 1000, 1023, 1025);
    const int threads = GENERATE(32, 256, 1024);
    CAPTURE(n, threads);
    const int blocks = (n - 1) / threads + 1;
    check_add(n, [=](auto a, auto b, auto c) { vector_add_on_grid(a, b, c, n, blocks, threads); });
}

TEST_CASE("task 1: adds when whole blocks have nothing to do", "[task1]") {
    const int n = GENERATE(0, 1, 100, 1000);
    CAPTURE(n);
    check_add(n, [=](auto a, auto b, auto c) { vector_add_on_grid(a, b, c, n, 8, 256); });
}

TEST_CASE("task 1: adds the current values in every call", "[task1]") {
    const int n = 1000;
    wb::DeviceBuffer<float> d_a(n), d_b(n), d_c(n);
    for (const int call : {0, 1, 2}) {
        CAPTURE(call);
        const auto a = wb::random_floats(n, 70 + call), b = wb::random_floats(n, 80 + call);
        d_a.upload(a);
        d_b.upload(b);
        vector_add_on_grid(d_a.get(), d_b.get(), d_c.get(), n, 4, 256);
        CUDA_CHECK(cudaGetLastError());
        CHECK_ARRAYS(d_c.download(), sum(a, b));
    }
}

TEST_CASE("task 1: adds a slice and leaves its neighbours alone", "[task1]") {
    const size_t first = 256, n = 1000, total = 2048;
    const auto a = wb::random_floats(total, 1), b = wb::random_floats(total, 2);
    const auto before = wb::random_floats(total, 3);
    wb::DeviceBuffer<float> d_a(a), d_b(b), d_c(before);
    vector_add_on_grid(d_a.get() + first, d_b.get() + first, d_c.get() + first, int(n), 4, 256);
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (size_t i = first; i < first + n; ++i) want[i] = a[i] + b[i];
    CHECK_ARRAYS(
        d_c.download(), want, [](size_t) { return 0.0; }, "element of the whole array");
}

TEST_CASE("task 2: divides and rounds up", "[task2]") {
    check_ceil_div(1000, 256, 4);
    check_ceil_div(1000000, 1024, 977);
    const int size = GENERATE(1, 2, 31, 32, 256, 1000);
    const int n = GENERATE(0, 1, 31, 32, 33, 255, 256, 257, 999, 1000, 1001);
    long long groups = 0;
    while (groups * size < n) ++groups;
    check_ceil_div(n, size, groups);
}

TEST_CASE("task 2: stays exact for numbers that need more than 31 bits", "[task2]") {
    const long long two_31 = 1ll << 31, two_40 = 1ll << 40, two_62 = 1ll << 62;
    check_ceil_div(two_31 + 5, 256, two_31 / 256 + 1);
    check_ceil_div(two_31 + 5, 1, two_31 + 5);
    check_ceil_div(two_40, 1024, 1ll << 30);
    check_ceil_div(two_40 + 1, 1024, (1ll << 30) + 1);
    check_ceil_div((1ll << 53) + 1, 1, (1ll << 53) + 1);
    check_ceil_div(two_62, 256, two_62 / 256);
    check_ceil_div(two_62, 1, two_62);
    check_ceil_div(two_62, INT32_MAX, (1ll << 31) + 2);
}

TEST_CASE("task 3: adds vectors of any length", "[task3]") {
    const int n = GENERATE(0, 1, 31, 32, 33, 250, 1000, 1024, 1025, 1000000);
    CAPTURE(n);
    check_add(n, [=](auto a, auto b, auto c) { vector_add(a, b, c, n); });
    if (n == 1000000) check_large_launch();
}

TEST_CASE("task 3: launches nothing for an empty vector", "[task3]") {
    wb::DeviceBuffer<float> d_a(0), d_b(0), d_c(0);
    const auto counters = wb::count([&] { vector_add(d_a.get(), d_b.get(), d_c.get(), 0); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) {
        INFO("for n = 0: launched kernels: " << counters->launches << ", want none");
        CHECK(counters->launches == 0);
    }
}

TEST_CASE("task 3: launches blocks of kThreadsPerBlock threads", "[task3]") {
    const int n = 1000;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2)), d_c(n);
    const auto counted = wb::count([&] { vector_add(d_a.get(), d_b.get(), d_c.get(), n); });
    NEED_COUNTERS(counted);
    INFO("vector_add of " << n << " elements launched " << counted->blocks << " blocks with "
                          << counted->threads << " threads in all, want "
                          << counted->blocks * kThreadsPerBlock);
    CHECK(counted->threads == counted->blocks * kThreadsPerBlock);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    const int n = 1000;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2)), d_c(n);
    wb::DeviceBuffer<int> d_index(wb::random_ints(n, 3, 0, n - 1)), d_errors(1);
    wb::check_refused_launch("vector_add", [&] { vector_add(d_a.get(), d_b.get(), d_c.get(), n); });
    wb::check_refused_launch("gather", [&] {
        gather(d_a.get(), n, d_index.get(), d_c.get(), n, OutOfRange::kCount, d_errors.get());
    });
}

TEST_CASE("task 4: wraps an index from either side", "[task4]") {
    check_wrap_index(2, 6, 2);
    check_wrap_index(6, 6, 0);
    check_wrap_index(8, 6, 2);
    check_wrap_index(-1, 6, 5);
    check_wrap_index(-6, 6, 0);
    check_wrap_index(-14, 6, 4);  // the remainder is -2, one length more is -8
    check_wrap_index(14, 6, 2);
    const int length = GENERATE(1, 2, 6, 33, 1000, 1 << 30);
    const int i = GENERATE(INT32_MIN, -1000001, -33, -1, 0, 1, 5, 999, 1000, INT32_MAX);
    const int64_t wide = i;
    check_wrap_index(i, length, (wide % length + length) % length);
}

TEST_CASE("task 5: gathers with good indexes under every policy", "[task5]") {
    const auto policy = GENERATE(OutOfRange::kWrap, OutOfRange::kClamp, OutOfRange::kCount);
    const int n = GENERATE(0, 1, 33, 1000, 1024);
    CAPTURE(n, policy);
    check_gather(wb::random_floats(77, 11), wb::random_ints(n, 12, 0, 76), policy);
}

TEST_CASE("task 5: wraps bad indexes", "[task5]") {
    check_gather(kSixValues, {2, 3, 5, 6, 7, 8}, OutOfRange::kWrap);  // 2.2 3.3 5.5 0 1.1 2.2
    check_gather(
        wb::random_floats(97, 13), wb::random_ints(1000, 14, -300, 300), OutOfRange::kWrap);
    check_gather(wb::random_floats(97, 19), kFarAway, OutOfRange::kWrap);
}

TEST_CASE("task 5: clamps bad indexes", "[task5]") {
    check_gather(kSixValues, {2, 5, 6, 7, 0, -1, -8}, OutOfRange::kClamp);
    check_gather(
        wb::random_floats(97, 15), wb::random_ints(1000, 16, -300, 300), OutOfRange::kClamp);
    check_gather(wb::random_floats(97, 20), kFarAway, OutOfRange::kClamp);
}

TEST_CASE("task 5: clamps in arrays that are longer than a float can count", "[task5]") {
    // Only the last hundred elements are ever read, so that no others have to be stored.
    const int length = (1 << 24) + 100, first = 1 << 24;
    const auto tail = wb::random_floats(100, 22);
    std::vector<int> index;
    std::vector<float> want;
    for (int k = 0; k < 110; ++k) {
        index.push_back(first + k);
        want.push_back(tail[std::min(k, 99)]);
    }
    wb::DeviceBuffer<float> d_values(length), d_out(index.size());
    wb::DeviceBuffer<int> d_index(index), d_errors(1);
    CUDA_CHECK(cudaMemcpy(
        d_values.get() + first, tail.data(), tail.size() * sizeof(float), cudaMemcpyHostToDevice));
    gather(d_values.get(),
           length,
           d_index.get(),
           d_out.get(),
           int(index.size()),
           OutOfRange::kClamp,
           d_errors.get());
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_out.download(), want);
}

TEST_CASE("task 5: counts bad indexes and leaves their elements alone", "[task5]") {
    check_gather(kSixValues, {2, 3, 5, 6, 7, 8}, OutOfRange::kCount);  // 3 errors
    check_gather(
        wb::random_floats(97, 17), wb::random_ints(10007, 18, -300, 300), OutOfRange::kCount);
    check_gather(wb::random_floats(97, 21), kFarAway, OutOfRange::kCount);
}
