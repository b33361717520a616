// SPDX-License-Identifier: MIT
// Lesson 25, level by level: warps, blocks, rows, any number of elements, and offsets.
#include "checks.h"

#include <algorithm>
#include <climits>

namespace {

void check_warps(Operation op, int n, bool in_place = false) {
    CAPTURE(n);
    check([=](const int* d_in, int* d_out, int size) { scan_warps(op, d_in, d_out, size); },
          op,
          Kind::kInclusive,
          data(op, n, 100 + n),
          32,
          32,
          in_place);
}

void check_blocks(Operation op, int n, int threads, bool in_place = false) {
    CAPTURE(n, threads);
    check(
        [=](const int* d_in, int* d_out, int size) { scan_blocks(op, d_in, d_out, size, threads); },
        op,
        Kind::kExclusive,
        data(op, n, 200 + n),
        threads,
        threads,
        in_place);
}

void check_rows(Operation op, Kind kind, int rows, int cols, bool in_place = false) {
    CAPTURE(rows, cols);
    check([=](const int* d_in, int* d_out, int) { scan_rows(op, kind, d_in, d_out, rows, cols); },
          op,
          kind,
          data(op, rows * cols, 300 + cols),
          cols,
          kThreads,
          in_place);
}

// Calls `scan` with scratch memory of exactly the promised size.
Scan whole(Operation op, Kind kind) {
    return [=](const int* d_in, int* d_out, int n) {
        wb::GuardedBuffer<TileState> d_scratch(scratch_bytes(n) / sizeof(TileState),
                                               wb::guard(kGuard));
        scan(op, kind, d_in, d_out, n, d_scratch.get());
        CHECK(d_scratch.intact());
    };
}

void check_all(Operation op, Kind kind, int n, bool in_place = false) {
    CAPTURE(n);
    check(whole(op, kind), op, kind, data(op, n, 400 + n), std::max(n, 1), kThreads, in_place);
}

void check_offsets(const Ints& counts) {
    const size_t n = counts.size();
    CAPTURE(n);
    std::vector<long long> want(n + 1, 0), short_want(n + 1, 0);
    for (size_t k = 0; k < n; ++k) {
        want[k + 1] = want[k] + counts[k];
        short_want[k + 1] = int(unsigned(short_want[k]) + unsigned(counts[k]));
    }
    wb::GuardedBuffer<int> d_counts(counts, wb::guard(kGuard));
    wb::GuardedBuffer<TileState> d_scratch(scratch_bytes(int(n)) / sizeof(TileState),
                                           wb::guard(kGuard));
    wb::GuardedBuffer<long long> d_offsets(n + 1, wb::guard(kGuard));
    offsets(d_counts.get(), d_offsets.get(), int(n), d_scratch.get());
    CUDA_CHECK(cudaGetLastError());
    const std::vector<long long> got = d_offsets.download();
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "offset");
    wb::recognize<long long>(got,
                             want,
                             {{"sums of 32 bits, which wrap around", [&] { return short_want; }},
                              {"the last offset is missing: n lists have n + 1 offsets",
                               [&] {
                                   std::vector<long long> out = want;
                                   out[n] = -1;
                                   return out;
                               }},
                              {"the first offset is missing: it is 0",
                               [&] {
                                   std::vector<long long> out = want;
                                   out[0] = -1;
                                   return out;
                               }},
                              {"where each list ends, and not where it begins", [&] {
                                   std::vector<long long> out(want.begin() + 1, want.end());
                                   out.push_back(-1);
                                   return out;
                               }}});
    wb::check_unchanged(d_counts.download(), counts);
    CHECK(d_scratch.intact());
    CHECK(d_offsets.intact());
}

// Numbers of jets in events: 0 in most, seldom more than one (Poisson's distribution, mean 0.1).
Ints jets(int n) {
    Ints counts(n);
    for (int i = 0; i < n; ++i) {
        double u = wb::uniform_float(77, i), p = std::exp(-0.1);
        while (u >= p && counts[i] < 9) u -= p, p *= 0.1 / ++counts[i];
    }
    return counts;
}

}  // namespace

TEST_CASE("task 1: sums up to each of 32 elements", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192}) check_warps(Operation::kSum, n);
}

TEST_CASE("task 1: scans a warp that is not full", "[task1]") {
    for (const int n : {0, 1, 2, 15, 16, 17, 31, 33, 255, 257, 1000})
        check_warps(Operation::kSum, n);
}

TEST_CASE("task 1: keeps the order of the values that it combines", "[task1]") {
    for (const int n : {1, 31, 32, 33, 1000}) check_warps(Operation::kFill, n);
}

TEST_CASE("task 2: sums up the values before each thread of a block", "[task2]") {
    for (const int threads : {32, 64, 96, 256, 480, 992, 1024})
        for (const int n : {threads, 3 * threads}) check_blocks(Operation::kSum, n, threads);
}

