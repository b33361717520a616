// SPDX-License-Identifier: MIT
// Lesson 17: no update is lost when all threads use one address, whatever their order.
//
// Tolerance: none. Counts and indexes are whole numbers, and a maximum is one of the inputs.
#include "call_checks.h"
#include "lesson_test.h"
#include "races_and_atomics.h"
#include "shared_work.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace {

using Count = unsigned long long;
using CountAbove = void (*)(const float*, int, float, Count*);

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kSizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4096, 10007};

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

std::vector<int> indexes_above(const std::vector<float>& x, float limit) {
    std::vector<int> found;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] > limit) found.push_back(int(i));
    return found;
}

void check_count(CountAbove count_it, const std::vector<float>& x, float limit, Count before) {
    const size_t n = x.size();
    CAPTURE(n, limit, before);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<Count> d_count(std::vector<Count>{before}, wb::guard(kGuard));
    count_it(d_x.get(), int(x.size()), limit, d_count.get());
    CUDA_CHECK(cudaGetLastError());
    const Count got = d_count.download()[0], want = before + indexes_above(x, limit).size();
    const bool count_right = got == want;
    {
        INFO("the count was " << before << ", and " << want - before << " of " << n
                              << " elements are above " << limit << ": got " << got << ", want "
                              << want);
        CHECK(count_right);
    }
    const auto counted = [&](auto&& weight) {
        Count sum = before;
        for (size_t i = 0; i < n; ++i) sum += weight(i);
        return std::vector{sum};
    };
    const auto above = [&](size_t i) { return Count(x[i] > limit); };
    const auto in_warp = [&](size_t i) {  // how many of the warp of element i are above
        Count sum = 0;
        for (size_t k = i / 32 * 32; k < std::min(n, i / 32 * 32 + 32); ++k) sum += above(k);
        return sum;
    };
    wb::recognize<Count>(
        {got},
        {want},
        {{"elements equal to the limit are counted as well",
          [&] { return counted([&](size_t i) { return Count(x[i] >= limit); }); }},
         {"elements that are only just above the limit are not counted",
          [&] { return counted([&](size_t i) { return Count(x[i] > limit + 1e-4f); }); }},
         {"elements below the limit are counted",
          [&] { return counted([&](size_t i) { return Count(x[i] < limit); }); }},
         {"the previous count is lost", [&] { return std::vector{want - before}; }},
         {"the counter has 32 bits", [&] { return std::vector{Count(unsigned(want))}; }},
         {"the counter has 32 bits",
          [&] { return std::vector{before >> 32 << 32 | Count(unsigned(want))}; }},
         {"every thread of a block adds what all of them have counted",
          [&] { return std::vector{before + 256 * (want - before)}; }},
         {"only the first warp of each block is counted",
          [&] { return counted([&](size_t i) { return i % 256 < 32 ? above(i) : 0; }); }},
         {"a warp counts as one: the updates of its other lanes are lost, or never made",
          [&] { return counted([&](size_t i) { return Count(i % 32 == 0 && in_warp(i) > 0); }); }},
         {"only lane 0 of each warp is counted",
          [&] { return counted([&](size_t i) { return i % 32 ? 0 : above(i); }); }},
         {"each lane of a warp adds the votes of all",
          [&] {
              Count sum = before;  // lanes past the end vote and add, too
              for (size_t i = 0; i < n; i += 32) sum += 32 * in_warp(i);
              return std::vector{sum};
          }},
         {"the votes themselves are added, a bit for each lane, instead of their number",
          [&] { return counted([&](size_t i) { return above(i) << i % 32; }); }}});
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_count.intact());
}

void check_counts(CountAbove count_it) {
    for (const int n : kSizes) check_count(count_it, wb::random_floats(n, 10 + n), 0.25f, 0);
    // Half of the elements are equal to the limit, which is not above it.
    std::vector<float> steps(3001);
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = float(wb::random_ints(1, i, 0, 3)[0]);
    check_count(count_it, steps, 1.0f, 0);
    // The next float is above.
    for (size_t i = 0; i < steps.size(); ++i)
        steps[i] = i % 3 ? 0.25f : std::nextafter(0.25f, i % 2 ? 1.0f : 0.0f);
    check_count(count_it, steps, 0.25f, 0);
}

