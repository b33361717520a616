// SPDX-License-Identifier: MIT
// Every rank computes the whole result on the host, and compares its part of it, bit by bit.
#include "mpi_halo_exchange.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "ranks.h"
#include "timeline.h"

using Rod = std::vector<double>;

static Slice right_slice(int cells, int rank, int ranks) {
    const int each = cells / ranks, more = cells % ranks;
    const int begin = rank * each + std::min(rank, more);
    return {begin, begin + each + (rank < more)};
}
static Rod part(const Rod& all, const wb::Ranks& world) {
    const Slice own = right_slice(int(all.size()), world.rank(), world.size());
    Rod mine;
    mine.reserve(all.size());  // an answer may take its slice for a larger one
    mine.assign(all.begin() + own.begin, all.begin() + own.end);
    return mine;
}
static Rod random_rod(int cells, unsigned seed) {
    Rod rod;
    for (const float one : wb::random_floats(size_t(cells), seed)) rod.push_back(one / 0.9);
    return rod;
}
static Rod stepped(const Rod& now, Ends ends, double rate) {
    const size_t n = now.size();
    Rod next = now;
    for (size_t i = 0; i < n; ++i) {
        if (ends == Ends::kFixed && (i == 0 || i == n - 1)) continue;
        next[i] = std::fma(rate, now[(i + n - 1) % n] - 2 * now[i] + now[(i + 1) % n], now[i]);
    }
    return next;
}
static Rod stepped(Rod rod, Ends ends, double rate, int steps) {
    for (int i = 0; i < steps; ++i) rod = stepped(rod, ends, rate);
    return rod;
}
// The same with slices that know nothing of each other: the ghosts keep what they held first.
static Rod apart(Rod rod, Ends ends, double rate, int steps, int ranks) {
    for (int s = 0; s < steps; ++s) {
        Rod next = rod;
        for (int r = 0; r < ranks; ++r) {
            const Slice own = right_slice(int(rod.size()), r, ranks);
            for (int i = own.begin; i < own.end; ++i) {
                if (ends == Ends::kFixed && (i == 0 || i == int(rod.size()) - 1)) continue;
                const double left = i > own.begin ? rod[size_t(i - 1)] : 0;
                const double right = i + 1 < own.end ? rod[size_t(i + 1)] : 0;
                next[size_t(i)] = std::fma(rate, left - 2 * rod[size_t(i)] + right, rod[size_t(i)]);
            }
        }
        rod = next;
    }
    return rod;
}

// This rank's slice, which should have so many cells.
static Rod heat_of(HeatSlice& slice, int cells, size_t size) {
    constexpr double kBefore = 4711;
    Rod got(size_t(cells) + 1, kBefore);
    slice.download(got.data());
    while (got.size() > size && got.back() == kBefore) got.pop_back();
    const size_t downloaded_cells = got.size(), slice_cells = size;
    CHECK(downloaded_cells == slice_cells);
    got.resize(size);
    return got;
}

