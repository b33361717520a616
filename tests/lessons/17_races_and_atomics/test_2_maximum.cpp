// SPDX-License-Identifier: MIT
// Lesson 17, the maximum and its index, and how many atomics all functions need.
//
// Tolerance: none. A maximum is one of the inputs, and an index is a whole number.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"
#include "watches/call_checks.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

unsigned bits_of(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// 0x and all digits: packed numbers are read by their halves.
std::string hex(Count packed) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%016llx", packed);
    return text;
}

void check_maximum(const std::vector<float>& x) {
    const size_t n = x.size();
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_max(1, wb::guard(kGuard));
    maximum(d_x.get(), int(x.size()), d_max.get());
    CUDA_CHECK(cudaGetLastError());
    const float want = x.empty() ? -kInfinity : *std::max_element(x.begin(), x.end());
    const float got = d_max.download()[0];
    const bool maximum_right = got == want;
    {
        INFO("the maximum of " << n << " elements: got " << got << ", want " << want);
        CHECK(maximum_right);
    }
    const auto largest_by = [&](auto&& key) {
        auto best = -kInfinity;
        for (const float value : x)
            if (key(value) > key(best)) best = value;
        return std::vector{best};
    };
    wb::recognize<float>(
        {got},
        {want},
        {{"it began at 0, which is larger than any negative number",
          [&] { return std::vector{std::max(want, 0.0f)}; }},
         {"the bits were compared as a whole number: they grow as negative numbers fall",
          [&] { return largest_by([](float value) { return int(bits_of(value)); }); }},
         {"nothing was exchanged: the initial -infinity is still there",
          [] { return std::vector{-kInfinity}; }},
         {"another thread was quicker, and the exchange was not tried again",
          [&] {
              // Each warp reads the maximum so far, and its first lane with more than that wins.
              float most = -kInfinity;
              for (size_t warp = 0; warp < n; warp += 32) {
                  const auto end = x.begin() + std::min(n, warp + 32);
                  const auto winner = std::find_if(
                      x.begin() + warp, end, [&](float value) { return value > most; });
                  if (winner != end) most = *winner;
              }
              return std::vector{most};
          }},
         {"the smallest element",
          [&] { return std::vector{x.empty() ? want : *std::min_element(x.begin(), x.end())}; }},
         {"the last element: each value replaces the one before",
          [&] { return std::vector{x.empty() ? want : x.back()}; }}});
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_max.intact());
}

void check_arg_max(const std::vector<float>& x) {
    const size_t n = x.size();
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<Count> d_best(1, wb::guard(kGuard));
    arg_max(d_x.get(), int(x.size()), d_best.get());
    CUDA_CHECK(cudaGetLastError());
    const auto want = unsigned(std::max_element(x.begin(), x.end()) - x.begin());
    const Count best = d_best.download()[0];
    const unsigned got = index_of(best);
    const bool index_right = got == want;
    {
        INFO("the largest of " << n << " elements: got index " << got << ", want " << want);
        CHECK(index_right);
    }
    const bool packed = best == pack(x[want], want) || !index_right;
    {
        INFO("d_best[0]: got " << hex(best) << ", want pack(" << x[want] << ", " << want
                               << ") = " << hex(pack(x[want], want)));
        CHECK(packed);
    }
    const auto first_by = [&](auto&& key, bool last) {
        unsigned best = 0;
        for (unsigned i = 1; i < n; ++i)
            if (key(x[i]) > key(x[best]) || (last && key(x[i]) == key(x[best]))) best = i;
        return std::vector{best};
    };
    const auto flipped = [](float value) { return bits_of(value) ^ 0x80000000u; };
    wb::recognize<unsigned>(
        {got},
        {want},
        {{"of several largest ones the last is found",
          [&] { return first_by([](float value) { return value; }, true); }},
         {"the bits are compared as they are: negative numbers have the larger ones",
          [&] { return first_by(bits_of, false); }},
         {"negative numbers are in the opposite order of their bits",
          [&] { return first_by(flipped, false); }},
         {"-0 and +0 are treated as different numbers",
          [&] {
              return first_by(
                  [&](float value) {
                      const unsigned bits = bits_of(value);
                      return bits >> 31 ? ~bits : flipped(value);
                  },
                  false);
          }},
         {"the index is packed as it is, but inverted when it is unpacked",
          [&] { return std::vector{~want}; }}});
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_best.intact());
}

// pack(a, i) must be above pack(b, j).
void check_order(float a, unsigned i, float b, unsigned j) {
    const Count larger = pack(a, i), smaller = pack(b, j);
    const bool in_order = larger > smaller;
    INFO("pack(" << a << ", " << i << ") = " << hex(larger) << " must be above pack(" << b << ", "
                 << j << ") = " << hex(smaller));
    CHECK(in_order);
}

