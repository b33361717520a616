// SPDX-License-Identifier: MIT
// Lesson 28, efficiency: the costs of sums of groups and of rows.
#include <optional>

#include "cases/shared_work.h"
#include "checks.h"

namespace {

// The matrices of the efficiency tests.
struct DeviceMatrix {
    explicit DeviceMatrix(const HostMatrix& m)
        : rows(m.rows()), entries(m.column.size()), row_begin(m.row_begin), column(m.column),
          value(m.value), x(wb::random_floats(m.columns, 131)), y(m.rows()) {}
    std::optional<wb::Counters> count(void (*multiply)(CsrMatrix, const float*, float*)) {
        return wb::count([&] {
            multiply(
                {rows, int(entries), row_begin.get(), column.get(), value.get()}, x.get(), y.get());
        });
    }
    int rows;
    uint64_t entries;
    wb::DeviceBuffer<int> row_begin, column;
    wb::DeviceBuffer<float> value, x, y;
};

constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

}  // namespace

TEST_CASE("efficient: a warp sums its segments by shuffles, in a few steps", "[efficient][task1]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 501)), d_sums(kCount);
    wb::DeviceBuffer<unsigned char> d_head(random_heads(kCount, 502, 10));
    const auto counters =
        wb::count([&] { sums_in_warps(d_x.get(), d_head.get(), kCount, d_sums.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    CHECK(counters->shared_store_requests == 0);
    CHECK(counters->local_store_requests == 0);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->block_barriers == 0);
    const auto each = counters->warp_instructions / counters->warps;
    INFO("a warp executes " << each << " instructions");
    CHECK(each <= 200);
}

TEST_CASE("efficient: keys are counted side by side, by all warps", "[efficient][task2]") {
    wb::DeviceBuffer<int> d_key(sorted_keys(kCount, 503, 10));
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    const auto counters = wb::count([&] { count_groups(d_key.get(), kCount, d_scratch.get()); });
    NEED_COUNTERS(counters);
    {
        // The key and its neighbour; 2.25 where both stay in registers.
        const uint64_t most = 5 * kCount / 8;
        INFO(8.0 * counters->global_load_sectors / kCount << " keys are loaded for each of the "
                                                          << kCount << ", want at most 5");
        CHECK(counters->global_load_sectors <= most);
    }
    CHECK(counters->launches <= 3);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->global_store_bytes <= 64 * kTiles);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes <= 16);
    wb::check_shared_work(*counters, 32 * kTiles, 16, 4000);
}

TEST_CASE("efficient: groups are summed without atomics, each row loaded once",
          "[efficient][task1][task2][task3][task4]") {
    const int percent = GENERATE(10, 100, 0);  // of rows that begin a group
    CAPTURE(percent);
    const Ints keys = sorted_keys(kCount, 504, percent);
    const uint64_t groups = begins_of(keys).size() - 1;
    wb::DeviceBuffer<int> d_key(keys), d_group_key(groups);
    DeviceTable table(kCount, 505, 0, int(groups));
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    const auto counters = wb::count([&] {
        sum_by_key(
            d_key.get(), table.input(), kCount, d_group_key.get(), table.output(), d_scratch.get());
    });
    NEED_COUNTERS(counters);
    CHECK(counters->global_atomics + counters->shared_atomics == 0);
    CHECK(counters->global_store_bytes >= 20 * groups);
    CHECK(counters->global_store_bytes <= 20 * groups + 128 * kTiles);
    {
        // Four columns; two keys for the count; the key and its two neighbours for the sum.
        const uint64_t most = 17 * kCount / 8;
        INFO(8.0 * counters->global_load_sectors / kCount
             << " words are loaded for each row of a key and four columns, want at most 17");
        CHECK(counters->global_load_sectors <= most);
    }
    CHECK(counters->launches <= 4);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes <= 16);
    // A tile has 32 rounds of some 120 instructions. One warp for the only group would execute
    // 500,000, one thread 10,000,000.
    wb::check_shared_work(*counters, 32 * kTiles, 16, 32000);
}

TEST_CASE("efficient: one store for each row, each entry loaded once", "[efficient][task5]") {
    DeviceMatrix m(matrix_of(wb::random_ints(10000, 506, 0, 9), 5000, 507));
    const uint64_t rows = m.rows;
    const auto counters = m.count(multiply_by_threads);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    // Empty rows may have been cleared before: one in ten.
    CHECK(counters->global_store_bytes >= 7 * rows / 2);
    CHECK(counters->global_store_bytes <= 4 * rows);
    CHECK(counters->global_load_bytes >= 12 * m.entries);
    CHECK(counters->global_load_bytes <= 12 * m.entries + 16 * rows);
    CHECK(counters->global_atomics == 0);
    wb::check_shared_work(*counters, rows / 4, 10, 1500);
}

TEST_CASE("efficient: the lanes of a warp load entries side by side", "[efficient][task6]") {
    DeviceMatrix m(band_of(wb::random_ints(200, 508, 32, 1000), 5000, 509));
    const uint64_t rows = m.rows;
    const auto counters = m.count(multiply_by_warps);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * rows);
    CHECK(counters->global_atomics == 0);
    // Value, column and x: 4 sectors each for 32 entries, 5 where they do not start at a multiple
    // of 8; and the row's ends.
    CHECK(counters->global_load_sectors >= 4 * m.entries / 32);
    {
        const uint64_t most = 24 * m.entries / 32;
        INFO(32.0 * counters->global_load_sectors / double(m.entries)
             << " sectors are loaded for 32 entries (values, columns and x), want at most 24");
        CHECK(counters->global_load_sectors <= most);
    }
    // The longest row has 32 rounds.
    wb::check_shared_work(*counters, 32 * rows, 20, 2000);
}

TEST_CASE("efficient: a full row occupies all lanes of a warp", "[efficient][task6]") {
    Ints lengths = wb::random_ints(300, 510, 0, 4);
    lengths[150] = 20000;
    DeviceMatrix m(matrix_of(lengths, 20000, 511));
    const auto counters = m.count(multiply_by_warps);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * uint64_t(m.rows));
    CHECK(counters->global_atomics == 0);
    // 625 rounds of 32 entries, some 15 instructions each. A lane alone needs 200,000.
    INFO("the busiest warp executes " << counters->busiest_warp_instructions << " instructions");
    CHECK(counters->busiest_warp_instructions <= 20000);
}