static void check_steps(const wb::Ranks& world, int cells, Ends ends, int steps,
                        double rate = 0.23) {
    const bool ring = ends == Ends::kPeriodic;
    CAPTURE(cells, steps, ring);
    const Rod start = random_rod(cells, 370 + unsigned(cells));
    const Rod mine = part(start, world);
    HeatSlice slice(mine.data(), cells, ends, rate, world.comm());
    for (int i = 0; i < steps; ++i) slice.step();
    const Rod got = heat_of(slice, cells, mine.size());
    const Rod want = part(stepped(start, ends, rate, steps), world);
    const Ends other = ends == Ends::kFixed ? Ends::kPeriodic : Ends::kFixed;
    wb::recognize<double>(
        got,
        want,
        {{"the ends of the rod are joined, and they are fixed",
          [&] {
              return ends == Ends::kFixed ? part(stepped(start, other, rate, steps), world) : Rod{};
          }},
         {"the ends of the rod are fixed, and they are joined",
          [&] {
              return ends == Ends::kPeriodic ? part(stepped(start, other, rate, steps), world)
                                             : Rod{};
          }},
         {"nothing arrives in the ghosts",
          [&] { return part(apart(start, ends, rate, steps, world.size()), world); }},
         {"the heat is that of one step before",
          [&] { return part(stepped(start, ends, rate, steps - 1), world); }}});
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 1: larger slices come first", "[task1]") {
    CHECK_RESULT(slice_of(10, 0, 4).begin, 0);
    CHECK_RESULT(slice_of(10, 0, 4).end, 3);
    CHECK_RESULT(slice_of(10, 1, 4).begin, 3);
    CHECK_RESULT(slice_of(10, 1, 4).end, 6);
    CHECK_RESULT(slice_of(10, 2, 4).begin, 6);
    CHECK_RESULT(slice_of(10, 2, 4).end, 8);
    CHECK_RESULT(slice_of(10, 3, 4).begin, 8);
    CHECK_RESULT(slice_of(10, 3, 4).end, 10);
}

TEST_CASE("task 1: every cell has one owner, for any number of ranks", "[task1]") {
    for (const int ranks : {1, 2, 3, 4, 7, 64}) {
        for (const int cells : {0, 1, 6, 7, 8, 63, 64, 65, 1000, 1 << 20}) {
            CAPTURE(ranks, cells);
            bool right = true;
            for (int rank = 0; rank < ranks; ++rank) {
                const Slice got = slice_of(cells, rank, ranks);
                const Slice want = right_slice(cells, rank, ranks);
                right = right && got.begin == want.begin && got.end == want.end;
            }
            REQUIRE(right);
        }
    }
}

TEST_CASE("task 2: a rod with fixed ends has two ranks with one neighbour", "[task2]") {
    CHECK_RESULT(neighbours_of(0, 4, Ends::kFixed).left, MPI_PROC_NULL);
    CHECK_RESULT(neighbours_of(0, 4, Ends::kFixed).right, 1);
    CHECK_RESULT(neighbours_of(2, 4, Ends::kFixed).left, 1);
    CHECK_RESULT(neighbours_of(2, 4, Ends::kFixed).right, 3);
    CHECK_RESULT(neighbours_of(3, 4, Ends::kFixed).left, 2);
    CHECK_RESULT(neighbours_of(3, 4, Ends::kFixed).right, MPI_PROC_NULL);
    CHECK_RESULT(neighbours_of(0, 1, Ends::kFixed).left, MPI_PROC_NULL);
    CHECK_RESULT(neighbours_of(0, 1, Ends::kFixed).right, MPI_PROC_NULL);
}

TEST_CASE("task 2: on a ring every rank has two, perhaps itself", "[task2]") {
    CHECK_RESULT(neighbours_of(0, 4, Ends::kPeriodic).left, 3);
    CHECK_RESULT(neighbours_of(0, 4, Ends::kPeriodic).right, 1);
    CHECK_RESULT(neighbours_of(3, 4, Ends::kPeriodic).left, 2);
    CHECK_RESULT(neighbours_of(3, 4, Ends::kPeriodic).right, 0);
    CHECK_RESULT(neighbours_of(0, 2, Ends::kPeriodic).left, 1);
    CHECK_RESULT(neighbours_of(1, 2, Ends::kPeriodic).right, 0);
    CHECK_RESULT(neighbours_of(0, 1, Ends::kPeriodic).left, 0);
    CHECK_RESULT(neighbours_of(0, 1, Ends::kPeriodic).right, 0);
}

TEST_CASE("task 3: ranks share the devices of their node", "[task3]") {
    CHECK_RESULT(device_for(0, 1), 0);
    CHECK_RESULT(device_for(3, 1), 0);
    CHECK_RESULT(device_for(0, 4), 0);
    CHECK_RESULT(device_for(3, 4), 3);
    CHECK_RESULT(device_for(4, 4), 0);
    CHECK_RESULT(device_for(5, 2), 1);
}

