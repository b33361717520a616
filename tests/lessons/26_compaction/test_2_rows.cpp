// SPDX-License-Identifier: MIT
// Lesson 26, rows of a table and a partition, and the costs of all functions.
#include "checks.h"
#include "watches/cuda_calls.h"

#include <algorithm>

namespace {

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
    const auto others = [&](auto&& place_of) {  // elements that do not pass
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
        {{"the elements that do not pass are in reverse order",
          [&] { return others([&](int i, int before) { return n - 1 - (i - before); }); }},
         {"the elements that do not pass are one place too far",
          [&] { return others([&](int i, int before) { return kept + i - before + 1; }); }},
         {"the elements that do not pass come first",
          [&] {
              Floats all = x;
              std::stable_partition(all.begin(), all.end(), [](float v) { return !passes(v); });
              return all;
          }},
         {"only the elements that pass are stored",
          [&] { return others([](int, int) { return -1; }); }}});
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
}

// The input of the efficiency tests.
constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

struct Counted {
    std::optional<wb::Counters> counters;
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

TEST_CASE("task 5: moves the elements that pass to the front, and the others after them",
          "[task5]") {
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
    // One vote for each warp, and one more for answers that form a group of lanes.
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
    // One store for each warp, and one more for answers in which one thread adds the counts for
    // all.
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
    // In addition: the counts of the tiles, and the stores of their scan.
    INFO(kept << " elements are kept, " << counters->global_store_bytes / 4 << " words are stored");
    CHECK(counters->global_store_bytes >= sizeof(float) * kept);
    CHECK(counters->global_store_bytes <= sizeof(float) * kept + 64 * kTiles);
    // Kept elements of a warp are side by side: up to 32 of them touch 5 sectors at most.
    CHECK(counters->global_store_sectors <= kept / 8 + kCount / 32 + 64 * kTiles);
}

TEST_CASE("efficient: each element is loaded twice, in three launches, without atomics",
          "[efficient][task1][task2][task3]") {
    const auto [counters, kept] = counted(select_above, 40);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(float) * kept);
    const auto each = 8.0 * counters->global_load_sectors / kCount;
    INFO(each << " elements are loaded for each of the " << kCount);
    // Every element twice, kept elements a third time, and the carries of each warp.
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

TEST_CASE("efficient: tiles that are full leave no block without elements",
          "[efficient][task1][task2][task3]") {
    const int tiles = 8, n = tiles * kTile;
    const Floats x = random_elements(n, 54);
    wb::DeviceBuffer<float> d_x(x), d_out(n);
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(n) / sizeof(uint64_t));
    wb::CallWatch watch;
    try {
        select_above(d_x.get(), n, kLimit, d_out.get(), d_scratch.get());
    } catch (const wb::CudaError&) {  // only the sizes of the launches are checked
    }
    CHECK(watch.launches() > 0);
    for (const wb::CudaCall& call : watch.calls) {
        INFO(tiles << " tiles of " << kTile << " elements, and a launch of " << call.grid.x
                   << " blocks");
        CHECK(call.grid.x <= tiles);
    }
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
    // The mask twice, the kept rows once, and the carries of each thread.
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
