// SPDX-License-Identifier: MIT
// Lesson 18: every n is summed completely, in log n steps, without races and without atomics.
//
// Tolerance: none where the inputs are eighths, 1/8 to 1, since all partial sums then stay below
// 2^24 eighths and are exact in float, in any order. One level of the halving tree is one correctly
// rounded addition for each element. Sums of fractions: n additions in any order are off by at most
// n * 2^-24 * sum |x| (the first-order bound; ours is far below it). Outputs start as NaN.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "tree_reduction.h"

#include <numeric>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

int half_of(int n) {
    return n - n / 2;
}
int blocks_of(int n) {
    return n / kThreads + (n % kThreads != 0);
}

// Levels of a halving tree over n elements: log2(n) rounded up.
int levels(int n) {
    int count = 0;
    while ((1ll << count) < n) ++count;
    return count;
}

// n random eighths, 1/8 to 1: a lost one always shows, and so does a lost fraction.
std::vector<float> eighths(int n, uint64_t seed) {
    std::vector<float> values;
    for (const int eighth : wb::random_ints(n, seed, 1, 8)) values.push_back(float(eighth) / 8);
    return values;
}

void check_sum(float got, float want, size_t n) {
    const bool right = got == want;
    INFO("the sum of " << n << " numbers: got " << wb::shown(got) << ", want " << wb::shown(want));
    CHECK(right);
}

double exact_sum(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

void check_level(int n, int blocks, int threads) {
    CAPTURE(n, blocks, threads);
    // After the n elements come as many again that must not change.
    const auto before = wb::random_floats(2 * size_t(n), 100 + n);
    wb::GuardedBuffer<float> d_data(before, wb::guard(kGuard));
    halve_on_grid(d_data.get(), n, blocks, threads);
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (int i = 0; i < n - half_of(n); ++i) want[i] += before[half_of(n) + i];
    const auto got = d_data.download();
    CHECK_ARRAYS(got, want);
    const auto by = [&](auto&& add) {  // add(data, i): what the thread of element i does
        return [&, add] {
            auto data = before;
            for (int i = 0; i < n - half_of(n); ++i) add(data, i);
            return data;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"half is n / 2 rounded down: with an odd n the middle element is added as well",
          by([&](auto& data, int i) { data[i] += before[n / 2 + i]; })},
         {"the partner of element i is counted from the end",
          by([&](auto& data, int i) { data[i] += before[n - 1 - i]; })},
         {"neighbours are added instead of the two halves",
          by([&](auto& data, int i) { data[i] = before[2 * i] + before[2 * i + 1]; })},
         {"the lower half is added to the upper one: the sums are in the wrong half",
          by([&](auto& data, int i) { data[half_of(n) + i] += before[i]; })},
         {"the upper half overwrites the lower one: nothing is added",
          by([&](auto& data, int i) { data[i] = before[half_of(n) + i]; })}});
    CHECK(d_data.intact());
}

float halving_sum(const std::vector<float>& values) {
    wb::GuardedBuffer<float> d_data(values, wb::guard(kGuard)), d_sum(1, wb::guard(kGuard));
    sum_by_halving(d_data.get(), int(values.size()), d_sum.get());
    CUDA_CHECK(cudaGetLastError());
    const float sum = d_sum.download()[0];
    // Halved until at most `last` elements are left, where `rest` says how many a level leaves.
    const auto halved = [&](int last, auto&& rest) {
        auto data = values;
        for (int left = int(values.size()); left > last; left = rest(left))
            for (int i = 0; i < left - half_of(left); ++i) data[i] += data[half_of(left) + i];
        return std::vector{data[0]};
    };
    if (values.size() > 1) {
        const float right = float(std::accumulate(values.begin(), values.end(), 0.0));
        wb::recognize<float>(
            {sum},
            {right},
            {{"the first element, as it was: no level has been added",
              [&] { return std::vector{values[0]}; }},
             {"one level only: half of the elements are left",
              [&] { return halved(half_of(int(values.size())), half_of); }},
             {"one level too few: two elements are left", [&] { return halved(2, half_of); }},
             {"the number that is left is rounded down: with an odd number an element is lost",
              [&] { return halved(1, [](int left) { return left / 2; }); }}});
    }
    CHECK(d_data.intact());
    CHECK(d_sum.intact());
    return sum;
}