TEST_CASE("task 3: ranks are counted anew on each node", "[task3][ranks:4]") {
    const wb::Ranks world;
    mpiWatchPretendNodes(2);  // ranks 0 and 1 are on one node, 2 and 3 on the next
    const int local = local_rank_of(world.comm());
    mpiWatchPretendNodes(0);
    CHECK_RESULT(local, world.rank() % 2);
}

TEST_CASE("task 4: if no rank has failed, all go on", "[task4][ranks:2]") {
    const wb::Ranks world;
    const wb::MpiCalls calls;
    for (int i = 0; i < 3; ++i) CHECK_NOTHROW(agree(nullptr, world.comm()));
    const size_t reductions = calls.collectives();
    CHECK(reductions >= 3);
}

TEST_CASE("task 4: if one rank has failed, every rank throws", "[task4][ranks:3]") {
    const wb::Ranks world;
    for (int failing = 0; failing < world.size(); ++failing) {
        CAPTURE(failing);
        std::string text;
        try {
            agree(failing == world.rank() ? "out of paper" : nullptr, world.comm());
        } catch (const std::exception& error) {
            text = error.what();
            if (text.empty()) text = "an exception";
        }
        const bool has_thrown = !text.empty();
        CHECK(has_thrown);
        if (has_thrown && failing == world.rank())
            CHECK(text.find("out of paper") != std::string::npos);
    }
}

TEST_CASE("task 5: edges travel to both neighbours", "[task5][ranks:1,2,3]") {
    const wb::Ranks world;
    for (const Ends ends : {Ends::kFixed, Ends::kPeriodic}) {
        const bool ring = ends == Ends::kPeriodic;
        CAPTURE(ring);
        const int rank = world.rank(), ranks = world.size();
        const int left = rank > 0 ? rank - 1 : ring ? ranks - 1 : MPI_PROC_NULL;
        const int right = rank + 1 < ranks ? rank + 1 : ring ? 0 : MPI_PROC_NULL;
        const double to_left = 100 + rank, to_right = 200 + rank;
        // What comes from the left was sent to the right there. Nothing is written at an end.
        const Rod want = {left == MPI_PROC_NULL ? -1.0 : 200.0 + left,
                          right == MPI_PROC_NULL ? -2.0 : 100.0 + right};
        Rod got = {-1.0, -2.0};
        exchange(&to_left, &to_right, &got[0], &got[1], {left, right}, world.comm());
        wb::recognize<double>(got,
                              want,
                              {{"what comes from the left and from the right is exchanged",
                                [&] {
                                    return Rod{want[1], want[0]};
                                }},
                               {"the neighbour's edge on the far side is received",
                                [&] {
                                    return Rod{100.0 + left, 200.0 + right};
                                }},
                               {"nothing was received", [&] {
                                    return Rod{-1.0, -2.0};
                                }}});
        CHECK_ARRAYS(got, want);
    }
}

TEST_CASE("task 6: the same bits for any number of ranks", "[task6][ranks:1,2,3,4,7]") {
    const wb::Ranks world;
    check_steps(world, 1000, Ends::kFixed, 1);
    check_steps(world, 1000, Ends::kFixed, 30);
    check_steps(world, 1001, Ends::kPeriodic, 1);
    check_steps(world, 1001, Ends::kPeriodic, 30);
}

TEST_CASE("task 6: slices of one cell and of two", "[task6][ranks:1,4]") {
    const wb::Ranks world;
    for (const Ends ends : {Ends::kFixed, Ends::kPeriodic}) {
        check_steps(world, world.size(), ends, 9);
        check_steps(world, world.size() + 1, ends, 9);
        check_steps(world, 2 * world.size(), ends, 9);
        check_steps(world, 3 * world.size() - 1, ends, 9);
    }
}