void check_not_zero(float value, unsigned index) {
    const bool not_zero = pack(value, index) != 0;
    INFO("pack(" << value << ", " << index << ") is 0, and 0 stands for no element");
    CHECK(not_zero);
}

std::vector<float> rising(int n) {
    std::vector<float> x(n);
    std::iota(x.begin(), x.end(), -float(n) / 2);
    return x;
}

std::vector<float> falling(int n) {
    auto x = rising(n);
    std::reverse(x.begin(), x.end());
    return x;
}

// Elements in the efficiency tests.
constexpr int kCount = 100003;
// Instructions of the busiest warp. An element costs a warp 20 to 70 of them, 30 in most answers,
// and a thread may have 16. One warp with all elements executes 16,000 and more, one thread
// 500,000.
constexpr uint64_t kBusiest = 1000;
// The warps of its launch, in blocks of 256 threads: those without an element may add 0.
constexpr int kWarps = (kCount + 255) / 256 * 8;

}  // namespace

TEST_CASE("task 4: finds the maximum of arrays of any length", "[task4]") {
    for (const int n : kSizes) check_maximum(wb::random_floats(n, 40 + n, -1000.0f, 1000.0f));
}

TEST_CASE("task 4: finds the maximum of negative numbers", "[task4]") {
    for (const int n : {1, 33, 1000}) check_maximum(wb::random_floats(n, 41, -9.0f, -1.0f));
    check_maximum({-1e-40f, -2.0f, -1e-38f});
}

TEST_CASE("task 4: knows zeros of both signs and infinities", "[task4]") {
    check_maximum(std::vector<float>(100, -0.0f));
    check_maximum({-2.0f, -0.0f, -1.0f});
    check_maximum({-0.0f, 0.0f, -0.0f});
    check_maximum({-kInfinity, -1e38f});
    check_maximum({1.0f, kInfinity, -kInfinity});
    check_maximum({-kInfinity, -kInfinity});
}

TEST_CASE("task 4: the order in which values come does not matter", "[task4]") {
    check_maximum(rising(5000));
    check_maximum(falling(5000));
}

namespace {

// Tells the grader what is missing where all values give the same upper half.
void note_upper_halves(const std::vector<float>& ladder) {
    size_t same = 0;
    for (const float value : ladder) same += pack(value, 7) >> 32 == pack(ladder[0], 7) >> 32;
    if (same == ladder.size())
        wb::details::note_mistakes({"the value does not reach the upper 32 bits: it is shifted "
                                    "before it is widened, or something covers it"},
                                   same);
}

}  // namespace

TEST_CASE("task 5: packs values so that larger ones are larger numbers", "[task5]") {
    const std::vector<float> ladder = {-kInfinity,
                                       -1e38f,
                                       -2.0f,
                                       -1.0f,
                                       -1e-38f,
                                       -1e-40f,
                                       0.0f,
                                       1e-40f,
                                       1e-38f,
                                       0.999f,
                                       1.0f,
                                       2.0f,
                                       1e38f,
                                       kInfinity};
    note_upper_halves(ladder);
    for (size_t k = 1; k < ladder.size(); ++k) {
        check_order(ladder[k], 7, ladder[k - 1], 7);
        check_order(ladder[k], 0xFFFFFFFFu, ladder[k - 1], 0);
    }
    for (const unsigned index : {0u, 0xFFFFFFFEu, 0xFFFFFFFFu}) check_not_zero(-kInfinity, index);
}

TEST_CASE("task 5: of equal values the lower index is the larger number", "[task5]") {
    for (const float value : {-3.0f, -0.0f, 0.0f, 1e-40f, 5.0f}) {
        check_order(value, 0, value, 1);
        check_order(value, 2147483647u, value, 2147483648u);
    }
    check_order(-0.0f, 3, 0.0f, 4);
    check_order(0.0f, 3, -0.0f, 4);
}

TEST_CASE("task 5: gives back the index", "[task5]") {
    for (const unsigned index :
         {0u, 1u, 255u, 65536u, 2147483647u, 2147483648u, 4294967294u, 4294967295u})
        for (const float value : {-3.5f, -0.0f, 2.0f}) {
            const unsigned got = index_of(pack(value, index));
            const bool same = got == index;
            INFO("index_of(pack(" << value << ", " << index << ")): got " << got << ", want "
                                  << index);
            CHECK(same);
        }
}

TEST_CASE("task 5: finds where the largest element is", "[task5]") {
    for (const int n : kSizes)
        if (n > 0) check_arg_max(wb::random_floats(n, 50 + n, -5.0f, 5.0f));
    check_arg_max(wb::random_floats(1000, 51, -9.0f, -1.0f));
    check_arg_max(rising(5000));
    check_arg_max(falling(5000));
}

