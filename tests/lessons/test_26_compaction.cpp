// SPDX-License-Identifier: MIT
// Lesson 26: what passes is kept, all of it and nothing else, in its order, and counted.
//
// Tolerance: none, elements are copied. They are all different, so that a place in the output says
// where an element came from. Outputs start as NaN, and what lies after the kept ones must stay so.
#include "compaction.h"
#include "lesson_test.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int>;
using Select = std::function<int(const float*, int, float, float*)>;

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr float kLimit = 0.25f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kSizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8193, 70001};
constexpr int kLarge = (1 << 20) + 1;

// n different floats: those with keep(i) above the limit, the others below it or equal to it.
Floats elements(int n, uint64_t seed, const std::function<bool(int)>& keep) {
    Floats x(n);
    for (int i = 0; i < n; ++i) {
        // The fraction is random, the rest is the index.
        const float size = 1.0f + float(i) + 0.5f * wb::uniform_float(seed, i);
        x[i] = keep(i) ? kLimit + size : kLimit - size;
    }
    return x;
}

// About `percent` of all are kept.
Floats random_elements(int n, uint64_t seed, int percent = 40) {
    return elements(
        n, seed, [=](int i) { return int(wb::random_bits(seed + 1, i) % 100) < percent; });
}

// As whole numbers, since a NaN is equal to nothing.
Ints bits_of(const Floats& x) {
    Ints bits(x.size());
    if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
    return bits;
}

bool passes(float value) {
    return value > kLimit;
}

int number_of(const Floats& x) {
    return int(std::count_if(x.begin(), x.end(), passes));
}

// Compares an output in which each `group` of elements is on its own, and names what it looks like.
void compare(const Floats& out, const Floats& x, size_t group) {
    std::vector<size_t> places;  // where something belongs
    Floats want;
    for (size_t i = 0, place = 0; i < x.size(); ++i) {
        if (i % group == 0) place = i;
        if (!passes(x[i])) continue;
        places.push_back(place++);
        want.push_back(x[i]);
    }
    const auto at_places = [&](const Floats& all) {
        Floats values;
        for (const size_t place : places) values.push_back(all[place]);
        return values;
    };
    const Floats got = at_places(out);
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "kept element");
    const auto placed = [&](auto&& place_of) {  // of kept elements only
        Floats all(x.size(), kNan);
        size_t before = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            if (i % group == 0) before = 0;
            const size_t place = place_of(i, before);
            if (passes(x[i]) && place < x.size()) all[place] = x[i];
            before += passes(x[i]);
        }
        return at_places(all);
    };
    const auto begins_anew = [&](size_t every, bool at_0) {
        size_t kept = 0;
        return placed([&, every, at_0, kept](size_t i, size_t) mutable {
            if (i % every == 0) kept = 0;
            const size_t place = (at_0 ? 0 : i / group * group) + kept;
            kept += passes(x[i]);
            return place;
        });
    };
    wb::recognize<float>(
        got,
        want,
        {{"each element is stored where it was: kept ones are to lie side by side",
          [&] { return placed([](size_t i, size_t) { return i; }); }},
         {"places begin at 1: an element counts itself",
          [&] {
              return placed(
                  [&](size_t i, size_t before) { return i / group * group + before + 1; });
          }},
         {"each warp begins anew: what the warps before it keep is missing",
          [&] { return begins_anew(32, false); }},
         {"each round of a block begins anew: where is the carry?",
          [&] { return begins_anew(kThreads, true); }},
         {"each tile begins anew: where is its carry?", [&] { return begins_anew(kTile, true); }},
         {"each round begins at the tile's carry, which is not moved on",
          [&] {
              size_t kept = 0, before_tile = 0, in_round = 0;
              return placed([&x, kept, before_tile, in_round](size_t i, size_t) mutable {
                  if (i % kTile == 0) before_tile = kept;
                  if (i % kThreads == 0) in_round = 0;
                  kept += passes(x[i]);
                  in_round += passes(x[i]);
                  return before_tile + in_round - passes(x[i]);
              });
          }},
         {"what fails the test is kept, and what passes it is not",
          [&] {
              Floats all(x.size(), kNan);
              for (size_t i = 0, place = 0; i < x.size(); ++i) {
                  if (i % group == 0) place = i;
                  if (!passes(x[i])) all[place++] = x[i];
              }
              return at_places(all);
          }},
         {"the kept elements are all there, and their order is lost", [&] {
              Floats some = got, all = want;
              std::sort(some.begin(), some.end());
              std::sort(all.begin(), all.end());
              return some == all ? got : Floats();
          }}});
    size_t beyond = 0;
    const Ints bits = bits_of(out);
    for (size_t i = 0, next = 0; i < out.size(); ++i) {
        const bool belongs = next < places.size() && places[next] == i;
        next += belongs;
        beyond += !belongs && bits[i] != -1;
    }
    INFO(beyond << " elements are stored where nothing belongs: behind the kept ones");
    CHECK(beyond == 0);
}

