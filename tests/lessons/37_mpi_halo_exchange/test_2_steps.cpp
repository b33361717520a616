// SPDX-License-Identifier: MIT
// Lesson 37: steps of a rod and rows of a product by several ranks. Every rank compares its part of
// the result bit by bit.
#include "reference.h"

namespace {

// Steps of the whole rod in which the ghosts are wrong as usual mistakes make them.
enum class Ghosts { kNothing, kStepBefore, kExchanged };
Rod with_ghosts(Ghosts ghosts, Rod rod, Ends ends, double rate, int steps, int ranks) {
    const int cells = int(rod.size());
    const bool fixed = ends == Ends::kFixed;
    Rod before(rod.size());
    for (int s = 0; s < steps; ++s) {
        Rod next = rod;
        for (int r = 0; r < ranks; ++r) {
            const Slice own = right_slice(cells, r, ranks);
            const Rod& from = ghosts == Ghosts::kStepBefore ? before : rod;
            double first = from[size_t((own.begin + cells - 1) % cells)];
            double last = from[size_t(own.end % cells)];
            if (ghosts == Ghosts::kNothing || (fixed && r == 0)) first = 0;
            if (ghosts == Ghosts::kNothing || (fixed && r + 1 == ranks)) last = 0;
            if (ghosts == Ghosts::kExchanged) std::swap(first, last);
            for (int i = own.begin; i < own.end; ++i) {
                if (fixed && (i == 0 || i == cells - 1)) continue;
                const double left = i > own.begin ? rod[size_t(i - 1)] : first;
                const double right = i + 1 < own.end ? rod[size_t(i + 1)] : last;
                next[size_t(i)] = std::fma(rate, left - 2 * rod[size_t(i)] + right, rod[size_t(i)]);
            }
        }
        before = rod;
        rod = next;
    }
    return rod;
}

// Checks and returns the size of this rank's slice.
Rod heat_of(HeatSlice& slice, int cells, size_t size) {
    constexpr double kBefore = 4711;
    Rod got(size_t(cells) + 1, kBefore);
    slice.download(got.data());
    while (got.size() > size && got.back() == kBefore) got.pop_back();
    const size_t downloaded_cells = got.size(), slice_cells = size;
    CHECK(downloaded_cells == slice_cells);
    got.resize(size);
    return got;
}

void check_steps(const wb::Ranks& world, int cells, Ends ends, int steps, double rate = 0.23) {
    const bool ring = ends == Ends::kPeriodic;
    CAPTURE(cells, steps, ring);
    const Rod start = random_rod(cells, 370 + unsigned(cells));
    const Rod mine = part(start, world);
    HeatSlice slice(mine.data(), cells, ends, rate, world.comm());
    for (int i = 0; i < steps; ++i) slice.step();
    const Rod got = heat_of(slice, cells, mine.size());
    const Rod want = part(stepped(start, ends, rate, steps), world);
    const Ends other = ends == Ends::kFixed ? Ends::kPeriodic : Ends::kFixed;
    const auto ghosts = [&](Ghosts kind) {
        return part(with_ghosts(kind, start, ends, rate, steps, world.size()), world);
    };
    wb::recognize<double>(
        got,
        want,
        {{"the ends of the rod are joined, but should be fixed",
          [&] {
              return ends == Ends::kFixed ? part(stepped(start, other, rate, steps), world) : Rod{};
          }},
         {"the ends of the rod are fixed, but should be joined",
          [&] {
              return ends == Ends::kPeriodic ? part(stepped(start, other, rate, steps), world)
                                             : Rod{};
          }},
         {"the ghosts are never written", [&] { return ghosts(Ghosts::kNothing); }},
         {"the ghosts hold the edges of one step before",
          [&] { return ghosts(Ghosts::kStepBefore); }},
         {"the left and the right ghost are swapped", [&] { return ghosts(Ghosts::kExchanged); }},
         {"the heat is that of one step before",
          [&] { return part(stepped(start, ends, rate, steps - 1), world); }}});
    CHECK_ARRAYS(got, want);
}

// The number of steps until all cells change by no more than the tolerance.
int settled(Rod rod, double rate, double tolerance, int every, int most) {
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

void check_settle(const wb::Ranks& world, double tolerance, int every, int most) {
    CAPTURE(tolerance, every, most);
    Rod start = random_rod(40, 5);
    for (size_t i = 25; i < 40; ++i)
        start[i] = 0;  // so that the cells on the right hardly change at first
    const Rod mine = part(start, world);
    HeatSlice slice(mine.data(), 40, Ends::kFixed, 0.2, world.comm());
    const int want = settled(start, 0.2, tolerance, every, most);
    const int steps = slice.settle(tolerance, every, most);
    CHECK(steps == want);
    if (steps != want) return;
    const Rod got = heat_of(slice, 40, mine.size());
    CHECK_ARRAYS(got, part(stepped(start, Ends::kFixed, 0.2, want), world));
}

}  // namespace

TEST_CASE("task 6: the same bits for any number of ranks", "[task6][ranks:1,2,3,4,7]") {
    const wb::Ranks world;
    // The long run comes first: with more wrong cells, the cause is more certain.
    check_steps(world, 1000, Ends::kFixed, 30);
    check_steps(world, 1000, Ends::kFixed, 1);
    check_steps(world, 1001, Ends::kPeriodic, 30);
    check_steps(world, 1001, Ends::kPeriodic, 1);
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
    constexpr double kRate = 0.25, kPi = 3.141592653589793;
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

TEST_CASE("task 6: a communicator may have only some of the ranks", "[task6][ranks:4]") {
    const wb::Ranks world;
    const Half half(world);
    const int cells = 50 + half.number;
    const Rod start = random_rod(cells, 90);
    const Rod mine = half.part(start);
    HeatSlice slice(mine.data(), cells, Ends::kFixed, 0.2, half.comm);
    for (int i = 0; i < 12; ++i) slice.step();
    CHECK_ARRAYS(heat_of(slice, cells, mine.size()),
                 half.part(stepped(start, Ends::kFixed, 0.2, 12)));
}

TEST_CASE("task 7: all ranks stop after the same step", "[task7][ranks:3]") {
    const wb::Ranks world;
    check_settle(world, 0.01, 1, 500);
    check_settle(world, 0.01, 7, 500);
}

TEST_CASE("task 7: it stops at the limit, also between two checks", "[task7][ranks:3]") {
    const wb::Ranks world;
    check_settle(world, 0, 10, 25);
    check_settle(world, 0, 50, 20);
    check_settle(world, 10, 5, 0);
    check_settle(world, 10, 5, 100);
}

TEST_CASE("task 7: a communicator may have only some of the ranks", "[task7][ranks:4]") {
    const wb::Ranks world;
    const Half half(world);
    constexpr int kCells = 41;
    Rod start = random_rod(kCells, 5);
    for (double& heat : start)
        heat *= half.number ? 0.1 : 1;  // so that one half of the ranks settles sooner
    const Rod mine = half.part(start);
    HeatSlice slice(mine.data(), kCells, Ends::kFixed, 0.2, half.comm);
    const int want = settled(start, 0.2, 0.01, 1, 500);
    const int steps = slice.settle(0.01, 1, 500);
    CHECK(steps == want);
    if (steps == want)
        CHECK_ARRAYS(heat_of(slice, kCells, mine.size()),
                     half.part(stepped(start, Ends::kFixed, 0.2, want)));
}

TEST_CASE("task 8: all ranks together compute the product", "[task8][ranks:1,3]") {
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

TEST_CASE("task 8: every rank computes its own rows, and no others", "[task8][ranks:3]") {
    const wb::Ranks world;
    constexpr int kN = 40;
    const Rod a = random_rod(kN * kN, 8), b = random_rod(kN * kN, 9);
    Rod c(size_t(kN * kN));
    const bool root = world.rank() == 0;
    const auto counted = wb::count([&] {
        multiply_rows(root ? a.data() : nullptr,
                      root ? b.data() : nullptr,
                      root ? c.data() : nullptr,
                      kN,
                      world.comm());
    });
    if (!counted) return;  // a card does not count
    const int rows = right_slice(kN, world.rank(), world.size()).size();
    const auto stored = counted->global_store_bytes / sizeof(double);
    INFO("this rank has stored " << stored << " elements of c on its device, want " << rows * kN
                                 << ": its " << rows << " rows");
    const bool own_rows_were_computed_here(stored == size_t(rows * kN));
    CHECK(own_rows_were_computed_here);
}
