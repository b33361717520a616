// SPDX-License-Identifier: MIT
// Lesson 38: the cost of derivatives, in transfers, launches and instructions.
#include "cases/shared_work.h"
#include "checks.h"

TEST_CASE("efficient: tangents stay in registers", "[efficient][task5][task6][task7][task8]") {
    const uint64_t n = 4096;
    const Points p = random_points(n, 541);
    const Weights net = random_weights(8, 551);
    wb::DeviceBuffer<float> x(p.x), y(p.y), one(n), two(n), three(n);
    wb::DeviceBuffer<float> a(net.a), b(net.b), w(net.w);
    const auto counted = wb::count([&] {
        gradients(Waves{}, x.get(), y.get(), one.get(), two.get(), three.get(), int(n));
        second_derivatives(Waves{}, x.get(), y.get(), one.get(), two.get(), three.get(), int(n));
        residuals({a.get(), b.get(), w.get(), 8, net.c}, x.get(), one.get(), int(n));
        descend(Waves{}, x.get(), y.get(), int(n), 3, 0.01f);
    });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes >= (12 + 12 + 4 + 8) * n);
    CHECK(counted->local_load_requests == 0);
    CHECK(counted->local_store_requests == 0);
    CHECK(counted->double_instructions == 0);
}

TEST_CASE("efficient: two loads and three stores for each point, in one launch",
          "[efficient][task5]") {
    const uint64_t n = 100000;
    const Points p = random_points(n, 501);
    wb::DeviceBuffer<float> x(p.x), y(p.y), f(n), dx(n), dy(n);
    const auto counted = wb::count(
        [&] { gradients(Rosenbrock{}, x.get(), y.get(), f.get(), dx.get(), dy.get(), int(n)); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads >= 2048);  // one block is not enough
    CHECK(counted->global_load_bytes == 8 * n);
    CHECK(counted->global_store_bytes == 12 * n);
    CHECK(counted->global_load_sectors <= 8 * n / 32 + 16);
    CHECK(counted->global_store_sectors <= 12 * n / 32 + 24);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: one evaluation gives the value and both derivatives", "[efficient][task5]") {
    const uint64_t n = 32768;
    const Points p = random_points(n, 511);
    wb::DeviceBuffer<float> x(p.x), y(p.y), f(n), dx(n), dy(n);
    const auto counted = wb::count(
        [&] { gradients(Waves{}, x.get(), y.get(), f.get(), dx.get(), dy.get(), int(n)); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 12 * n);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->warp_instructions <= 600 * n / 32);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient][task5]") {
    const Points p = random_points(100000, 521);
    const auto got = three(p, [](auto... arguments) { gradients(Rosenbrock{}, arguments...); });
    wb::check_shared_work("gradients", got[1].memory->get(), p.x.size());
}

TEST_CASE("efficient: a point stays in registers for all steps", "[efficient][task6]") {
    const uint64_t n = 32768;
    const int steps = 20;
    const Points p = random_points(n, 531, 1);
    wb::DeviceBuffer<float> x(p.x), y(p.y);
    const auto counted =
        wb::count([&] { descend(Rosenbrock{}, x.get(), y.get(), int(n), steps, 0.0005f); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads >= 2048);
    CHECK(counted->global_load_bytes == 8 * n);
    CHECK(counted->global_store_bytes == 8 * n);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->device_allocations == 0);
    CHECK(counted->warp_instructions <= 40 * steps * n / 32);
}