// A number that was returned; `before_last`: what is kept in all tiles but the last.
void check_number(int got, int want, int before_last,
                  const std::vector<wb::Mistake<int>>& others = {}) {
    const bool right = got == want;
    INFO("the returned number: got " << got << ", want " << want);
    CHECK(right);
    std::vector<wb::Mistake<int>> mistakes = others;
    mistakes.push_back(
        {"what the tiles before the last one keep is returned: the last tile's is missing",
         [&] { return Ints{before_last}; }});
    mistakes.push_back(
        {"what the last tile keeps is returned", [&] { return Ints{want - before_last}; }});
    wb::recognize<int>({got}, {want}, mistakes);
}

// Groups of `threads` elements, by a warp or a block each.
void check_groups(const Floats& x, int threads, bool warps) {
    const int n = int(x.size()), groups = (n + threads - 1) / threads;
    CAPTURE(n, threads);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_counts(groups, wb::guard(kGuard));
    if (warps)
        select_in_warps(d_x.get(), n, kLimit, d_out.get(), d_counts.get());
    else
        select_in_blocks(d_x.get(), n, kLimit, d_out.get(), d_counts.get(), threads);
    CUDA_CHECK(cudaGetLastError());
    compare(d_out.download(), x, threads);
    Ints want(groups, 0);
    for (int i = 0; i < n; ++i) want[i / threads] += passes(x[i]);
    CHECK_ARRAYS(
        d_counts.download(), want, [](size_t) { return 0.0; }, "count");
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
    CHECK(d_counts.intact());
}

void check_warps(const Floats& x) {
    check_groups(x, 32, true);
}
void check_blocks(const Floats& x, int threads) {
    check_groups(x, threads, false);
}

// Scratch memory of just the size that was promised.
struct Scratch {
    explicit Scratch(int n) : memory(scratch_bytes(n) / sizeof(uint64_t), wb::guard(kGuard)) {}
    ~Scratch() { CHECK(memory.intact()); }
    wb::GuardedBuffer<uint64_t> memory;
};

void check_above(const Floats& x) {
    const int n = int(x.size());
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    Scratch scratch(n);
    const int got = select_above(d_x.get(), n, kLimit, d_out.get(), scratch.memory.get());
    CUDA_CHECK(cudaGetLastError());
    const int want = number_of(x);
    check_number(
        got,
        want,
        n - 1 < 0 ? 0 : int(std::count_if(x.begin(), x.begin() + (n - 1) / kTile * kTile, passes)));
    compare(d_out.download(), x, std::max(n, 1));
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
}

