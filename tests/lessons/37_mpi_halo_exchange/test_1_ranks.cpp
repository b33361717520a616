// SPDX-License-Identifier: MIT
// Lesson 37: slices, neighbours, devices, agreement on failures, and the exchange of edges.
#include "reference.h"

#include <string>
#include <utility>

namespace {

std::string words(int rank) {
    return rank == MPI_PROC_NULL ? "MPI_PROC_NULL" : std::to_string(rank);
}

void check_neighbours(int rank, int ranks, Ends ends, int left, int right) {
    const Neighbours got = neighbours_of(rank, ranks, ends);
    INFO("neighbours_of(" << rank << ", " << ranks
                          << ", Ends::" << (ends == Ends::kFixed ? "kFixed" : "kPeriodic")
                          << ") is {" << words(got.left) << ", " << words(got.right) << "}, want {"
                          << words(left) << ", " << words(right) << "}");
    const bool right_neighbours = got.left == left && got.right == right;
    CHECK(right_neighbours);
}

}  // namespace

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
            for (int rank = 0; rank < ranks; ++rank) {
                const Slice got = slice_of(cells, rank, ranks);
                const Slice want = right_slice(cells, rank, ranks);
                INFO("slice_of(" << cells << ", " << rank << ", " << ranks << ") is [" << got.begin
                                 << ", " << got.end << "), want [" << want.begin << ", " << want.end
                                 << ")");
                const bool owns_the_right_cells = got.begin == want.begin && got.end == want.end;
                REQUIRE(owns_the_right_cells);
            }
        }
    }
}

TEST_CASE("task 2: a rod with fixed ends has two ranks with one neighbour", "[task2]") {
    check_neighbours(0, 4, Ends::kFixed, MPI_PROC_NULL, 1);
    check_neighbours(2, 4, Ends::kFixed, 1, 3);
    check_neighbours(3, 4, Ends::kFixed, 2, MPI_PROC_NULL);
    check_neighbours(0, 1, Ends::kFixed, MPI_PROC_NULL, MPI_PROC_NULL);
}

TEST_CASE("task 2: on a ring every rank has two neighbours, perhaps itself", "[task2]") {
    check_neighbours(0, 4, Ends::kPeriodic, 3, 1);
    check_neighbours(3, 4, Ends::kPeriodic, 2, 0);
    check_neighbours(0, 2, Ends::kPeriodic, 1, 1);
    check_neighbours(1, 2, Ends::kPeriodic, 0, 0);
    check_neighbours(0, 1, Ends::kPeriodic, 0, 0);
}

TEST_CASE("task 3: ranks share the devices of their node", "[task3]") {
    CHECK_RESULT(device_for(0, 1), 0);
    CHECK_RESULT(device_for(3, 1), 0);
    CHECK_RESULT(device_for(0, 4), 0);
    CHECK_RESULT(device_for(3, 4), 3);
    CHECK_RESULT(device_for(4, 4), 0);
    CHECK_RESULT(device_for(5, 2), 1);
}

TEST_CASE("task 3: ranks are counted from 0 on each node", "[task3][ranks:4]") {
    const wb::Ranks world;
    mpiWatchPretendNodes(2);  // ranks 0 and 1 are on one node, 2 and 3 on the next
    const int local = local_rank_of(world.comm());
    mpiWatchPretendNodes(0);
    CHECK_RESULT(local, world.rank() % 2);
}

TEST_CASE("task 3: the ranks of the communicator are counted, not all ranks", "[task3][ranks:4]") {
    const wb::Ranks world;
    const Half half(world);
    const auto before = mpiWatchCommunicators();
    const int local = local_rank_of(half.comm);
    const auto left = mpiWatchCommunicators() - before;
    CHECK_RESULT(local, half.rank);
    INFO("local_rank_of() has made " << left << " communicator that it does not free");
    const bool every_communicator_is_freed = left == 0;
    CHECK(every_communicator_is_freed);
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
        const wb::MpiCalls calls;
        try {
            agree(failing == world.rank() ? "out of paper" : nullptr, world.comm());
        } catch (const std::exception& error) {
            text = error.what();
            if (text.empty()) text = "an exception";
        }
        {
            INFO("rank " << world.rank() << (failing == world.rank() ? ", which has failed," : "")
                         << " makes no collective call in agree(): the others cannot know");
            const bool takes_part = calls.collectives() > 0;
            REQUIRE(takes_part);
        }
        const bool has_thrown = !text.empty();
        CHECK(has_thrown);
        if (has_thrown && failing == world.rank())
            CHECK(text.find("out of paper") != std::string::npos);
    }
}

TEST_CASE("task 4: a communicator may have only some of the ranks", "[task4][ranks:4]") {
    const wb::Ranks world;
    const Half half(world);
    const bool should_throw = half.number == 1;
    bool has_thrown = false;
    try {
        agree(should_throw && half.rank == 0 ? "out of paper" : nullptr, half.comm);
    } catch (const std::exception&) {
        has_thrown = true;
    }
    CHECK_RESULT(has_thrown, should_throw);
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
        // The left neighbour has sent this number to its right. At an end, nothing is written.
        const Rod want = {left == MPI_PROC_NULL ? -1.0 : 200.0 + left,
                          right == MPI_PROC_NULL ? -2.0 : 100.0 + right};
        Rod got = {-1.0, -2.0};
        const auto before = mpiWatchRequests();
        exchange(&to_left, &to_right, &got[0], &got[1], {left, right}, world.comm());
        const auto begun = mpiWatchRequests() - before;
        {
            INFO("exchange() has returned without waiting for "
                 << begun << " of the messages that it has begun to send or to receive");
            const bool waited_for_all_messages = begun == 0;
            REQUIRE(waited_for_all_messages);
        }
        wb::recognize<double>(got,
                              want,
                              {{"the numbers from the left and from the right are swapped",
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

TEST_CASE("task 5: no rank waits for ever, even if MPI has no buffers", "[task5][ranks:1,2,3]") {
    const wb::Ranks world;
    const int rank = world.rank(), ranks = world.size();
    const Neighbours ring{(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    const double to_left = 100 + rank, to_right = 200 + rank;
    Rod got = {-1.0, -2.0};
    mpiWatchUnbuffered(true);
    exchange(&to_left, &to_right, &got[0], &got[1], ring, world.comm());
    mpiWatchUnbuffered(false);
    CHECK_ARRAYS(got, Rod{200.0 + ring.left, 100.0 + ring.right});
}
