// SPDX-License-Identifier: MIT
// Lesson 21: every key is counted once, in its own bin, whatever the grid and the number of bins.
//
// Tolerance: none, counts are whole numbers. Keys outside the bins are among all inputs.
#include "cases/shared_work.h"
#include "histogram_shared.h"
#include "lesson_test.h"
#include "watches/cuda_calls.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace {

using Counts = std::vector<unsigned>;
using Histogram = std::function<void(const int*, int, int, unsigned*)>;

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr int kBins[] = {1, 2, 31, 32, 64, 120, 255, 256, 257, 1000, 1200};
constexpr int kSizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 1000, 10007};

// Some keys that belong to no bin, at the start, in the middle and at the end.
std::vector<int> with_strays(std::vector<int> keys, int bins) {
    const int strays[] = {bins, -1, INT_MAX, INT_MIN, bins + 1, -bins};
    for (size_t i = 0; i < std::size(strays) && i * 7 < keys.size(); ++i) keys[i * 7] = strays[i];
    if (!keys.empty()) keys.back() = bins;
    return keys;
}

std::vector<int> uniform_keys(int n, int bins, uint64_t seed) {
    return with_strays(wb::random_ints(n, seed, 0, bins - 1), bins);
}

// Low bins far more often than high ones.
std::vector<int> skewed_keys(int n, int bins, uint64_t seed) {
    std::vector<int> keys(n);
    for (int i = 0; i < n; ++i) {
        const double u = wb::uniform_float(seed, i);
        keys[i] = int(u * u * u * u * bins);
    }
    return with_strays(keys, bins);
}

Counts counts_of(const std::vector<int>& keys, int bins) {
    Counts counts(bins, 0u);
    for (const int key : keys)
        if (key >= 0 && key < bins) ++counts[key];
    return counts;
}

// Task 1's function on a grid that the test knows.
struct InBlocks {
    int blocks, threads;
    void operator()(const int* d_keys, int n, int bins, unsigned* d_counts) const {
        count_in_blocks(d_keys, n, bins, d_counts, blocks, threads);
    }
};

// Mistakes in the index or in the merge, on a grid that the test knows.
void add_grid_mistakes(std::vector<wb::Mistake<unsigned>>& mistakes, const Counts& before,
                       const std::vector<int>& keys, const InBlocks& grid) {
    if (grid.blocks < 2) return;
    const size_t threads = grid.threads, blocks = grid.blocks;
    const auto add = [&](const char* words, auto&& times) {  // how often key i counts
        mistakes.push_back({words, [&, times] {
                                Counts counts = before;
                                for (size_t i = 0; i < keys.size(); ++i)
                                    if (keys[i] >= 0 && keys[i] < int(counts.size()))
                                        counts[keys[i]] += unsigned(times(i));
                                return counts;
                            }});
    };
    add("every block begins at key 0: the block's number is missing from the index",
        [=](size_t i) { return i % (blocks * threads) < threads ? blocks : 0; });
    add("threads move on by the size of a block: several blocks count the same keys",
        [=](size_t i) { return std::min(i / threads + 1, blocks); });
    add("each thread takes one key only: keys past the grid are not counted",
        [=](size_t i) { return i < blocks * threads; });
    add("only block 0 merges its bins", [=](size_t i) { return i / threads % blocks == 0; });
    mistakes.push_back({"each block adds 1 for a bin instead of its count", [&, threads, blocks] {
                            Counts counts = before;
                            for (size_t block = 0; block < blocks; ++block) {
                                Counts own(counts.size(), 0u);
                                for (size_t i = 0; i < keys.size(); ++i)
                                    if (i / threads % blocks == block && keys[i] >= 0 &&
                                        keys[i] < int(own.size()))
                                        own[keys[i]] = 1;
                                for (size_t b = 0; b < own.size(); ++b) counts[b] += own[b];
                            }
                            return counts;
                        }});
}

