// SPDX-License-Identifier: MIT
// Lesson 04, a warp walks along a row, and few threads have no element.
#include "cases/shared_work.h"
#include "reference.h"

namespace {

// The shape for the efficiency tests: whole warps along the rows, rows that start on a sector.
constexpr Shape kWide{500, 1024};
constexpr size_t kPitch = 1056;

}  // namespace

TEST_CASE("efficient: a warp increments neighbours in a row", "[efficient][task1][task2][task3]") {
    wb::DeviceBuffer<float> d_data(matrix(kWide, kPitch, 4));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), kWide.height, kWide.width, kPitch); });
    NEED_COUNTERS(counted);
    const uint64_t bytes = sizeof(float) * kWide.height * kWide.width;
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == bytes);
    CHECK(counted->global_store_bytes == bytes);
    CHECK(counted->global_load_sectors == bytes / 32);
    CHECK(counted->global_store_sectors == bytes / 32);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the root takes one launch, and a warp walks along a row",
          "[efficient][task1][task3][task4]") {
    wb::DeviceBuffer<float> d_a(matrix(kWide, kPitch, 5)), d_b(matrix(kWide, kWide.width, 6));
    wb::DeviceBuffer<float> d_out(size_t(kWide.height) * kPitch);
    const auto counted = wb::count([&] {
        hypot_2d(d_a.get(),
                 kPitch,
                 d_b.get(),
                 kWide.width,
                 d_out.get(),
                 kPitch,
                 kWide.height,
                 kWide.width);
    });
    NEED_COUNTERS(counted);
    const uint64_t bytes = sizeof(float) * kWide.height * kWide.width;
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 2 * bytes);
    CHECK(counted->global_store_bytes == bytes);
    CHECK(counted->global_load_sectors == 2 * bytes / 32);
    CHECK(counted->global_store_sectors == bytes / 32);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const Shape shape{128, 1024};
    const size_t elements = 128 * 1024;
    wb::DeviceBuffer<float> d_a(matrix(shape, 1024, 9)), d_b(matrix(shape, 1024, 10));
    wb::DeviceBuffer<float> d_out(elements);
    increment_2d(d_a.get(), shape.height, shape.width, 1024);
    wb::check_shared_work("increment_2d", d_a.get(), elements);
    hypot_2d(d_a.get(), 1024, d_b.get(), 1024, d_out.get(), 1024, shape.height, shape.width);
    wb::check_shared_work("hypot_2d", d_out.get(), elements);
}

TEST_CASE("efficient: few threads have no element", "[efficient][task1][task2][task3]") {
    const Shape shape{2000, 3000};
    wb::DeviceBuffer<float> d_data(matrix(shape, shape.width, 7));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), shape.height, shape.width, shape.width); });
    NEED_COUNTERS(counted);
    const uint64_t elements = uint64_t(shape.height) * shape.width;
    CHECK(counted->global_store_bytes == sizeof(float) * elements);
    CHECK(counted->threads <= elements + elements * 3 / 100);
    CHECK(counted->threads >= 2048);                    // one block is not enough
    CHECK(counted->warp_instructions <= 2 * elements);  // serial code needs 6 or more each
}

TEST_CASE("efficient: blocks that fit exactly leave no thread over",
          "[efficient][task1][task2][task3]") {
    const Shape shape{512, 1024};
    wb::DeviceBuffer<float> d_data(matrix(shape, shape.width, 8));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), shape.height, shape.width, shape.width); });
    NEED_COUNTERS(counted);
    const uint64_t elements = uint64_t(shape.height) * shape.width;
    CHECK(counted->global_store_bytes == sizeof(float) * elements);
    CHECK(counted->threads <= elements);
}