// The same data in ways that are easy to get wrong.
void check_patterns(int n, const std::function<void(const Floats&)>& check) {
    check(elements(n, 11, [](int) { return false; }));
    check(elements(n, 12, [](int) { return true; }));
    check(elements(n, 13, [](int i) { return i % 2 == 1; }));
    check(elements(n, 14, [n](int i) { return i == n - 1; }));
    check(elements(n, 15, [](int i) { return i == 0; }));
    check(elements(n, 16, [](int i) { return i / 32 % 2 == 0; }));
}

// Some values that no comparison should get wrong, among others.
Floats with_special_values(Floats x) {
    const float special[] = {kNan, kInfinity, -kInfinity, kLimit, -kNan, std::nextafter(kLimit, 1)};
    for (size_t i = 0; i < std::size(special); ++i) x[i * 7 + 3] = special[i];
    return x;
}

// A table of n rows whose columns are all different.
struct HostTable {
    explicit HostTable(int n)
        : energy(wb::random_floats(n, 21, 5, 100)), eta(wb::random_floats(n, 22, -3, 3)),
          phi(wb::random_floats(n, 23, -3, 3)), charge(wb::random_ints(n, 24, -1, 1)) {}
    Floats energy, eta, phi;
    Ints charge;
};

void check_rows(const std::vector<unsigned char>& mask) {
    const int n = int(mask.size());
    CAPTURE(n);
    const HostTable table(n);
    wb::GuardedBuffer<unsigned char> d_mask(mask, wb::guard(kGuard));
    wb::GuardedBuffer<float> energy(table.energy, wb::guard(kGuard));
    wb::GuardedBuffer<float> eta(table.eta, wb::guard(kGuard)), phi(table.phi, wb::guard(kGuard));
    wb::GuardedBuffer<int> charge(table.charge, wb::guard(kGuard));
    // Exactly as many rows as there will be: one more would be out of bounds.
    const int want = n - int(std::count(mask.begin(), mask.end(), 0));
    wb::GuardedBuffer<float> out_energy(want, wb::guard(kGuard)), out_eta(want, wb::guard(kGuard));
    wb::GuardedBuffer<float> out_phi(want, wb::guard(kGuard));
    wb::GuardedBuffer<int> out_charge(want, wb::guard(kGuard));
    Scratch scratch(n);
    const int got = select_rows(d_mask.get(),
                                {energy.get(), eta.get(), phi.get(), charge.get()},
                                n,
                                {out_energy.get(), out_eta.get(), out_phi.get(), out_charge.get()},
                                scratch.memory.get());
    CUDA_CHECK(cudaGetLastError());
    const int in_others = std::max(n - 1, 0) / kTile * kTile;
    const char* const ones = "only a mark of 1 keeps its row: any number but 0 should";
    check_number(got,
                 want,
                 in_others - int(std::count(mask.begin(), mask.begin() + in_others, 0)),
                 {{ones, [&] { return Ints{int(std::count(mask.begin(), mask.end(), 1))}; }}});
    const auto kept = [&](const auto& column) {
        std::remove_const_t<std::remove_reference_t<decltype(column)>> rows;
        for (int i = 0; i < n; ++i)
            if (mask[i]) rows.push_back(column[i]);
        return rows;
    };
    const auto exact = [](size_t) { return 0.0; };
    const auto check_column = [&](const Floats& out, const Floats& column, const char* what) {
        CHECK_ARRAYS(out, kept(column), exact, what);
        const auto with_ones = [&] {
            Floats rows;
            for (int i = 0; i < n; ++i)
                if (mask[i] == 1) rows.push_back(column[i]);
            rows.resize(out.size(), kNan);
            return rows;
        };
        wb::recognize<float>(
            out,
            kept(column),
            {{ones, with_ones},
             {"it has the values of the column energy", [&] { return kept(table.energy); }},
             {"it has the values of the column eta", [&] { return kept(table.eta); }},
             {"it has the values of the column phi", [&] { return kept(table.phi); }}});
    };
    check_column(out_energy.download(), table.energy, "energy of row");
    check_column(out_eta.download(), table.eta, "eta of row");
    check_column(out_phi.download(), table.phi, "phi of row");
    CHECK_ARRAYS(out_charge.download(), kept(table.charge), exact, "charge of row");
    wb::check_unchanged(energy.download(), table.energy);
    wb::check_unchanged(charge.download(), table.charge);
    CHECK(out_energy.intact());
    CHECK(out_eta.intact());
    CHECK(out_phi.intact());
    CHECK(out_charge.intact());
}

