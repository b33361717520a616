// SPDX-License-Identifier: MIT
// Lesson 37, what each rank has: its slice, its neighbours, its device, news of failures, and the
// edges of its neighbours.
#include "reference.h"

#include <string>
#include <utility>

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
