// SPDX-License-Identifier: MIT
// Lesson 02: no work is launched in vain, and no byte is moved twice.
#include "boundary_checks.h"
#include "cases/shared_work.h"
#include "lesson_test.h"

TEST_CASE("efficient: a million additions leave less than one block idle",
          "[efficient][task1][task2][task3]") {
    const int n = 1000000;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2)), d_c(n);
    const auto counters = wb::count([&] { vector_add(d_a.get(), d_b.get(), d_c.get(), n); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes == uint64_t(4) * n);
    REQUIRE(counters->blocks > 0);
    CHECK(counters->threads < n + counters->block_size());
    CHECK(counters->threads >= 2048);                       // one block is not enough
    CHECK(counters->warp_instructions <= uint64_t(2) * n);  // serial code needs 6 or more each
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const int n = 100000;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2));
    wb::DeviceBuffer<float> d_sums(n), d_gathered(n);
    wb::DeviceBuffer<int> d_index(wb::random_ints(n, 3, 0, n - 1)), d_errors(1);
    vector_add_on_grid(d_a.get(), d_b.get(), d_sums.get(), n, 400, 256);
    wb::check_shared_work("vector_add_on_grid", d_sums.get(), n);
    vector_add(d_a.get(), d_b.get(), d_sums.get(), n);
    wb::check_shared_work("vector_add", d_sums.get(), n);
    gather(d_a.get(), n, d_index.get(), d_gathered.get(), n, OutOfRange::kClamp, d_errors.get());
    wb::check_shared_work("gather", d_gathered.get(), n);
}

TEST_CASE("efficient: blocks that fit exactly leave no thread over",
          "[efficient][task1][task2][task3]") {
    const int n = 1 << 16;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2)), d_c(n);
    const auto counters = wb::count([&] { vector_add(d_a.get(), d_b.get(), d_c.get(), n); });
    NEED_COUNTERS(counters);
    INFO("n is a multiple of the block: " << counters->threads << " threads for " << n
                                          << " elements");
    CHECK(counters->threads <= uint64_t(n));
}

TEST_CASE("efficient: each sum reads 8 bytes and writes 4, all on the device",
          "[efficient][task1][task2][task3]") {
    const uint64_t n = 100000;
    wb::DeviceBuffer<float> d_a(wb::random_floats(n, 1)), d_b(wb::random_floats(n, 2)), d_c(n);
    const auto counters = wb::count([&] { vector_add(d_a.get(), d_b.get(), d_c.get(), int(n)); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_load_bytes == 8 * n);
    CHECK(counters->global_store_bytes == 4 * n);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    const auto on_grid =
        wb::count([&] { vector_add_on_grid(d_a.get(), d_b.get(), d_c.get(), int(n), 400, 256); });
    NEED_COUNTERS(on_grid);
    CHECK(on_grid->launches == 1);
    CHECK(on_grid->global_store_bytes == 4 * n);
    CHECK(on_grid->host_to_device_bytes == 0);
    CHECK(on_grid->device_to_host_bytes == 0);
}

TEST_CASE("efficient: a gather is one launch that reads each index and value once",
          "[efficient][task2][task3][task4][task5]") {
    const uint64_t n = 100000;
    wb::DeviceBuffer<float> d_values(wb::random_floats(5000, 3)), d_out(n);
    wb::DeviceBuffer<int> d_index(wb::random_ints(n, 4, -9000, 9000)), d_errors(1);
    const auto counters = wb::count([&] {
        gather(d_values.get(),
               5000,
               d_index.get(),
               d_out.get(),
               int(n),
               OutOfRange::kWrap,
               d_errors.get());
    });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes == 8 * n);
    CHECK(counters->global_store_bytes == 4 * n);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
}

TEST_CASE("efficient: an index far away is wrapped as fast as a near one",
          "[efficient][task2][task3][task4][task5]") {
    const int n = 3200;
    wb::DeviceBuffer<float> d_values(wb::random_floats(97, 5)), d_out(n);
    wb::DeviceBuffer<int> d_errors(1);
    const auto wrap = [&](int reach) {
        wb::DeviceBuffer<int> d_index(wb::random_ints(n, 6, -reach, reach));
        return wb::count([&] {
            gather(d_values.get(),
                   97,
                   d_index.get(),
                   d_out.get(),
                   n,
                   OutOfRange::kWrap,
                   d_errors.get());
        });
    };
    const auto far_away = wrap(97000), close_by = wrap(190);
    NEED_COUNTERS(far_away);
    NEED_COUNTERS(close_by);
    INFO("indexes up to 97000 of an array of 97 take " << far_away->warp_instructions
                                                       << " instructions, indexes up to 190 take "
                                                       << close_by->warp_instructions);
    CHECK(far_away->warp_instructions <= 2 * close_by->warp_instructions);
}
