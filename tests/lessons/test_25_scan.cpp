// SPDX-License-Identifier: MIT
// Lesson 25: each level of the scan is right for every length, both kinds and all operations.
//
// Tolerance: none, everything is whole numbers. Running maxima are of negative numbers that grow,
// so that every element matters and 0 is above them all; filled arrays have stretches of zeros that
// are longer than a tile.
#include "lesson_test.h"
#include "scan.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>

namespace {

using Ints = std::vector<int>;
using Scan = std::function<void(const int*, int*, int)>;

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr Operation kOperations[] = {Operation::kSum, Operation::kFill};
constexpr int kSizes[] = {
    1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8191, 8192, 12289, 70001, 100003};
constexpr int kLarge = (1 << 20) + 1;

int identity(Operation op) {
    return op == Operation::kMax ? INT_MIN : 0;
}
int combined(Operation op, int a, int b) {
    if (op == Operation::kMax) return std::max(a, b);
    if (op == Operation::kFill) return b != 0 ? b : a;
    return int(unsigned(a) + unsigned(b));
}

Ints data(Operation op, int n, uint64_t seed) {
    Ints x = wb::random_ints(n, seed, -1000, 1000);
    for (int i = 0; i < n; ++i) {
        if (op == Operation::kMax) x[i] += i / 8 - n - 2000;
        if (op == Operation::kFill && (i / 9000 % 2 || x[i] % 8 || x[i] == 0)) x[i] = 0;
    }
    // The first element counts for all of them.
    if (op == Operation::kFill && n > 0) x[0] = 4321;
    return x;
}

// What `scan` must give: each `group` of elements on its own. `before(first)` is the carry of the
// group that begins with element `first`, where it is not the identity.
Ints scanned(Operation op, Kind kind, const Ints& x, size_t group,
             const std::function<int(size_t)>& before = nullptr) {
    Ints out(x.size());
    int sum = identity(op);
    for (size_t i = 0; i < x.size(); ++i) {
        if (i % group == 0) sum = before ? before(i) : identity(op);
        if (kind == Kind::kExclusive) out[i] = sum;
        sum = combined(op, sum, x[i]);
        if (kind == Kind::kInclusive) out[i] = sum;
    }
    return out;
}

// What the usual mistakes make of `x`, scanned in groups of `group`, by rounds of `round` threads.
std::vector<wb::Mistake<int>> mistakes(Operation op, Kind kind, const Ints& x, size_t group,
                                       size_t round) {
    const Kind other = kind == Kind::kInclusive ? Kind::kExclusive : Kind::kInclusive;
    const auto of_groups = [=](size_t size, auto&& before) {
        return scanned(op, kind, x, size, [=](size_t first) { return before(first); });
    };
    const auto sum_of = [=](size_t first, size_t last) {
        int sum = identity(op);
        for (size_t i = first; i < std::min(last, x.size()); ++i) sum = combined(op, sum, x[i]);
        return sum;
    };
    std::vector<wb::Mistake<int>> all{
        {kind == Kind::kExclusive ? "an inclusive scan: each element counts itself"
                                  : "an exclusive scan: no element counts itself",
         [=] { return scanned(op, other, x, group); }},
        {"each warp begins anew: what the warps before it have is missing",
         [=] { return scanned(op, kind, x, 32); }},
        {"the input, as it is", [=] { return x; }},
        {"each element is combined with its neighbour only: one step is done",
         [=] {
             Ints out = x;
             for (size_t i = 1; i < x.size(); ++i)
                 if (i % 32) out[i] = combined(op, x[i - 1], x[i]);
             return out;
         }},
        {"the two values are combined in the wrong order: which one lies before the other?",
         [=] {
             Ints out(x.size());
             int sum = identity(op);
             for (size_t i = 0; i < x.size(); ++i) {
                 if (i % group == 0) sum = identity(op);
                 if (kind == Kind::kExclusive) out[i] = sum;
                 sum = combined(op, x[i], sum);
                 if (kind == Kind::kInclusive) out[i] = sum;
             }
             return out;
         }},
    };
    // In all elements, or in those of a block's first warp: the others combine totals of warps.
    for (const size_t reach : {group, size_t(32)})
        if (op == Operation::kMax)
            all.push_back(
                {"0 is among the values, though it is no element: what is the identity?", [=] {
                     Ints out = scanned(op, kind, x, group);
                     for (size_t i = 0; i < out.size(); ++i)
                         if (i % group < reach) out[i] = std::max(out[i], 0);
                     return out;
                 }});
    if (group == 32)
        all.push_back({"lanes below `step` are combined as well: __shfl_up_sync gives them their "
                       "own value",
                       [=] {
                           Ints out = x;
                           for (size_t step = 1; step < 32; step *= 2) {
                               const Ints before = out;
                               for (size_t i = 0; i < x.size(); ++i) {
                                   const size_t from = i % 32 < step ? i : i - step;
                                   out[i] = combined(op, before[from], before[i]);
                               }
                           }
                           return out;
                       }});
    if (round < group && round < x.size()) {
        all.push_back({"each round of a block begins anew: where is the carry?",
                       [=] { return scanned(op, kind, x, round); }});
        all.push_back(
            {"a round's carry is the total of the round before alone, not of all before", [=] {
                 return of_groups(round, [=](size_t first) {
                     return first % group ? sum_of(first - round, first) : identity(op);
                 });
             }});
    }
    if (group >= x.size())
        all.push_back({"a tile's carry holds its own total already: are the totals scanned "
                       "inclusively?",
                       [=] {
                           return of_groups(kTile,
                                            [=](size_t first) { return sum_of(0, first + kTile); });
                       }});
    if (group >= x.size() && x.size() > kTile) {
        all.push_back({"each tile begins anew: its carry is missing",
                       [=] { return scanned(op, kind, x, kTile); }});
        all.push_back(
            {"a tile's carry is the total of the tile before alone, not of all before", [=] {
                 return of_groups(kTile, [=](size_t first) {
                     return first ? sum_of(first - kTile, first) : identity(op);
                 });
             }});
        all.push_back({"a tile's carry is its own total", [=] {
                           return of_groups(
                               kTile, [=](size_t first) { return sum_of(first, first + kTile); });
                       }});
    }
    return all;
}

// Runs `scan_it` on `x`, out of place or in place, and compares.
void check(const Scan& scan_it, Operation op, Kind kind, const Ints& x, size_t group, size_t round,
           bool in_place = false) {
    const Ints want = scanned(op, kind, x, group);
    wb::GuardedBuffer<int> d_in(x, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_out(in_place ? 0 : x.size(), wb::guard(kGuard));
    scan_it(d_in.get(), in_place ? d_in.get() : d_out.get(), int(x.size()));
    CUDA_CHECK(cudaGetLastError());
    const Ints got = in_place ? d_in.download() : d_out.download();
    CHECK_ARRAYS(got, want);
    wb::recognize<int>(got, want, mistakes(op, kind, x, group, round));
    if (!in_place) wb::check_unchanged(d_in.download(), x);
    CHECK(d_in.intact());
    CHECK(d_out.intact());
}

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

// `scan` with scratch memory that must be enough.
Scan whole(Operation op, Kind kind) {
    return [=](const int* d_in, int* d_out, int n) {
        wb::GuardedBuffer<TileState> d_scratch(scratch_bytes(n) / sizeof(TileState),
                                               wb::guard(kGuard));
        scan(op, kind, d_in, d_out, n, d_scratch.get());
        CHECK(d_scratch.intact());
    };
}

void one_pass(const int* d_in, int* d_out, int n) {
    wb::GuardedBuffer<TileState> d_scratch(scratch_bytes(n) / sizeof(TileState), wb::guard(kGuard));
    sum_in_one_pass(d_in, d_out, n, d_scratch.get());
    CHECK(d_scratch.intact());
}

void check_all(Operation op, Kind kind, int n, bool in_place = false) {
    CAPTURE(n);
    check(whole(op, kind), op, kind, data(op, n, 400 + n), std::max(n, 1), kThreads, in_place);
}

void check_one_pass(const Ints& x, bool in_place = false) {
    const size_t n = x.size();
    CAPTURE(n);
    check(
        one_pass, Operation::kSum, Kind::kInclusive, x, std::max<size_t>(n, 1), kThreads, in_place);
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

// One exchange. `at_first` and `later` are what the tiles before have published.
void check_exchange(const std::vector<TileState>& at_first, const std::vector<TileState>& later,
                    int total, int want) {
    const int tile = int(at_first.size());
    CAPTURE(tile, total);
    std::vector<TileState> states = at_first, after = at_first;
    states.push_back(state_word(kNothing, 0));
    for (int t = 0; t < tile; ++t)
        if (later[t] != state_word(kNothing, 0)) after[t] = later[t];
    after.push_back(state_word(kPrefix, want + total));
    wb::GuardedBuffer<TileState> d_states(states, wb::guard(kGuard));
    wb::GuardedBuffer<TileState> d_later(later, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_carry(1, wb::guard(kGuard));
    try {
        exchange_alone(d_states.get(), d_later.get(), tile, total, d_carry.get());
        CUDA_CHECK(cudaGetLastError());
    } catch (const std::exception&) {
        // The input says what a loop that does not end may wait for.
        const bool totals_only = after[tile - 1] >> 32 == kTotal;
        INFO((totals_only ? "tile " + std::to_string(tile - 1) +
                                " publishes its total and no prefix: a total is enough to go on"
                          : "every tile before publishes a total or a prefix"));
        throw;
    }
    const Ints got = d_carry.download();
    CHECK_ARRAYS(
        got, Ints{want}, [](size_t) { return 0.0; }, "carry");
    const auto sum_from = [&](int first) {
        int sum = 0;
        for (int t = first; t < tile; ++t) sum += int(unsigned(after[t]));
        return Ints{sum};
    };
    wb::recognize<int>(
        got,
        {want},
        {{"only the tile before is in the carry", [&] { return sum_from(tile - 1); }},
         {"all tiles are in the carry: a prefix holds what lies before it",
          [&] { return sum_from(0); }},
         {"a tile that has published nothing yet is passed over as if it had 0",
          [&] {
              int sum = 0;
              for (int t = tile - 1; t >= 0; --t) {
                  sum += int(unsigned(at_first[t]));
                  if (at_first[t] >> 32 == kPrefix) break;
              }
              return Ints{sum};
          }},
         {"the tile's own total is in its carry", [&] { return Ints{want + total}; }}});
    const auto now = d_states.download();
    INFO("the tile must have published a prefix (2) of " << want + total << "; it has published "
                                                         << (now[tile] >> 32) << ", "
                                                         << int(unsigned(now[tile])));
    CHECK(now[tile] == after[tile]);
    // Each tile publishes in its own state alone.
    CHECK(std::equal(after.begin(), after.end() - 1, now.begin()));
    CHECK(d_states.intact());
    CHECK(d_carry.intact());
}

// States of `tiles` tiles whose totals are random: those from `prefix` down have published
// prefixes, those above it totals.
std::vector<TileState> published(int tiles, int prefix, int* sum, uint64_t seed) {
    const Ints totals = wb::random_ints(tiles, seed, -1000000, 1000000);
    std::vector<TileState> states;
    *sum = 0;
    for (int t = 0; t < tiles; ++t) {
        *sum += totals[t];
        states.push_back(t <= prefix ? state_word(kPrefix, *sum) : state_word(kTotal, totals[t]));
    }
    return states;
}

// What the property tests look at.
constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

std::optional<EmulatorCounters> counted(const Scan& scan_it) {
    wb::DeviceBuffer<int> d_in(data(Operation::kSum, kCount, 1)), d_out(kCount);
    return wb::count([&] { scan_it(d_in.get(), d_out.get(), kCount); });
}

// The same of a function that needs scratch memory, whose making is not counted.
std::optional<EmulatorCounters>
counted_with_scratch(const std::function<void(const int*, int*, int, void*)>& scan_it) {
    wb::DeviceBuffer<TileState> d_scratch(scratch_bytes(kCount) / sizeof(TileState));
    return counted(
        [&](const int* d_in, int* d_out, int n) { scan_it(d_in, d_out, n, d_scratch.get()); });
}

}  // namespace

TEST_CASE("task 1: sums up to each of 32 elements", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192}) check_warps(Operation::kSum, n);
}

TEST_CASE("task 1: scans a warp that is not full", "[task1]") {
    for (const int n : {0, 1, 2, 15, 16, 17, 31, 33, 255, 257, 1000})
        check_warps(Operation::kSum, n);
}

TEST_CASE("task 1: keeps the order of what it combines", "[task1]") {
    for (const int n : {1, 31, 32, 33, 1000}) check_warps(Operation::kFill, n);
}

TEST_CASE("task 2: sums up what lies before each thread of a block", "[task2]") {
    for (const int threads : {32, 64, 96, 256, 480, 992, 1024})
        for (const int n : {threads, 3 * threads}) check_blocks(Operation::kSum, n, threads);
}

TEST_CASE("task 2: scans blocks that are not full", "[task2]") {
    for (const int n : {0, 1, 2, 31, 32, 33, 255, 257, 1000, 5001}) {
        check_blocks(Operation::kSum, n, 256);
        check_blocks(Operation::kSum, n, 1024);
    }
}

TEST_CASE("task 2: keeps the order of what it combines", "[task2]") {
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
    // Else a function that never launches anything would pass.
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

TEST_CASE("task 6: adds up the totals of the tiles before, down to a prefix", "[task6]") {
    for (const int tile : {1, 2, 5, 31, 32, 33, 64, 65, 1000})
        for (const int back : {1, 2, 31, 32, 33, 34, 64, 65, 500, 1000}) {
            if (back > tile) continue;
            int sum = 0;
            const auto states = published(tile, tile - back, &sum, 600 + tile);
            CAPTURE(back);
            check_exchange(states, std::vector<TileState>(tile, 0), 12345, sum);
        }
}

TEST_CASE("task 6: waits for tiles that have published nothing", "[task6]") {
    for (const int tile : {1, 2, 33, 100})
        for (const int back : {1, 2, 33, 100}) {
            if (back > tile) continue;
            CAPTURE(back);
            int sum = 0;
            const auto later = published(tile, tile - back, &sum, 700 + tile);
            check_exchange(std::vector<TileState>(tile, 0), later, -54321, sum);
            // Some have published their totals before, and publish their prefixes now.
            auto some = published(tile, 0, &sum, 700 + tile);
            for (int t = 0; t < tile; ++t)
                if (t % 3 == 1) some[t] = state_word(kNothing, 0);
            check_exchange(some, later, 7, sum);
        }
}

TEST_CASE("task 6: publishes its total before it looks at others", "[task6]") {
    // The tile before publishes its prefix only when this tile has published its total.
    check_exchange({state_word(kNothing, 0)}, {state_word(kPrefix, 100)}, 11, 100);
    check_exchange({state_word(kPrefix, 100), state_word(kNothing, 0)},
                   {state_word(kNothing, 0), state_word(kTotal, -30)},
                   11,
                   70);
}

TEST_CASE("task 6: a total of 0 and negative totals are totals", "[task6]") {
    const TileState zero = state_word(kTotal, 0), minus = state_word(kTotal, -1);
    const std::vector<TileState> none(4, 0);
    check_exchange({state_word(kPrefix, 9), zero, zero, zero}, none, 0, 9);
    check_exchange({state_word(kPrefix, 0), minus, zero, minus}, none, -1, -2);
    check_exchange({state_word(kPrefix, -5), zero, minus, minus}, none, 1, -7);
}

TEST_CASE("task 6: takes status and value from one load", "[task6]") {
    // A state that is loaded again may have become a prefix in between: a status that was loaded
    // with another value. Whoever asks for the status, waiting, and then loads the word to use it
    // loads twice; a third load is one too many. The other block loads one more word for each tile,
    // 32 at a time.
    constexpr int kStates = 1000;
    int sum = 0;
    const auto states = published(kStates, 0, &sum, 650);
    wb::DeviceBuffer<TileState> d_later(std::vector<TileState>(kStates, 0));
    std::vector<TileState> all = states;
    all.push_back(state_word(kNothing, 0));
    wb::DeviceBuffer<TileState> d_states(all);
    wb::DeviceBuffer<int> d_carry(1);
    const auto counters = wb::count(
        [&] { exchange_alone(d_states.get(), d_later.get(), kStates, 5, d_carry.get()); });
    CHECK(d_carry.download() == Ints{sum});
    if (!counters) return;
    const uint64_t loads = counters->global_load_requests;
    INFO("exchange() looks back at " << kStates << " states that are all there, with " << loads
                                     << " loads of a warp: a state that is loaded again may have "
                                        "changed in between, so keep the word");
    CHECK(loads <= 2 * kStates + kStates / 8);
}

TEST_CASE("task 6: sums up any number of elements in one launch", "[task6]") {
    for (const int n : kSizes) check_one_pass(data(Operation::kSum, n, 800 + n));
    check_one_pass(data(Operation::kSum, kLarge, 801));
    check_one_pass({});
}

TEST_CASE("task 6: sums up in place", "[task6]") {
    for (const int n : {33, 4097, 70001}) check_one_pass(data(Operation::kSum, n, 900 + n), true);
}

TEST_CASE("efficient: a warp needs no shared memory and no barrier",
          "[efficient][task1][task2][task3][task4][task5]") {
    const auto counters = counted(
        [](const int* d_in, int* d_out, int n) { scan_warps(Operation::kSum, d_in, d_out, n); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_load_bytes == sizeof(int) * kCount);
    CHECK(counters->global_store_bytes == sizeof(int) * kCount);
    CHECK(counters->shared_store_requests == 0);
    CHECK(counters->block_barriers == 0);
}

TEST_CASE("efficient: each warp of a block stores its total to shared memory, and little else",
          "[efficient][task1][task2][task3][task4][task5]") {
    const auto counters = counted([](const int* d_in, int* d_out, int n) {
        scan_blocks(Operation::kSum, d_in, d_out, n, kThreads);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == sizeof(int) * kCount);
    // One store for each warp, and one or two more for the block.
    CHECK(counters->shared_store_requests <= counters->warps + 2 * counters->blocks);
    CHECK(counters->shared_load_conflicts + counters->shared_store_conflicts == 0);
    CHECK(counters->block_barriers <= 3 * counters->blocks);
}

TEST_CASE("efficient: a whole scan moves at most 4 n elements, in three launches",
          "[efficient][task1][task2][task3][task4][task5]") {
    const auto counters =
        counted_with_scratch([](const int* d_in, int* d_out, int n, void* d_scratch) {
            scan(Operation::kSum, Kind::kInclusive, d_in, d_out, n, d_scratch);
        });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(int) * kCount);
    // A sector holds 8 ints. Beside the elements, each warp may load a carry for 32 of them.
    const uint64_t sectors = counters->global_load_sectors + counters->global_store_sectors;
    INFO(sectors * 8.0 / kCount << " elements are moved for each of the " << kCount);
    CHECK(sectors <= 4.5 * kCount / 8 + 64 * kTiles);
    CHECK(counters->launches <= 3);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes == 0);
}

TEST_CASE("efficient: all lanes share the work of a scan",
          "[efficient][task1][task2][task3][task4][task5]") {
    const auto counters =
        counted_with_scratch([](const int* d_in, int* d_out, int n, void* d_scratch) {
            scan(Operation::kSum, Kind::kExclusive, d_in, d_out, n, d_scratch);
        });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(int) * kCount);
    REQUIRE(counters->warp_instructions > 0);
    const uint64_t each = counters->warp_instructions / (kCount / 32);
    INFO("warps execute " << each << " instructions for each 32 elements, with "
                          << counters->thread_instructions / counters->warp_instructions
                          << " lanes at work");
    CHECK(each <= 500);
    CHECK(counters->thread_instructions >= 16 * counters->warp_instructions);
    INFO(counters->threads << " threads in three launches; with a block for each tile there are "
                           << 2 * kTiles * kThreads << " and those that scan the totals");
    CHECK(counters->threads >= kTiles * kThreads);
    // The totals have to be scanned together as well. One thread that goes through them executes
    // at least a load, an addition and two stores or steps for each.
    constexpr int kManyTiles = 2048;
    constexpr int kMany = kManyTiles * kTile;
    wb::DeviceBuffer<int> d_x(kMany), d_y(kMany);
    wb::DeviceBuffer<TileState> d_scratch(scratch_bytes(kMany) / sizeof(TileState));
    CUDA_CHECK(cudaMemset(d_x.get(), 0, sizeof(int) * size_t(kMany)));
    const auto many = wb::count([&] {
        scan(Operation::kSum, Kind::kExclusive, d_x.get(), d_y.get(), kMany, d_scratch.get());
    });
    INFO("of " << kManyTiles << " tiles, the busiest warp executes "
               << many->busiest_warp_instructions << " instructions, want at most "
               << 3 * kManyTiles << ": is there one that goes through all totals?");
    CHECK(many->busiest_warp_instructions <= 3 * kManyTiles);
}

TEST_CASE("efficient: offsets are made on the device, of the counts alone",
          "[efficient][task1][task2][task3][task4][task5]") {
    wb::DeviceBuffer<int> d_counts(wb::random_ints(kCount, 2, 0, 9));
    wb::DeviceBuffer<long long> d_offsets(kCount + 1);
    wb::DeviceBuffer<TileState> d_scratch(scratch_bytes(kCount) / sizeof(TileState));
    const auto counters =
        wb::count([&] { offsets(d_counts.get(), d_offsets.get(), kCount, d_scratch.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(long long) * kCount);
    // At most: the counts once; the offsets stored, loaded again, and stored with their carries. A
    // warp that stores 32 of them touches 9 sectors, as they begin 8 bytes into one.
    const uint64_t sectors = counters->global_load_sectors + counters->global_store_sectors;
    INFO(sectors * 32.0 / kCount << " bytes are moved for each of the " << kCount << " counts");
    CHECK(sectors <= kCount + 64 * kTiles);
    CHECK(counters->launches <= 4);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes == 0);
}

TEST_CASE("efficient: one pass loads each element once and stores it once, in one launch",
          "[efficient]") {
    const auto counters = counted_with_scratch(sum_in_one_pass);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes >= sizeof(int) * kCount);
    // Beside the elements: a few words for each tile.
    CHECK(counters->global_load_bytes <= sizeof(int) * kCount + 512 * kTiles);
    CHECK(counters->global_store_bytes <= sizeof(int) * kCount + 32 * kTiles);
    CHECK(counters->global_load_sectors <= kCount / 8 + 128 * kTiles);
    CHECK(counters->global_store_sectors <= kCount / 8 + 16 * kTiles);
    CHECK(counters->global_atomics <= 8 * kTiles);
    CHECK(counters->threads >= kCount / 32);  // a thread takes at most 32 elements
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes == 0);
}