TEST_CASE("task 6: the same with an MPI that takes device pointers", "[task6][ranks:1,3]") {
    const wb::Ranks world;
    mpiWatchCudaAware(true);
    check_steps(world, 1000, Ends::kFixed, 30);
    check_steps(world, 301, Ends::kPeriodic, 30);
    check_steps(world, world.size(), Ends::kPeriodic, 9);
    mpiWatchCudaAware(false);
}

TEST_CASE("task 6: one wave decays as the theory says", "[task6][ranks:3]") {
    const wb::Ranks world;
    constexpr int kCells = 1000, kSteps = 1000;
    constexpr double kRate = 0.25, kPi = std::numbers::pi;
    Rod start(kCells);
    for (int i = 0; i < kCells; ++i) start[size_t(i)] = std::sin(2 * kPi * i / kCells);
    const Rod mine = part(start, world);
    HeatSlice slice(mine.data(), kCells, Ends::kPeriodic, kRate, world.comm());
    for (int i = 0; i < kSteps; ++i) slice.step();
    const Rod got = heat_of(slice, kCells, mine.size());
    const double sine = std::sin(kPi / kCells);
    const double decay = std::pow(1 - 4 * kRate * sine * sine, kSteps);
    CHECK(std::fabs(decay - 0.990178924) < 5e-10);
    Rod want = mine;
    for (double& one : want) one *= decay;
    // Each step rounds three times: 1000 steps err by at most 3000 units in the last place of 1.
    CHECK_ARRAYS(got, want, [](size_t) { return 3000 * 1.1e-16; });
}

TEST_CASE("task 6: two rods on the same ranks do not disturb each other", "[task6][ranks:3]") {
    const wb::Ranks world;
    const Rod one = random_rod(300, 71), two = random_rod(211, 72);
    const Rod mine = part(one, world), other = part(two, world);
    HeatSlice first(mine.data(), 300, Ends::kFixed, 0.2, world.comm());
    HeatSlice second(other.data(), 211, Ends::kPeriodic, 0.1, world.comm());
    for (int i = 0; i < 10; ++i) first.step(), second.step();
    CHECK_ARRAYS(heat_of(first, 300, mine.size()),
                 part(stepped(one, Ends::kFixed, 0.2, 10), world));
    CHECK_ARRAYS(heat_of(second, 211, other.size()),
                 part(stepped(two, Ends::kPeriodic, 0.1, 10), world));
}

TEST_CASE("task 6: the ranks may be some of all", "[task6][ranks:4]") {
    const wb::Ranks world;
    MPI_Comm half;
    MPI_Comm_split(world.comm(), world.rank() % 2, -world.rank(), &half);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &ranks);
    const int cells = 50 + world.rank() % 2;
    const Rod start = random_rod(cells, 90);
    const auto own = [&](const Rod& all) {
        const Slice slice = right_slice(cells, rank, ranks);
        Rod mine;
        mine.reserve(all.size());
        mine.assign(all.begin() + slice.begin, all.begin() + slice.end);
        return mine;
    };
    const Rod mine = own(start);
    {
        HeatSlice slice(mine.data(), cells, Ends::kFixed, 0.2, half);
        for (int i = 0; i < 12; ++i) slice.step();
        CHECK_ARRAYS(heat_of(slice, cells, mine.size()),
                     own(stepped(start, Ends::kFixed, 0.2, 12)));
    }
    MPI_Comm_free(&half);
}

// The steps until all cells change by no more than the tolerance.
static int settled(Rod rod, double rate, double tolerance, int every, int most) {
    for (int steps = 1; steps <= most; ++steps) {
        const Rod next = stepped(rod, Ends::kFixed, rate);
        double change = 0;
        for (size_t i = 0; i < rod.size(); ++i)
            change = std::max(change, std::fabs(next[i] - rod[i]));
        rod = next;
        if (steps % every == 0 && change <= tolerance) return steps;
    }
    return most;
}