void check_block_sums(const std::vector<float>& in) {
    const int n = int(in.size());
    CAPTURE(n);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(blocks_of(n), wb::guard(kGuard));
    block_sums(d_in.get(), d_out.get(), n);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> want(blocks_of(n), 0.0f);
    for (int i = 0; i < n; ++i) want[i / kThreads] += in[i];
    const auto got = d_out.download();
    CHECK_ARRAYS(got, want);
    const auto some = [&](auto&& counts) {  // counts(t): whether thread t's element is in the sum
        return [&, counts] {
            std::vector<float> out(want.size(), 0.0f);
            for (int i = 0; i < n; ++i)
                if (counts(i % kThreads)) out[i / kThreads] += in[i];
            return out;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"the last level is missing: slot 1 is not in the sum",
          some([](int t) { return t % 2 == 0; })},
         {"the first level is missing: the upper half of the tile is left out",
          some([](int t) { return t < kThreads / 2; })},
         {"only the first element of each block: no level has been added",
          some([](int t) { return t == 0; })},
         {"only the first warp of the block is in the sum", some([](int t) { return t < 32; })},
         {"slots without an element hold the last element instead of 0", [&] {
              auto out = want;
              if (n) out.back() += float(int64_t(out.size()) * kThreads - n) * in.back();
              return out;
          }}});
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

// The buffers of one call of tree_sum, each exactly as large as promised.
struct TreeSum {
    explicit TreeSum(const std::vector<float>& in)
        : d_in(in, wb::guard(kGuard)), d_scratch(2 * blocks_of(int(in.size())), wb::guard(kGuard)),
          d_sum(1, wb::guard(kGuard)) {}
    float run() {
        tree_sum(d_in.get(), int(d_in.size()), d_scratch.get(), d_sum.get());
        CUDA_CHECK(cudaGetLastError());
        return d_sum.download()[0];
    }
    wb::GuardedBuffer<float> d_in, d_scratch, d_sum;
};

float tree_sum_of(const std::vector<float>& in) {
    TreeSum sum(in);
    const float result = sum.run();
    wb::check_unchanged(sum.d_in.download(), in);
    CHECK(sum.d_scratch.intact());
    CHECK(sum.d_sum.intact());
    return result;
}

constexpr int kOnes[] = {1, 2, 3, 7, 1000, 1000000, (1 << 20) - 1, (1 << 20) + 1};

// Numbers in the efficiency tests: not a power of two, and three passes of block sums.
constexpr int kCount = 100003;

}  // namespace

TEST_CASE("task 1: adds the upper half to the lower half", "[task1]") {
    for (const int n : {2, 8, 64, 512, 4096}) check_level(n, (n + 511) / 512, 256);
}

TEST_CASE("task 1: leaves the middle element of an odd number alone", "[task1]") {
    for (const int n : {1, 3, 7, 33, 255, 257, 513, 1001}) check_level(n, 5, 128);
}

TEST_CASE("task 1: threads without an addition do nothing", "[task1]") {
    for (const int n : {1, 2, 6, 100, 1000}) {
        check_level(n, 8, 256);
        check_level(n, 1, 1024);
    }
}

TEST_CASE("task 2: sums eight numbers in three steps", "[task2]") {
    check_sum(halving_sum({3, 1, 7, 0, 4, 1, 6, 3}), 25.0f, 8);
}

TEST_CASE("task 2: sums any number of ones", "[task2]") {
    const int n = GENERATE(from_range(std::begin(kOnes), std::end(kOnes)));
    check_sum(halving_sum(std::vector<float>(n, 1.0f)), float(n), n);
}