void check(const Histogram& histogram_it, const std::vector<int>& keys, int bins,
           const Counts& before) {
    const size_t n = keys.size();
    CAPTURE(n, bins);
    wb::GuardedBuffer<int> d_keys(keys, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_counts(before, wb::guard(kGuard));
    histogram_it(d_keys.get(), int(keys.size()), bins, d_counts.get());
    CUDA_CHECK(cudaGetLastError());
    Counts want = counts_of(keys, bins);
    for (int b = 0; b < bins; ++b) want[b] += before[b];
    const Counts got = d_counts.download();
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "bin");
    // The counts, if each key adds adds(its lane, lanes with that key, those before this lane).
    const auto by_warps = [&](auto&& adds) {
        Counts counts = before;
        for (size_t first = 0; first < n; first += 32)
            for (size_t i = first; i < std::min(n, first + 32); ++i) {
                if (keys[i] < 0 || keys[i] >= bins) continue;
                unsigned same = 0, earlier = 0;
                for (size_t k = first; k < std::min(n, first + 32); ++k) {
                    same += keys[k] == keys[i];
                    earlier += k < i && keys[k] == keys[i];
                }
                counts[keys[i]] += adds(i - first, same, earlier);
            }
        return counts;
    };
    std::vector<wb::Mistake<unsigned>> mistakes{
        {"the previous counts are lost", [&] { return counts_of(keys, bins); }},
        {"each lane with a key adds the number of all lanes with that key",
         [&] { return by_warps([](size_t, unsigned same, unsigned) { return same; }); }},
        {"the mask of the lanes is added, a bit for each, instead of their number",
         [&] { return by_warps([](size_t lane, unsigned, unsigned) { return 1u << lane; }); }},
        {"equal keys of a warp count as one",
         [&] { return by_warps([](size_t, unsigned, unsigned earlier) { return earlier == 0; }); }},
        {"only lane 0 adds, and for its own key: the other keys of the warp are lost",
         [&] {
             return by_warps(
                 [](size_t lane, unsigned same, unsigned) { return lane == 0 ? same : 0; });
         }},
        {"the lane after the leader adds: __ffs counts from 1",
         [&] {
             Counts counts = before;
             for (size_t first = 0; first < n; first += 32)
                 for (size_t i = first + 1; i < std::min(n, first + 32); ++i) {
                     if (keys[i] < 0 || keys[i] >= bins || keys[i] != keys[i - 1]) continue;
                     unsigned same = 0;
                     bool second = true;
                     for (size_t k = first; k < std::min(n, first + 32); ++k) {
                         same += keys[k] == keys[i];
                         second &= k >= i - 1 || keys[k] != keys[i];
                     }
                     if (second) counts[keys[i]] += same;
                 }
             return counts;
         }},
        {"keys that belong to no bin are counted in the first or the last one",
         [&] {
             Counts counts = before;
             for (const int key : keys) ++counts[std::clamp(key, 0, bins - 1)];
             return counts;
         }},
        {"keys below 0 count like those above", [&] {
             Counts counts = before;
             for (const int key : keys)
                 if (key > -bins && key < bins) ++counts[std::abs(key)];
             return counts;
         }}};
    if (const auto* grid = histogram_it.target<InBlocks>())
        add_grid_mistakes(mistakes, before, keys, *grid);
    wb::recognize(got, want, mistakes);
    wb::check_unchanged(d_keys.download(), keys);
    CHECK(d_counts.intact());
}

void check(const Histogram& histogram_it, const std::vector<int>& keys, int bins) {
    check(histogram_it, keys, bins, Counts(bins, 0u));
}

Histogram in_blocks(int blocks, int threads) {
    return InBlocks{blocks, threads};
}

void check_bins(const Histogram& histogram_it) {
    for (const int bins : kBins) {
        check(histogram_it, uniform_keys(5003, bins, bins), bins);
        check(histogram_it, skewed_keys(5003, bins, bins), bins);
    }
}

void check_sizes(const Histogram& histogram_it) {
    for (const int n : kSizes) check(histogram_it, uniform_keys(n, 120, 10 + n), 120);
}

void check_adds(const Histogram& histogram_it) {
    const auto before = wb::random_ints(1200, 3, 0, 100000);
    check(histogram_it, uniform_keys(20011, 1200, 4), 1200, Counts(before.begin(), before.end()));
}

void check_empty(const Histogram& histogram_it) {
    wb::DeviceBuffer<int> d_keys(0);
    wb::DeviceBuffer<unsigned> d_counts(Counts(10, 0u));
    const auto counted = wb::count([&] { histogram_it(d_keys.get(), 0, 10, d_counts.get()); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) CHECK(counted->launches == 0);
}

// Keys in the efficiency tests.
constexpr int kCount = 200003;

std::optional<wb::Counters> counted(const Histogram& histogram_it, const std::vector<int>& keys,
                                    int bins) {
    wb::DeviceBuffer<int> d_keys(keys);
    wb::DeviceBuffer<unsigned> d_counts(Counts(bins, 0u));
    return wb::count([&] { histogram_it(d_keys.get(), int(keys.size()), bins, d_counts.get()); });
}

}  // namespace

