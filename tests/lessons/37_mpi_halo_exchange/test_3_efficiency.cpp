// SPDX-License-Identifier: MIT
// Lesson 37: the cost of a step, in messages, stores, and needless waits.
#include "cases/timeline.h"
#include "reference.h"

TEST_CASE("efficient: two cells travel between neighbours in each step",
          "[efficient][task6][ranks:3]") {
    const wb::Ranks world;
    constexpr int kSteps = 20;
    const Rod mine = part(random_rod(5000, 3), world);
    HeatSlice slice(mine.data(), 5000, Ends::kFixed, 0.2, world.comm());
    const wb::MpiCalls calls;
    for (int i = 0; i < kSteps; ++i) slice.step();
    const auto sent = calls.messages();
    auto message_bytes = wb::measured("mpi_bytes", uint64_t(0));
    for (const auto& one : sent) message_bytes += one.bytes;
    const int neighbours = (world.rank() > 0) + (world.rank() + 1 < world.size());
    const auto messages = wb::measured("mpi_messages", uint64_t(sent.size()));
    const size_t collectives = calls.collectives();
    wb::details::note_counted({messages, message_bytes});
    CHECK(messages == size_t(neighbours * kSteps));
    CHECK(message_bytes == sizeof(double) * size_t(neighbours * kSteps));
    CHECK(collectives == 0);
}

TEST_CASE("efficient: each cell is stored once in a step, and none is copied",
          "[efficient][task6][ranks:2]") {
    const wb::Ranks world;
    constexpr int kSteps = 10;
    const Rod mine = part(random_rod(5000, 4), world);
    HeatSlice slice(mine.data(), 5000, Ends::kFixed, 0.2, world.comm());
    const auto counters = wb::count([&] {
        for (int i = 0; i < kSteps; ++i) slice.step();
    });
    NEED_COUNTERS(counters);
    // A kernel may pack the edges and unpack the ghosts.
    CHECK(counters->global_store_bytes <= kSteps * (mine.size() + 4) * sizeof(double));
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes <= kSteps * 2 * sizeof(double));
    CHECK(counters->host_to_device_bytes <= kSteps * 2 * sizeof(double));
    CHECK(counters->launches <= kSteps * 5);
}

TEST_CASE("efficient: the inner cells are computed while edges travel",
          "[efficient][task6][ranks:2]") {
    const wb::Ranks world;
    constexpr int kLong = 1 << 22;  // the inner cells take longer than copies and launches
    const Rod mine = part(Rod(kLong, 1.0), world);
    HeatSlice slice(mine.data(), kLong, Ends::kPeriodic, 0.2, world.comm());
    const wb::MpiCalls calls;
    mpiWatchKernels(true);
    const auto timeline = wb::Timeline::of([&] {
        for (int i = 0; i < 2; ++i) slice.step();
    });
    mpiWatchKernels(false);
    NEED_TIMELINE(timeline);
    const auto sent = calls.messages();
    size_t messages_beside_kernels = 0;
    for (const auto& one : sent) messages_beside_kernels += one.beside_kernel;
    INFO(4 - messages_beside_kernels << " of 4 messages are sent while no kernel is running: are "
                                        "the inner cells launched before the exchange, and does "
                                        "nothing wait for them?");
    CHECK(messages_beside_kernels == 4);
}

TEST_CASE("efficient: one reduction for each check", "[efficient][task7][ranks:2]") {
    const wb::Ranks world;
    const Rod mine = part(random_rod(600, 6), world);
    HeatSlice slice(mine.data(), 600, Ends::kFixed, 0.2, world.comm());
    const wb::MpiCalls calls;
    slice.settle(0, 10, 60);
    const auto collectives = wb::measured("mpi_collectives", uint64_t(calls.collectives()));
    wb::details::note_counted({collectives});
    CHECK(collectives == 6);
}