void check_large_counts(CountAbove count_it) {
    const std::vector<float> x(10, 1.0f);
    check_count(count_it, x, 0.0f, (Count(1) << 32) - 5);  // to 2^32 + 5
    check_count(count_it, wb::random_floats(1000, 2), 0.0f, (Count(1) << 40) - 7);
}

void check_collect(const std::vector<float>& x, float limit) {
    const size_t n = x.size();
    CAPTURE(n, limit);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_out(x.size(), wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_count(1, wb::guard(kGuard));
    collect_above(d_x.get(), int(x.size()), limit, d_out.get(), d_count.get());
    CUDA_CHECK(cudaGetLastError());
    auto want = indexes_above(x, limit);
    const unsigned found = d_count.download()[0];
    const bool number_right = found == want.size();
    {
        INFO("d_count[0] for " << n << " elements: got " << found << ", want " << want.size());
        CHECK(number_right);
    }
    auto got = d_out.download();
    const auto by_place = [&](auto&& place) {  // the output, if index k went to place(k)
        std::vector<int> out(x.size(), -1);
        for (size_t k = 0; k < want.size(); ++k)
            if (place(k) < out.size()) out[place(k)] = want[k];
        return out;
    };
    wb::recognize<int>(
        got,
        by_place([](size_t k) { return k; }),
        {{"each index is stored at its own position: the slot is the number that the atomic "
          "returns",
          [&, indexes = want] { return by_place([&](size_t k) { return size_t(indexes[k]); }); }},
         {"the first slot stays empty: the atomic returns the value before the addition",
          [&] { return by_place([](size_t k) { return k + 1; }); }},
         {"the elements are stored, cut to whole numbers, instead of their indexes", [&] {
              std::vector<int> out(x.size(), -1);
              for (size_t k = 0; k < want.size(); ++k) out[k] = int(x[want[k]]);
              return out;
          }}});
    std::sort(got.begin(), got.begin() + want.size());  // any order is right
    want.resize(x.size(), -1);                          // the slots that must not change
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "sorted entry");
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_out.intact());
    CHECK(d_count.intact());
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

TEST_CASE("task 1: 4096 threads count to 4096", "[task1]") {
    check_count(count_above, std::vector<float>(4096, 1.0f), 0.0f, 0);
}

TEST_CASE("task 1: counts in arrays of any length", "[task1]") {
    check_counts(count_above);
}

TEST_CASE("task 1: counts beyond 32 bits, and adds to what is there", "[task1]") {
    check_large_counts(count_above);
}

TEST_CASE("task 1: more elements than a thousand blocks have threads", "[task1]") {
    check_count(count_above, wb::random_floats(300001, 5), 0.25f, 0);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(100, 4));
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{0});
    wb::check_refused_launch("count_above",
                             [&] { count_above(d_x.get(), 100, 0.5f, d_count.get()); });
}

TEST_CASE("task 1: launches nothing for no elements", "[task1]") {
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{7});
    const auto counted = wb::count([&] { count_above(nullptr, 0, 0.5f, d_count.get()); });
    if (counted) CHECK(counted->launches == 0);
    check_count(count_above, {1.0f, 0.0f, 2.0f}, 0.5f, 0);
}

TEST_CASE("task 2: collects from arrays of any length, in any order", "[task2]") {
    for (const int n : kSizes) check_collect(wb::random_floats(n, 20 + n), 0.25f);
}

TEST_CASE("task 2: collects all elements, or none", "[task2]") {
    check_collect(std::vector<float>(5000, 2.0f), 1.0f);
    check_collect(std::vector<float>(5000, 1.0f), 1.0f);
    check_collect(std::vector<float>(5000, std::nextafter(1.0f, 2.0f)), 1.0f);
}

TEST_CASE("task 3: 4096 threads count to 4096", "[task3]") {
    check_count(count_above_by_warps, std::vector<float>(4096, 1.0f), 0.0f, 0);
}

TEST_CASE("task 3: counts in arrays of any length", "[task3]") {
    check_counts(count_above_by_warps);
}

TEST_CASE("task 3: counts beyond 32 bits, and adds to what is there", "[task3]") {
    check_large_counts(count_above_by_warps);
}

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