TEST_CASE("task 1: counts with more bins than threads, and with fewer", "[task1]") {
    check_bins(in_blocks(3, 64));
    check_bins(in_blocks(2, 1024));
}

TEST_CASE("task 1: counts arrays of any length with any grid", "[task1]") {
    check_sizes(in_blocks(1, 32));
    check_sizes(in_blocks(7, 100));
    check_sizes(in_blocks(100, 256));
    for (const int threads : {1, 31, 33, 1023, 1024})
        check(in_blocks(3, threads), uniform_keys(3001, 40, threads), 40);
    check(in_blocks(65536, 32), uniform_keys(3001, 5, 12), 5);
}

TEST_CASE("task 1: fills all the bins that fit", "[task1]") {
    check(in_blocks(2, 256), uniform_keys(60000, kMaxPrivateBins, 11), kMaxPrivateBins);
}

TEST_CASE("task 1: counts beyond 16 bits in one block", "[task1]") {
    check(in_blocks(1, 1024), std::vector<int>(140001, 1), 3);
}

TEST_CASE("task 1: adds to the previous counts", "[task1]") {
    check_adds(in_blocks(5, 256));
}

TEST_CASE("task 1: launches nothing for an empty array", "[task1]") {
    check_empty(in_blocks(3, 64));
    check(in_blocks(3, 64), {1, 2, 1}, 4);
}

TEST_CASE("task 2: counts with any number of bins that fit", "[task2]") {
    check_bins(histogram);
    check(histogram, uniform_keys(30000, kMaxPrivateBins, 21), kMaxPrivateBins);
}

TEST_CASE("task 2: counts with more bins than fit", "[task2]") {
    for (const int bins : {kMaxPrivateBins + 1, 100000})
        check(histogram, uniform_keys(30011, bins, 22), bins);
}

TEST_CASE("task 2: counts with as many bins as allowed", "[task2]") {
    check(histogram, uniform_keys(2000, 1 << 24, 24), 1 << 24);
}

TEST_CASE("task 2: counts arrays of any length", "[task2]") {
    check_sizes(histogram);
    for (const int n : {0, 1, 33, 1000}) check(histogram, uniform_keys(n, 100000, 23), 100000);
}

TEST_CASE("task 2: adds to the previous counts", "[task2]") {
    check_adds(histogram);
}

TEST_CASE("task 2: launches nothing for an empty array", "[task2]") {
    check_empty(histogram);
}

TEST_CASE("task 3: counts with any number of bins that fit", "[task3]") {
    check_bins(histogram_skewed);
    check(histogram_skewed, skewed_keys(30000, kMaxPrivateBins, 31), kMaxPrivateBins);
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    check_empty(histogram_skewed);
    check(histogram_skewed, {1, 2, 1}, 4);
}

TEST_CASE("task 3: counts arrays of any length", "[task3]") {
    check_sizes(histogram_skewed);
}

TEST_CASE("task 3: counts keys that are all equal", "[task3]") {
    for (const int bins : {1, 1200}) check(histogram_skewed, std::vector<int>(70001, 0), bins);
    check(histogram_skewed, std::vector<int>(1000, -7), 5);
}

TEST_CASE("task 3: adds to the previous counts", "[task3]") {
    check_adds(histogram_skewed);
}

TEST_CASE("efficient: each block merges its bins once", "[efficient][task1]") {
    const int blocks = 7, bins = 120;
    const auto counters = counted(in_blocks(blocks, 256), uniform_keys(kCount, bins, 41), bins);
    NEED_COUNTERS(counters);
    CHECK(counters->global_atomics > 0);
    CHECK(counters->global_atomics <= blocks * bins);
    CHECK(counters->shared_atomics <= kCount);
    CHECK(counters->global_store_bytes == 0);
    CHECK(counters->block_barriers <= 2 * blocks);
    // All threads of a block help: 120 bins take a few warp instructions, not 120.
    const uint64_t few = blocks * (bins / 4 + 32);
    INFO("warps store " << counters->shared_store_requests << " times to clear the bins and load "
                        << counters->shared_load_requests << " times to merge them; with all "
                        << "threads helping " << few << " are more than enough");
    CHECK(counters->shared_store_requests <= few);
    CHECK(counters->shared_load_requests <= few);
}

