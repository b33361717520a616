// SPDX-License-Identifier: MIT
// Lesson 25, one pass: tiles that look back, and the costs of all scans.
#include "checks.h"

#include <algorithm>

namespace {

void one_pass(const int* d_in, int* d_out, int n) {
    wb::GuardedBuffer<TileState> d_scratch(scratch_bytes(n) / sizeof(TileState), wb::guard(kGuard));
    sum_in_one_pass(d_in, d_out, n, d_scratch.get());
    CHECK(d_scratch.intact());
}

void check_one_pass(const Ints& x, bool in_place = false) {
    const size_t n = x.size();
    CAPTURE(n);
    check(
        one_pass, Operation::kSum, Kind::kInclusive, x, std::max<size_t>(n, 1), kThreads, in_place);
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
        // Printed if the loop never ends: what the tiles before have published.
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
         {"all tiles are in the carry: a prefix already includes the tiles before it",
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

// States of `tiles` tiles with random totals. The tiles up to `prefix` have published prefixes, the
// tiles after it totals.
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

// The size of the input of the efficiency tests.
constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

std::optional<wb::Counters> counted(const Scan& scan_it) {
    wb::DeviceBuffer<int> d_in(data(Operation::kSum, kCount, 1)), d_out(kCount);
    return wb::count([&] { scan_it(d_in.get(), d_out.get(), kCount); });
}

// The same for a function that needs scratch memory. Its allocation is not counted.
std::optional<wb::Counters>
counted_with_scratch(const std::function<void(const int*, int*, int, void*)>& scan_it) {
    wb::DeviceBuffer<TileState> d_scratch(scratch_bytes(kCount) / sizeof(TileState));
    return counted(
        [&](const int* d_in, int* d_out, int n) { scan_it(d_in, d_out, n, d_scratch.get()); });
}

}  // namespace

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
    // The tile before publishes its prefix only after this tile has published its total.
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
    // Between two loads a total may become a prefix, so status and value must come from one load.
    // One load to wait for the status and a second one to use the word are accepted; a third is too
    // many. The other block loads one more word for each tile, 32 at a time.
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
    const auto loads = counters->global_load_requests;
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
    // A sector holds 8 ints. In addition to the elements, each warp may load a carry for 32 of
    // them.
    const auto sectors = counters->global_load_sectors + counters->global_store_sectors;
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
    const auto each = counters->warp_instructions / (kCount / 32);
    INFO("warps execute " << each << " instructions for each 32 elements, with "
                          << counters->thread_instructions / counters->warp_instructions
                          << " lanes at work");
    CHECK(each <= 500);
    CHECK(counters->active_lanes() >= 16);
    INFO(counters->threads << " threads in three launches; with a block for each tile there are "
                           << 2 * kTiles * kThreads << " and those that scan the totals");
    CHECK(counters->threads >= kTiles * kThreads);
    // The threads must share the scan of the totals, too. A single thread executes at least a load,
    // an addition and two stores or steps for each total.
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
    const auto sectors = counters->global_load_sectors + counters->global_store_sectors;
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
    // The elements, and a few words for each tile.
    CHECK(counters->global_load_bytes <= sizeof(int) * kCount + 512 * kTiles);
    CHECK(counters->global_store_bytes <= sizeof(int) * kCount + 32 * kTiles);
    CHECK(counters->global_load_sectors <= kCount / 8 + 128 * kTiles);
    CHECK(counters->global_store_sectors <= kCount / 8 + 16 * kTiles);
    CHECK(counters->global_atomics <= 8 * kTiles);
    CHECK(counters->threads >= kCount / 32);  // a thread takes at most 32 elements
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes == 0);
}
