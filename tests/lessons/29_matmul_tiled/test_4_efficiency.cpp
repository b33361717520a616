// SPDX-License-Identifier: MIT
// Lesson 29, efficiency: how much is loaded, by which threads, and the other costs.
#include <optional>

#include "cases/shared_work.h"
#include "checks.h"

namespace {

// The input of the efficiency tests: whole tiles, and every row begins at a multiple of 32 bytes.
constexpr int kRows = 256, kCols = 128, kDepth = 64;
constexpr uint64_t kElements = uint64_t(kRows) * kCols, kProducts = kElements * kDepth;

std::optional<wb::Counters> counted(Matmul matmul, int m, int n, int k) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(size_t(m) * k, 51));
    wb::DeviceBuffer<float> d_b(wb::random_floats(size_t(k) * n, 52)), d_c(size_t(m) * n);
    return wb::count([&] { matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}); });
}

// Loads of floats from global memory, and products, of any shape.
void check_global_loads(Matmul matmul, int m, int n, int k, int tile) {
    CAPTURE(m, n, k);
    const auto counters = counted(matmul, m, n, k);
    NEED_COUNTERS(counters);
    const uint64_t most = loads(m, n, k, tile);
    const auto floats = counters->global_load_bytes / 4;
    INFO(floats << " floats are loaded from global memory, want at most " << most);
    CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
    CHECK(counters->launches == 1);
    CHECK(floats <= most);
    CHECK(counters->device_to_device_bytes + counters->device_to_host_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->global_atomics == 0);
}

// No more sectors than the requested bytes fill.
void check_sectors(Matmul matmul) {
    const auto counters = counted(matmul, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->global_load_sectors <= counters->global_load_bytes / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
}

void check_banks(Matmul matmul) {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(matmul, m, n, k);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(counters->shared_load_conflicts == 0);
        CHECK(counters->shared_store_conflicts == 0);
    }
}

}  // namespace

TEST_CASE("efficient: the naive kernel loads two floats for each product, side by side",
          "[efficient][task1]") {
    check_global_loads(matmul_naive, kRows, kCols, kDepth, 1);
    const auto counters = counted(matmul_naive, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    // For 32 products: one sector of A, which all lanes share, and four of B.
    CHECK(counters->global_load_sectors <= 5 * kProducts / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
    CHECK(counters->shared_store_requests + counters->shared_load_requests == 0);
    CHECK(counters->double_instructions == 0);
    wb::check_shared_work(*counters, kElements, 31, 4000);
}

TEST_CASE("efficient: a tile is loaded once for all threads of a block", "[efficient][task3]") {
    check_global_loads(matmul_tiled, kRows, kCols, kDepth, kTile);
    check_global_loads(matmul_tiled, 97, 75, 50, kTile);
}

TEST_CASE("efficient: tiles are loaded and stored by neighbouring threads, side by side",
          "[efficient][task3]") {
    check_sectors(matmul_tiled);
}

TEST_CASE("efficient: no two lanes read different words of one bank", "[efficient][task3]") {
    check_banks(matmul_tiled);
}

TEST_CASE("efficient: two barriers for each tile, and all threads multiply", "[efficient][task3]") {
    const auto counters = counted(matmul_tiled, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // And one more barrier for each block, after its tiles.
    CHECK(counters->block_barriers <= 2 * kProducts / (kTile * kTile * kTile) + counters->blocks);
    CHECK(counters->double_instructions == 0);
    CHECK(counters->local_load_requests + counters->local_store_requests == 0);
    CHECK(counters->warp_instructions <= 8 * kProducts / 32);
    wb::check_shared_work(*counters, kElements / 8, 31, 2500);
}

TEST_CASE("efficient: 64 x 64 elements share what their block loads", "[efficient][task4]") {
    check_global_loads(matmul_registers, kRows, kCols, kDepth, 64);
    check_global_loads(matmul_registers, 97, 75, 50, 64);
}

TEST_CASE("efficient: slabs are loaded and stored by neighbouring threads, side by side",
          "[efficient][task4]") {
    check_sectors(matmul_registers);
}

TEST_CASE("efficient: slabs are read without bank conflicts", "[efficient][task4]") {
    check_banks(matmul_registers);
}

TEST_CASE("efficient: a float in a register is used for several products", "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    const auto each = 32.0 * counters->shared_load_requests / double(kProducts);
    CHECK(counters->global_store_bytes == 4 * kElements);
    {
        INFO(each << " loads from shared memory for each product, want at most 0.7");
        CHECK(each <= 0.7);
    }
    CHECK(counters->warp_instructions <= 5 * kProducts / 32);
    CHECK(counters->double_instructions == 0);
}

TEST_CASE("efficient: sums are in registers, and not in local memory", "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->local_store_requests == 0);
}

TEST_CASE("efficient: two barriers for each slab, and all threads share the work",
          "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // A slab of 64 x 64 elements has at least 8 columns of A.
    CHECK(counters->block_barriers <= 2 * kProducts / (64 * 64 * 8) + counters->blocks);
    wb::check_shared_work(*counters, kElements / 64, 30, 9000);
    // If one warp loads a slab for all eight, it executes 1.5 times as many instructions as the
    // others.
    const auto mean = counters->warp_instructions / counters->warps;
    INFO("the busiest warp executes " << counters->busiest_warp_instructions
                                      << " instructions, and a warp " << mean << " on average");
    CHECK(counters->busiest_warp_instructions <= mean + mean / 4);
}