std::vector<unsigned char> mask_of(int n, uint64_t seed, int percent) {
    std::vector<unsigned char> mask(n);
    // Any number but 0 keeps a row.
    for (int i = 0; i < n; ++i)
        if (int(wb::random_bits(seed, i) % 100) < percent)
            mask[i] = static_cast<unsigned char>(1 + wb::random_bits(seed + 1, i) % 255);
    return mask;
}

void check_partition(const Floats& x) {
    const int n = int(x.size());
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    Scratch scratch(n);
    const int got = partition_above(d_x.get(), n, kLimit, d_out.get(), scratch.memory.get());
    CUDA_CHECK(cudaGetLastError());
    const int kept = number_of(x);
    CHECK_ARRAYS(
        Ints{got}, Ints{kept}, [](size_t) { return 0.0; }, "the returned number");
    Floats want = x;
    std::stable_partition(want.begin(), want.end(), passes);
    const Floats out = d_out.download();
    CHECK_ARRAYS(out, want);
    const auto others = [&](auto&& place_of) {  // where those that do not pass go
        Floats all(n, kNan);
        int before = 0;
        for (int i = 0; i < n; ++i) {
            const int place = passes(x[i]) ? before : place_of(i, before);
            if (place >= 0 && place < n) all[place] = x[i];
            before += passes(x[i]);
        }
        return all;
    };
    wb::recognize<float>(
        out,
        want,
        {{"those that do not pass are in the opposite order",
          [&] { return others([&](int i, int before) { return n - 1 - (i - before); }); }},
         {"those that do not pass are one place too far",
          [&] { return others([&](int i, int before) { return kept + i - before + 1; }); }},
         {"those that do not pass come first",
          [&] {
              Floats all = x;
              std::stable_partition(all.begin(), all.end(), [](float v) { return !passes(v); });
              return all;
          }},
         {"only those that pass are stored", [&] { return others([](int, int) { return -1; }); }}});
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
}

// What the property tests look at.
constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

struct Counted {
    std::optional<EmulatorCounters> counters;
    uint64_t kept = 0;
};

Counted counted(int (*select)(const float*, int, float, float*, void*), int percent) {
    const Floats x = random_elements(kCount, 31, percent);
    wb::DeviceBuffer<float> d_x(x), d_out(kCount);
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    return {wb::count([&] { select(d_x.get(), kCount, kLimit, d_out.get(), d_scratch.get()); }),
            uint64_t(number_of(x))};
}

}  // namespace

TEST_CASE("task 1: keeps what passes of each 32 elements", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192}) check_warps(random_elements(n, 100 + n));
}

TEST_CASE("task 1: keeps none, all, every second, and the last of a warp", "[task1]") {
    check_patterns(64, check_warps);
    check_patterns(1000, check_warps);
}

TEST_CASE("task 1: selects in warps that are not full", "[task1]") {
    for (const int n : {0, 1, 2, 15, 31, 33, 255, 257, 1000})
        check_warps(random_elements(n, 200 + n, 60));
    check_warps(with_special_values(random_elements(100, 17)));
}

TEST_CASE("task 2: keeps what passes in blocks of one warp to 32 warps", "[task2]") {
    for (const int threads : {32, 64, 96, 256, 480, 992, 1024})
        check_blocks(random_elements(3 * threads, 300 + threads), threads);
}