static void check_settle(const wb::Ranks& world, double tolerance, int every, int most) {
    CAPTURE(tolerance, every, most);
    Rod start = random_rod(40, 5);
    for (size_t i = 25; i < 40; ++i) start[i] = 0;  // on the right little changes at first
    const Rod mine = part(start, world);
    HeatSlice slice(mine.data(), 40, Ends::kFixed, 0.2, world.comm());
    const int want = settled(start, 0.2, tolerance, every, most);
    const int steps = slice.settle(tolerance, every, most);
    CHECK(steps == want);
    if (steps != want) return;
    const Rod got = heat_of(slice, 40, mine.size());
    CHECK_ARRAYS(got, part(stepped(start, Ends::kFixed, 0.2, want), world));
}

TEST_CASE("task 7: all ranks stop after the same step", "[task7][ranks:3]") {
    const wb::Ranks world;
    check_settle(world, 0.01, 1, 500);
    check_settle(world, 0.01, 7, 500);
}

TEST_CASE("task 7: it stops at the limit, also between two looks", "[task7][ranks:3]") {
    const wb::Ranks world;
    check_settle(world, 0, 10, 25);
    check_settle(world, 0, 50, 20);
    check_settle(world, 10, 5, 0);
    check_settle(world, 10, 5, 100);
}

TEST_CASE("task 8: rows are computed where they are", "[task8][ranks:1,3]") {
    const wb::Ranks world;
    for (const int n : {1, 5, 33}) {
        CAPTURE(n);
        const Rod a = random_rod(n * n, 8), b = random_rod(n * n, 9);
        Rod got(size_t(n * n), std::nan("")), want(size_t(n * n));
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                for (int k = 0; k < n; ++k)
                    want[size_t(i * n + j)] = std::fma(
                        a[size_t(i * n + k)], b[size_t(k * n + j)], want[size_t(i * n + j)]);
        const bool root = world.rank() == 0;
        multiply_rows(root ? a.data() : nullptr,
                      root ? b.data() : nullptr,
                      root ? got.data() : nullptr,
                      n,
                      world.comm());
        if (root) CHECK_MATRIX(size_t(n), got, want);
    }
}

TEST_CASE("efficient: two cells travel between neighbours in each step",
          "[efficient][task6][ranks:3]") {
    const wb::Ranks world;
    constexpr int kSteps = 20;
    const Rod mine = part(random_rod(5000, 3), world);
    HeatSlice slice(mine.data(), 5000, Ends::kFixed, 0.2, world.comm());
    const wb::MpiCalls calls;
    for (int i = 0; i < kSteps; ++i) slice.step();
    const auto sent = calls.messages();
    uint64_t message_bytes = 0;
    for (const auto& one : sent) message_bytes += one.bytes;
    const int neighbours = (world.rank() > 0) + (world.rank() + 1 < world.size());
    const size_t messages = sent.size(), collectives = calls.collectives();
    wb::details::note_numbers({{"mpi_messages", messages}, {"mpi_bytes", message_bytes}});
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
    const Rod mine = part(Rod(1 << 18, 1.0), world);
    HeatSlice slice(mine.data(), 1 << 18, Ends::kPeriodic, 0.2, world.comm());
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
    CHECK(messages_beside_kernels == 4);
}

TEST_CASE("efficient: one reduction for each look", "[efficient][task7][ranks:2]") {
    const wb::Ranks world;
    const Rod mine = part(random_rod(600, 6), world);
    HeatSlice slice(mine.data(), 600, Ends::kFixed, 0.2, world.comm());
    const wb::MpiCalls calls;
    slice.settle(0, 10, 60);
    const size_t collectives = calls.collectives();
    wb::details::note_numbers({{"mpi_collectives", collectives}});
    CHECK(collectives == 6);
}