TEST_CASE("task 2: scans blocks that are not full", "[task2]") {
    for (const int n : {0, 1, 2, 31, 32, 33, 255, 257, 1000, 5001}) {
        check_blocks(Operation::kSum, n, 256);
        check_blocks(Operation::kSum, n, 1024);
    }
}

TEST_CASE("task 2: keeps the order of the values that it combines", "[task2]") {
    for (const int threads : {32, 256, 1024}) check_blocks(Operation::kFill, 3001, threads);
}

TEST_CASE("task 3: scans rows that are no longer than a block", "[task3]") {
    for (const Kind kind : {Kind::kInclusive, Kind::kExclusive})
        for (const int cols : {1, 2, 31, 32, 33, 100, 255, 256})
            check_rows(Operation::kSum, kind, 3, cols);
}

TEST_CASE("task 3: scans longer rows, inclusive", "[task3]") {
    for (const int cols : {257, 511, 512, 513, 1000, 5000})
        check_rows(Operation::kSum, Kind::kInclusive, 3, cols);
    for (const Operation op : kOperations) check_rows(op, Kind::kInclusive, 1, 30011);
}

TEST_CASE("task 3: scans longer rows, exclusive", "[task3]") {
    for (const int cols : {257, 511, 512, 513, 1000, 5000})
        check_rows(Operation::kSum, Kind::kExclusive, 3, cols);
    for (const Operation op : kOperations) check_rows(op, Kind::kExclusive, 1, 30011);
}

TEST_CASE("task 3: scans rows in place", "[task3]") {
    for (const Kind kind : {Kind::kInclusive, Kind::kExclusive})
        check_rows(Operation::kSum, kind, 5, 1000, true);
}

TEST_CASE("task 4: sums up any number of elements, inclusive", "[task4]") {
    for (const int n : kSizes) check_all(Operation::kSum, Kind::kInclusive, n);
    check_all(Operation::kSum, Kind::kInclusive, kLarge);
}

TEST_CASE("task 4: sums up any number of elements, exclusive", "[task4]") {
    for (const int n : kSizes) check_all(Operation::kSum, Kind::kExclusive, n);
}

TEST_CASE("task 4: fills zeros, though a stretch of them is longer than a tile", "[task4]") {
    for (const int n : {1, 4097, 70001}) {
        check_all(Operation::kFill, Kind::kInclusive, n);
        check_all(Operation::kFill, Kind::kExclusive, n);
    }
}

TEST_CASE("task 4: scans in place", "[task4]") {
    for (const Kind kind : {Kind::kInclusive, Kind::kExclusive})
        for (const int n : {33, 4097, 70001}) check_all(Operation::kSum, kind, n, true);
}

TEST_CASE("task 4: numbers the events of many jets", "[task4]") {
    const Ints counts = jets(100000);
    check(whole(Operation::kSum, Kind::kInclusive),
          Operation::kSum,
          Kind::kInclusive,
          counts,
          counts.size(),
          kThreads);
}

TEST_CASE("task 4: launches nothing for an empty array", "[task4]") {
    check_all(Operation::kSum, Kind::kInclusive, 0);
    const auto counters = wb::count([] { whole(Operation::kSum, Kind::kExclusive)(0, 0, 0); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    // A scan that does launch must be right, or a function that never launches anything would pass.
    check_all(Operation::kSum, Kind::kInclusive, 5);
}

TEST_CASE("task 5: runs along the largest element so far", "[task5]") {
    check_warps(Operation::kMax, 1000);
    check_blocks(Operation::kMax, 1000, 256);
    for (const Kind kind : {Kind::kInclusive, Kind::kExclusive}) {
        check_rows(Operation::kMax, kind, 3, 1000);
        for (const int n : {1, 33, 4097, 70001}) check_all(Operation::kMax, kind, n);
    }
    // The second half is positive: a 0 among the values shows in the first half alone.
    Ints both = data(Operation::kMax, 5000, 7);
    for (size_t i = both.size() / 2; i < both.size(); ++i) both[i] += 9000;
    check(whole(Operation::kMax, Kind::kInclusive),
          Operation::kMax,
          Kind::kInclusive,
          both,
          both.size(),
          kThreads);
}

TEST_CASE("task 5: the largest so far may be the smallest int", "[task5]") {
    check(whole(Operation::kMax, Kind::kInclusive),
          Operation::kMax,
          Kind::kInclusive,
          Ints(300, INT_MIN),
          300,
          kThreads);
}

TEST_CASE("task 5: turns counts into offsets", "[task5]") {
    check_offsets({3, 0, 2});
    check_offsets(jets(50021));
    for (const int n : {1, 2, 31, 33, 256, 4095, 4096, 4097, 8193})
        check_offsets(wb::random_ints(n, 500 + n, 0, 40));
}

TEST_CASE("task 5: makes one offset of no lists", "[task5]") {
    check_offsets({});
}

TEST_CASE("task 5: counts beyond 32 bits", "[task5]") {
    check_offsets(wb::random_ints(9001, 51, INT_MAX / 2, INT_MAX));
    check_offsets({INT_MAX, INT_MAX, INT_MAX, 0, INT_MAX});
}