TEST_CASE("task 2: selects in blocks that are not full", "[task2]") {
    for (const int n : {0, 1, 31, 32, 33, 255, 257, 1000, 5001}) {
        check_blocks(random_elements(n, 400 + n), 256);
        check_blocks(random_elements(n, 401 + n), 1024);
    }
    check_patterns(1000, [](const Floats& x) { check_blocks(x, 256); });
}

TEST_CASE("task 3: keeps what passes of any number of elements", "[task3]") {
    for (const int n : kSizes) check_above(random_elements(n, 500 + n));
    check_above(random_elements(kLarge, 501));
}

TEST_CASE("task 3: keeps none, all, every second, and the last", "[task3]") {
    for (const int n : {1, 300, 4096, 12345}) check_patterns(n, check_above);
}

TEST_CASE("task 3: an element equal to the limit does not pass, nor does a NaN", "[task3]") {
    check_above(with_special_values(random_elements(5000, 18)));
    check_above(Floats(1000, kNan));
    check_above(Floats(1000, kLimit));
}

TEST_CASE("task 3: gives the same in every run", "[task3]") {
    const Floats x = random_elements(20011, 19);
    for (int run = 0; run < 4; ++run) check_above(x);
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    Scratch scratch(0);
    int got = -1;
    const auto counters =
        wb::count([&] { got = select_above(nullptr, 0, kLimit, nullptr, scratch.memory.get()); });
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(got == 0);
    if (counters) CHECK(counters->launches == 0);
}

TEST_CASE("task 4: keeps the marked rows of a table", "[task4]") {
    for (const int n : {1, 2, 32, 33, 257, 1000, 4097, 20011})
        for (const int percent : {10, 60}) check_rows(mask_of(n, 600 + n, percent));
}

TEST_CASE("task 4: keeps none of the rows, all, and the last", "[task4]") {
    for (const int n : {0, 1, 1000, 5000}) {
        check_rows(mask_of(n, 41, 0));
        check_rows(mask_of(n, 42, 100));
        std::vector<unsigned char> last(n, 0);
        if (n > 0) last.back() = 128;
        check_rows(last);
    }
}

TEST_CASE("task 5: moves what passes to the front, and the others behind it", "[task5]") {
    for (const int n : kSizes) check_partition(random_elements(n, 700 + n));
}

TEST_CASE("task 5: keeps none, all, every second, and the last in front", "[task5]") {
    for (const int n : {1, 300, 4096, 12345}) check_patterns(n, check_partition);
}