TEST_CASE("task 2: sums eighths exactly", "[task2]") {
    const int n = GENERATE(0, 1, 2, 5, 31, 32, 33, 255, 256, 257, 511, 513, 1023, 9973, 100003);
    const auto values = eighths(n, 200 + n);
    check_sum(halving_sum(values), float(exact_sum(values)), n);
}

TEST_CASE("task 2: launches nothing for an empty array", "[task2]") {
    wb::DeviceBuffer<float> d_data(0), d_sum(1);
    const auto counted = wb::count([&] { sum_by_halving(d_data.get(), 0, d_sum.get()); });
    CHECK(cudaGetLastError() == cudaSuccess);
    check_sum(d_sum.download()[0], 0.0f, 0);
    if (counted) CHECK(counted->launches == 0);
}

TEST_CASE("task 3: sums the elements of each block when all blocks are full", "[task3]") {
    for (const int blocks : {1, 2, 3, 17, 391})
        check_block_sums(eighths(blocks * kThreads, blocks));
}

TEST_CASE("task 3: sums the elements of each block when the last one is short", "[task3]") {
    for (const int n : {1, 2, 31, 33, 127, 129, 255, 257, 300, 511, 1000, 9973})
        check_block_sums(eighths(n, 300 + n));
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    const auto counted = wb::count([&] { check_block_sums({}); });
    if (counted) CHECK(counted->launches == 0);
}

TEST_CASE("task 4: sums what fits in one block", "[task4]") {
    check_sum(tree_sum_of({3, 1, 7, 0, 4, 1, 6, 3}), 25.0f, 8);
    const int n = GENERATE(0, 1, 2, 31, 32, 33, 255, 256);
    const auto values = eighths(n, 400 + n);
    check_sum(tree_sum_of(values), float(exact_sum(values)), n);
}

TEST_CASE("task 4: sums the sums of the blocks", "[task4]") {
    const int n = GENERATE(257, 511, 512, 513, 1000, 9973, 65535, 65536);
    const auto values = eighths(n, 500 + n);
    check_sum(tree_sum_of(values), float(exact_sum(values)), n);
}

TEST_CASE("task 4: takes as many passes as it needs", "[task4]") {
    const int n = GENERATE(65537, 100003, 300000);
    const auto values = eighths(n, 600 + n);
    check_sum(tree_sum_of(values), float(exact_sum(values)), n);
}

TEST_CASE("task 4: sums any number of ones", "[task4]") {
    const int n = GENERATE(from_range(std::begin(kOnes), std::end(kOnes)));
    check_sum(tree_sum_of(std::vector<float>(n, 1.0f)), float(n), n);
}

TEST_CASE("task 4: sums fractions as well as float allows, and the same every time", "[task4]") {
    const auto values = wb::random_floats(50021, 7);
    double magnitude = 0;
    for (const float value : values) magnitude += std::fabs(value);
    TreeSum sum(values);
    const float first = sum.run();
    const double bound = values.size() * 0x1p-24 * magnitude;
    const bool accurate = std::fabs(first - exact_sum(values)) <= bound;
    {
        INFO("the sum of " << values.size() << " fractions: got " << wb::shown(first) << ", want "
                           << exact_sum(values) << " with an error of at most " << bound);
        CHECK(accurate);
    }
    const float second = sum.run();
    const bool the_same = second == first;
    INFO("the sum of the same numbers: got " << wb::shown(first) << ", and then "
                                             << wb::shown(second));
    CHECK(the_same);
}