TEST_CASE("task 5: finds the first of several", "[task5]") {
    check_arg_max(std::vector<float>(3000, -2.0f));
    std::vector<float> x(3000, -5.0f);
    x[0] = -4.0f;
    x[700] = x[701] = x[2999] = 1.0f;
    check_arg_max(x);
    check_arg_max({-1.0f, -0.0f, 0.0f});
    check_arg_max({-0.0f, 0.0f});
    check_arg_max({-1.0f, 0.0f, -0.0f});
}

TEST_CASE("task 5: finds nothing in an empty array, and launches nothing", "[task5]") {
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{7}), d_best(1);
    wb::DeviceBuffer<unsigned> d_found(1);
    wb::DeviceBuffer<float> d_max(1);
    const auto counted = wb::count([&] {
        collect_above(nullptr, 0, 0.5f, nullptr, d_found.get());
        count_above_by_warps(nullptr, 0, 0.5f, d_count.get());
        maximum(nullptr, 0, d_max.get());
        arg_max(nullptr, 0, d_best.get());
    });
    if (counted) CHECK(counted->launches == 0);
    CHECK_ARRAYS(d_best.download(), std::vector<Count>{0});
    check_arg_max({-2.0f, 5.0f, 1.0f});
}

TEST_CASE("task 5: a refused launch of the other functions is an exception", "[task5]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(100, 4)), d_max(1);
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{0});
    wb::DeviceBuffer<unsigned> d_found(1);
    wb::DeviceBuffer<int> d_out(100);
    const float* x = d_x.get();
    wb::check_refused_launch("collect_above",
                             [&] { collect_above(x, 100, 0.5f, d_out.get(), d_found.get()); });
    wb::check_refused_launch("count_above_by_warps",
                             [&] { count_above_by_warps(x, 100, 0.5f, d_count.get()); });
    wb::check_refused_launch("maximum", [&] { maximum(x, 100, d_max.get()); });
    wb::check_refused_launch("arg_max", [&] { arg_max(x, 100, d_count.get()); });
}

TEST_CASE("efficient: counts with one launch, and copies nothing to the host",
          "[efficient][task1]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 61));
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{0});
    const auto counted = wb::count([&] { count_above(d_x.get(), kCount, 0.5f, d_count.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_load_bytes == sizeof(float) * kCount);
    CHECK(counted->global_load_sectors <= kCount / 8 + 1);
    CHECK(counted->device_to_host_bytes == 0);
    wb::check_shared_work(*counted, kCount / 16, 16, kBusiest);
}

TEST_CASE("efficient: collects with at most one atomic for each index", "[efficient][task2]") {
    const auto x = wb::random_floats(kCount, 62);
    const uint64_t found = indexes_above(x, 0.5f).size();
    wb::DeviceBuffer<float> d_x(x);
    wb::DeviceBuffer<int> d_out(kCount);
    wb::DeviceBuffer<unsigned> d_count(1);
    const auto counted =
        wb::count([&] { collect_above(d_x.get(), kCount, 0.5f, d_out.get(), d_count.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->warp_instructions <= 4 * kCount);  // serial code needs more
    wb::check_shared_work(*counted, kCount / 16, 12, kBusiest);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_atomics <= found);
    CHECK(counted->global_store_bytes == sizeof(int) * found);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: at most one atomic for each warp", "[efficient][task3]") {
    const float limit = GENERATE(-2.0f, 0.5f);  // all are above, or a quarter
    CAPTURE(limit);
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 63));
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{0});
    const auto counted =
        wb::count([&] { count_above_by_warps(d_x.get(), kCount, limit, d_count.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_atomics <= kWarps);
    CHECK(counted->shared_atomics <= kWarps);
    CHECK(counted->warp_instructions <= 4 * kCount);  // serial code needs more
    wb::check_shared_work(*counted, kCount / 16, 12, kBusiest);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: few tries are needed when the maximum comes first", "[efficient][task4]") {
    // The first warp has the maximum. A later thread needs one try that shows this, and perhaps an
    // exchange of the maximum for itself.
    wb::DeviceBuffer<float> d_x(falling(kCount)), d_max(1);
    const auto counted = wb::count([&] { maximum(d_x.get(), kCount, d_max.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_atomics <= 2 * uint64_t(kCount) + 32 * 32);
    wb::check_shared_work(*counted, kCount / 16, 12, kBusiest);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: one launch and at most one atomic for each element find the index",
          "[efficient][task5]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 65));
    wb::DeviceBuffer<Count> d_best(1);
    const auto counted = wb::count([&] { arg_max(d_x.get(), kCount, d_best.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->device_to_host_bytes == 0);
    CHECK(counted->warp_instructions <= 4 * kCount);  // serial code needs more
    wb::check_shared_work(*counted, kCount / 16, 12, kBusiest);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_atomics <= kCount);
    CHECK(counted->global_load_bytes == sizeof(float) * kCount);
}