TEST_CASE("efficient: loads each key once, side by side", "[efficient][task1]") {
    const auto counters = counted(in_blocks(7, 256), uniform_keys(kCount, 120, 42), 120);
    NEED_COUNTERS(counters);
    CHECK(counters->global_load_bytes == sizeof(int) * kCount);
    CHECK(counters->global_load_sectors <= kCount / 8 + 1);
    CHECK(counters->device_to_host_bytes == 0);
    // 112 keys for each thread: 1,300 to 1,800 instructions. One warp that counts for its block
    // needs 10,000, one thread 500,000.
    wb::check_shared_work(*counters, 7 * 256, 20, 4000);
}

TEST_CASE("efficient: merges less than one counter for eight keys", "[efficient][task1][task2]") {
    const auto [n, bins] = GENERATE(table<int, int>({{kCount, 10},
                                                     {kCount, 120},
                                                     {kCount, 1200},
                                                     {kCount, 4200},  // 8 keys each: no short
                                                     {kCount, kMaxPrivateBins},
                                                     {1000, 120}}));  // one block is enough
    CAPTURE(n, bins);
    const auto counters = counted(histogram, uniform_keys(n, bins, 43), bins);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_atomics > 0);
    const uint64_t pay = std::max(1, n / (kShare * std::max(bins, kThreads)));
    {
        INFO(counters->blocks << " blocks for " << n << " keys and " << bins << " bins; "
                              << (counters->blocks > pay ? "more" : "far fewer") << " than the "
                              << pay << " that count " << kShare
                              << " keys for each bin and thread");
        CHECK(counters->blocks <= pay);
        CHECK(4 * counters->blocks >= pay);
    }
    CHECK(counters->global_atomics <= uint64_t(n / kShare + bins));
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes == 0);
}

TEST_CASE("efficient: few bins are counted by many threads", "[efficient][task1][task2]") {
    const auto counters = counted(histogram, uniform_keys(kCount, 10, 44), 10);
    NEED_COUNTERS(counters);
    CHECK(counters->blocks >= 32);
    // 8 to 12 keys for each thread: 150 to 300 instructions. One warp that counts for its block
    // needs 1,000, one thread 40,000.
    wb::check_shared_work(*counters, 16384, 20, 700);
}

TEST_CASE("efficient: very many keys are counted by no more blocks than the largest number",
          "[efficient]") {
    // Only the size of the launch is checked. No kernel runs, so the keys need not exist.
    wb::DeviceBuffer<int> d_keys(std::vector<int>{0});
    wb::DeviceBuffer<unsigned> d_counts(Counts{0});
    for (const auto count_it : {histogram, histogram_skewed}) {
        wb::CallWatch watch;
        watch.refuse_launches = true;
        try {
            count_it(d_keys.get(), 1 << 30, 1, d_counts.get());
        } catch (const wb::CudaError&) {
        }
        CHECK(wb::measured("host_launches", watch.launches()) > 0);
        for (const wb::CudaCall& call : watch.calls) {
            INFO((1 << 30) << " keys, enough for " << (1 << 30) / (kShare * kThreads)
                           << " blocks, and kMaxBlocks is " << kMaxBlocks << ": got " << call.grid.x
                           << " blocks");
            CHECK(call.grid.x <= kMaxBlocks);
        }
    }
}

TEST_CASE("efficient: equal keys of a warp are one atomic", "[efficient]") {
    const int bins = GENERATE(1, 1200);
    CAPTURE(bins);
    const auto counters = counted(histogram_skewed, std::vector<int>(kCount, 0), bins);
    NEED_COUNTERS(counters);
    CHECK(counters->shared_atomics + counters->global_atomics > 0);
    CHECK(counters->shared_atomics <= (kCount + 31) / 32 + 32);
    // A block may merge all of its bins, even those in which it has counted nothing.
    CHECK(counters->global_atomics <= uint64_t(kCount / kShare + bins));
    CHECK(counters->global_load_bytes == sizeof(int) * kCount);
    // 300 instructions with few bins, 1,400 with many and 20 blocks, 7,000 with four blocks. One
    // warp with all keys needs 150,000.
    wb::check_shared_work(*counters, 1024, 12, 15000);
}

TEST_CASE("efficient: bins that do not fit are counted by many threads",
          "[efficient][task1][task2]") {
    const int bins = 100000;
    const auto counters = counted(histogram, uniform_keys(kCount, bins, 45), bins);
    NEED_COUNTERS(counters);
    CHECK(counters->global_load_bytes >= sizeof(int) * kCount);
    // Some 20 instructions where each thread has a key, and many where a few blocks go over all
    // keys several times, for a range of bins each time: there each warp has 1/9 of all
    // instructions. One warp that counts all keys has more than half.
    wb::check_shared_work(*counters, kCount / 64, 16, counters->warp_instructions / 4);
}