TEST_CASE("efficient: halving takes log n launches and n - 1 additions",
          "[efficient][task1][task2]") {
    wb::DeviceBuffer<float> d_data(eighths(kCount, 8)), d_sum(1);
    const auto counted = wb::count([&] { sum_by_halving(d_data.get(), kCount, d_sum.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches <= uint64_t(levels(kCount)));
    CHECK(counted->global_atomics == 0);
    CHECK(counted->global_store_bytes > 0);
    CHECK(counted->global_store_bytes <= sizeof(float) * kCount);
    CHECK(counted->global_load_bytes <= 2 * sizeof(float) * kCount);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: halving launches fewer threads at each level", "[efficient][task1][task2]") {
    wb::DeviceBuffer<float> d_data(eighths(kCount, 9)), d_sum(1);
    const auto counted = wb::count([&] { sum_by_halving(d_data.get(), kCount, d_sum.get()); });
    NEED_COUNTERS(counted);
    REQUIRE(counted->blocks > 0);
    CHECK(counted->threads < kCount + counted->block_size() * levels(kCount));
    CHECK(counted->warp_instructions <= uint64_t(2) * kCount);  // serial code needs 6 or more each
    // All levels together: 400 instructions. A warp that adds for its block needs 3,000.
    wb::check_shared_work(*counted, kCount / 2, 16, 1500);
}

TEST_CASE("efficient: the tree loads each number once and needs no atomics",
          "[efficient][task3][task4]") {
    TreeSum sum(eighths(kCount, 10));
    const auto counted =
        wb::count([&] { tree_sum(sum.d_in.get(), kCount, sum.d_scratch.get(), sum.d_sum.get()); });
    NEED_COUNTERS(counted);
    const uint64_t sums = blocks_of(kCount) + blocks_of(blocks_of(kCount)) + 1;
    CHECK(counted->global_load_bytes >= sizeof(float) * kCount);
    CHECK(counted->global_load_bytes <= sizeof(float) * (kCount + sums));
    CHECK(counted->global_load_sectors <= (kCount + sums) / 8 + 8);
    CHECK(counted->global_store_bytes <= sizeof(float) * sums);
    CHECK(counted->global_atomics + counted->shared_atomics == 0);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the threads that add sit side by side", "[efficient][task3][task4]") {
    TreeSum sum(eighths(kCount, 11));
    const auto counted =
        wb::count([&] { tree_sum(sum.d_in.get(), kCount, sum.d_scratch.get(), sum.d_sum.get()); });
    NEED_COUNTERS(counted);
    REQUIRE(counted->blocks > 0);
    CHECK(counted->global_store_bytes > 0);
    // Side by side, only one warp has idle lanes among working ones: in the levels of 16, 8, 4, 2
    // and 1 additions, plus one or two branches for each warp elsewhere. Scattered, nearly all
    // warps do.
    CHECK(counted->divergent_branches <= 16 * counted->blocks);
    CHECK(counted->shared_load_conflicts + counted->shared_store_conflicts == 0);
    CHECK(counted->warp_instructions <= uint64_t(8) * kCount);
}

TEST_CASE("efficient: all threads of a block share its additions", "[efficient][task3][task4]") {
    TreeSum sum(eighths(kCount, 13));
    const auto counted =
        wb::count([&] { tree_sum(sum.d_in.get(), kCount, sum.d_scratch.get(), sum.d_sum.get()); });
    NEED_COUNTERS(counted);
    // Three launches, 250 to 400 instructions together. A thread that adds its block's 256 numbers
    // needs 800 in each.
    wb::check_shared_work(*counted, kCount / 16, 16, 900);
}

TEST_CASE("efficient: one barrier for each level", "[efficient][task3][task4]") {
    TreeSum sum(eighths(kCount, 12));
    const auto counted =
        wb::count([&] { tree_sum(sum.d_in.get(), kCount, sum.d_scratch.get(), sum.d_sum.get()); });
    NEED_COUNTERS(counted);
    REQUIRE(counted->blocks > 0);
    CHECK(counted->global_store_bytes > 0);
    CHECK(counted->block_barriers <= (1 + levels(int(counted->block_size()))) * counted->blocks);
}
