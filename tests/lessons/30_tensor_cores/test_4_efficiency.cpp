// SPDX-License-Identifier: MIT
// Lesson 30, efficiency: matrix instructions, loads, stores and barriers.
#include <optional>

#include "cases/shared_work.h"
#include "checks.h"

namespace {

// The input of the efficiency tests: whole tiles, and every row begins at a multiple of 32 bytes.
constexpr int kRows = 256, kCols = 128, kDepth = 256;
constexpr uint64_t kElements = uint64_t(kRows) * kCols, kProducts = kElements * kDepth;
constexpr uint64_t kInstruction = uint64_t(kSide) * kSide * kSide;  // products of one

std::optional<wb::Counters> counted(Multiply multiply, int m, int n, int k,
                                    Order order = Order::kRows) {
    wb::DeviceBuffer<half> d_a(rounded(wb::random_floats(size_t(m) * k, 51)));
    wb::DeviceBuffer<half> d_b(rounded(wb::random_floats(size_t(k) * n, 52)));
    wb::DeviceBuffer<float> d_c(size_t(m) * n);
    const int b_pitch = order == Order::kRows ? n : k;
    return wb::count([&] {
        multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, b_pitch, n}, order);
    });
}

// Only one kernel may run, and it must store each element once.
void check_frugal(const wb::Counters& counters, uint64_t elements) {
    CHECK(counters.global_store_bytes == 4 * elements);
    CHECK(counters.launches == 1);
    CHECK(counters.device_to_device_bytes + counters.device_to_host_bytes == 0);
    CHECK(counters.device_allocations == 0);
    CHECK(counters.global_atomics == 0);
    CHECK(counters.double_instructions == 0);
}

}  // namespace

TEST_CASE("efficient: each float is loaded once, and each half stored once", "[efficient][task1]") {
    for (const auto& [rows, cols] : {std::pair{256, 128}, {100, 75}}) {
        CAPTURE(rows, cols);
        wb::DeviceBuffer<float> d_in(wb::random_floats(size_t(rows) * cols, 81));
        const uint64_t halves = uint64_t(up(rows)) * up(cols);
        wb::DeviceBuffer<half> d_out(halves);
        const auto counters = wb::count([&, rows = rows, cols = cols] {
            round_and_pad(d_in.get(), d_out.get(), rows, cols, cols);
        });
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == 2 * halves);
        CHECK(counters->global_load_bytes <= 4 * uint64_t(rows) * cols);
        CHECK(counters->launches == 1);
        CHECK(counters->device_allocations == 0);
        CHECK(counters->double_instructions == 0);
        if (rows % 16 || cols % 16) continue;
        CHECK(counters->global_load_sectors <= halves / 8);
        CHECK(counters->global_store_sectors <= halves / 16);
        CHECK(counters->warp_instructions <= 2 * halves);
        wb::check_shared_work(*counters, halves / 16, 30, 2000);
    }
}

TEST_CASE("efficient: one matrix instruction for each 16 x 16 x 16 products",
          "[efficient][task3]") {
    for (const Order order : {Order::kRows, Order::kColumns}) {
        const auto counters = counted(multiply_padded, kRows, kCols, kDepth, order);
        NEED_COUNTERS(counters);
        check_frugal(*counters, kElements);
        CHECK(counters->matrix_products == kProducts);
        CHECK(counters->warp_instructions <= 40 * kProducts / kInstruction);
        CHECK(counters->local_load_requests + counters->local_store_requests == 0);
        wb::check_shared_work(*counters, kElements / 8, 31, 1000);
    }
}

TEST_CASE("efficient: each part is loaded once for each matrix instruction", "[efficient][task3]") {
    for (const Order order : {Order::kRows, Order::kColumns}) {
        const auto counters = counted(multiply_padded, kRows, kCols, kDepth, order);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == 4 * kElements);
        // 512 bytes of A and 512 bytes of B, in pieces of 16 bytes of a row.
        CHECK(counters->global_load_bytes <= 1024 * kProducts / kInstruction);
        CHECK(counters->global_load_sectors <= counters->global_load_bytes / 16);
        CHECK(counters->global_store_sectors <= kElements / 8);
    }
}

TEST_CASE("efficient: matrix instructions make all products", "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        check_frugal(*counters, uint64_t(m) * n);
        const auto tiled = [](int size, int side) {
            return uint64_t(size + side - 1) / side * side;
        };
        // Tiles of C at its edges, and the last slab, may hold zeros.
        CHECK(counters->matrix_products >= uint64_t(up(m)) * up(n) * up(k));
        CHECK(counters->matrix_products <= tiled(m, 64) * tiled(n, 64) * tiled(k, 32));
    }
}

TEST_CASE("efficient: 64 x 64 elements share what their block loads", "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        const uint64_t down = uint64_t(m + 63) / 64, across = uint64_t(n + 63) / 64;
        const uint64_t most = k * (m * across + n * down);
        const auto halves = counters->global_load_bytes / 2;
        INFO(halves << " halves are loaded from global memory, want at most " << most);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(halves <= most);
    }
}

TEST_CASE("efficient: slabs are loaded and C is stored by neighbouring threads, side by side",
          "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->global_load_sectors <= counters->global_load_bytes / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
}

TEST_CASE("efficient: fragments are loaded and stored without bank conflicts",
          "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(counters->shared_load_conflicts == 0);
        CHECK(counters->shared_store_conflicts == 0);
    }
}

TEST_CASE("efficient: a fragment is used for several matrix instructions", "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    // Copies from the tile of C, 32 elements at a time, are not loads of fragments.
    const uint64_t copied = kElements / 32;
    const auto requests = counters->shared_load_requests;
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->matrix_products > 0);
    if (counters->matrix_products > 0) {
        const auto each =
            (1.0 * requests - copied) / counters->matrix_products * double(kInstruction);
        INFO(each << " loads from shared memory for each matrix instruction, want at most 1.25");
        CHECK(each <= 1.25);
    }
    CHECK(counters->local_load_requests + counters->local_store_requests == 0);
}

TEST_CASE("efficient: two barriers for each slab, and all warps share the work",
          "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // A slab of 64 x 64 elements has at least 16 columns of A; and two for the tile of C.
    CHECK(counters->block_barriers <= 2 * kProducts / (64 * 64 * 16) + 2 * counters->blocks);
    CHECK(counters->warp_instructions <= 250 * kProducts / kInstruction);
    wb::check_shared_work(*counters, kElements / 128, 30, 20000);
    // If one warp loads a slab for all four, it executes 1.5 times as many instructions as the
    // others.
    const auto mean = counters->warp_instructions / counters->warps;
    INFO("the busiest warp executes " << counters->busiest_warp_instructions
                                      << " instructions, and a warp " << mean << " on average");
    CHECK(counters->busiest_warp_instructions <= mean + mean / 4);
}