TEST_CASE("efficient: a warp votes, and needs no shared memory, barrier or atomic",
          "[efficient][task1]") {
    const Floats x = random_elements(kCount, 51);
    wb::DeviceBuffer<float> d_x(x), d_out(kCount);
    wb::DeviceBuffer<int> d_counts((kCount + 31) / 32);
    const auto counters =
        wb::count([&] { select_in_warps(d_x.get(), kCount, kLimit, d_out.get(), d_counts.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    CHECK(counters->shared_store_requests == 0);
    CHECK(counters->shared_atomics == 0);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->block_barriers == 0);
    // One vote of each warp, and one more that a group of lanes may need.
    CHECK(counters->warp_syncs <= 2 * counters->warps);
}

TEST_CASE("efficient: each warp of a block stores its count to shared memory, and little else",
          "[efficient][task1][task2]") {
    const Floats x = random_elements(kCount, 52);
    wb::DeviceBuffer<float> d_x(x), d_out(kCount);
    wb::DeviceBuffer<int> d_counts((kCount + kThreads - 1) / kThreads);
    const auto counters = wb::count([&] {
        select_in_blocks(d_x.get(), kCount, kLimit, d_out.get(), d_counts.get(), kThreads);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    // One store for each warp, and one more where a thread adds up for all of them.
    CHECK(counters->shared_store_requests <= 2 * counters->warps + 2 * counters->blocks);
    CHECK(counters->shared_load_conflicts + counters->shared_store_conflicts == 0);
    CHECK(counters->block_barriers <= 3 * counters->blocks);
    CHECK(counters->shared_atomics == 0);
    CHECK(counters->global_atomics == 0);
}

TEST_CASE("efficient: exactly the kept elements are stored", "[efficient][task1][task2][task3]") {
    const int percent = GENERATE(3, 40, 97);
    CAPTURE(percent);
    const auto [counters, kept] = counted(select_above, percent);
    NEED_COUNTERS(counters);
    // Beside them: the counts of the tiles, and what scans those.
    INFO(kept << " elements are kept, " << counters->global_store_bytes / 4 << " words are stored");
    CHECK(counters->global_store_bytes >= sizeof(float) * kept);
    CHECK(counters->global_store_bytes <= sizeof(float) * kept + 64 * kTiles);
    // Kept elements of a warp lie side by side: some 32 of them touch 5 sectors at most.
    CHECK(counters->global_store_sectors <= kept / 8 + kCount / 32 + 64 * kTiles);
}

TEST_CASE("efficient: each element is looked at twice, in three launches, without atomics",
          "[efficient][task1][task2][task3]") {
    const auto [counters, kept] = counted(select_above, 40);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(float) * kept);
    const double each = 8.0 * double(counters->global_load_sectors) / kCount;
    INFO(each << " elements are loaded for each of the " << kCount);
    // Twice, a third time those that are kept, and the carries of each warp.
    CHECK(each <= 3.4);
    CHECK(counters->launches <= 3);
    CHECK(counters->global_atomics <= 8 * kTiles);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes <= 16);
    CHECK(counters->threads >= kTiles * kThreads);
    // A warp of a tile's block goes through 16 rounds, in each of two launches.
    INFO("the busiest warp executes " << counters->busiest_warp_instructions
                                      << " instructions, want at most 6000: each tile of " << kTile
                                      << " elements has a block of its own");
    CHECK(counters->busiest_warp_instructions <= 6000);
}

TEST_CASE("efficient: columns of rows that are not kept are not loaded",
          "[efficient][task1][task2][task3][task4]") {
    const auto mask = mask_of(kCount, 53, 5);
    const uint64_t kept = kCount - std::count(mask.begin(), mask.end(), 0);
    const HostTable table(kCount);
    wb::DeviceBuffer<unsigned char> d_mask(mask);
    wb::DeviceBuffer<float> energy(table.energy), eta(table.eta), phi(table.phi);
    wb::DeviceBuffer<int> charge(table.charge);
    wb::DeviceBuffer<float> out_energy(kept), out_eta(kept), out_phi(kept);
    wb::DeviceBuffer<int> out_charge(kept);
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    const auto counters = wb::count([&] {
        select_rows(d_mask.get(),
                    {energy.get(), eta.get(), phi.get(), charge.get()},
                    kCount,
                    {out_energy.get(), out_eta.get(), out_phi.get(), out_charge.get()},
                    d_scratch.get());
    });
    NEED_COUNTERS(counters);
    INFO(kept << " rows of 16 bytes are kept, " << counters->global_load_bytes
              << " bytes are loaded");
    CHECK(counters->global_store_bytes >= 16 * kept);
    CHECK(counters->global_store_bytes <= 16 * kept + 64 * kTiles);
    // The mask twice, the kept rows, and the carries of each thread.
    CHECK(counters->global_load_bytes <= 3 * kCount + 16 * kept + 4096 * kTiles);
    CHECK(counters->global_atomics <= 8 * kTiles);
}

TEST_CASE("efficient: a partition stores each element once",
          "[efficient][task1][task2][task3][task5]") {
    const auto [counters, kept] = counted(partition_above, 40);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(float) * kCount);
    CHECK(counters->global_store_bytes <= sizeof(float) * kCount + 64 * kTiles);
    CHECK(counters->launches <= 3);
    CHECK(counters->global_atomics <= 8 * kTiles);
    CHECK(counters->device_to_host_bytes <= 16);
    CHECK(kept > 0);
}
