// SPDX-License-Identifier: MIT
// Lesson 36: slices of an array, and the sum of all ranks.
#include "checks.h"

namespace {

void check_slices(int n, int ranks) {
    long long next = 0;
    for (int r = 0; r < ranks; ++r) {
        const Slice slice = slice_of(n, ranks, r);
        INFO("slice_of(" << n << ", " << ranks << ", " << r << "): got first = " << slice.first
                         << ", count = " << slice.count << ", and the slices before end at "
                         << next);
        const bool begins_there = slice.first == next || (slice.count == 0 && next == n);
        const bool none_is_negative = slice.count >= 0;
        REQUIRE(begins_there);
        REQUIRE(none_is_negative);
        next += slice.count;
    }
    INFO("slice_of(" << n << ", " << ranks << ", r): all slices together have " << next
                     << " elements, want " << n);
    const bool every_element_once = next == n;
    REQUIRE(every_element_once);
}

void check_sum(int n, int count) {
    CAPTURE(n, count);
    const Ranks ranks(count);
    const Doubles in = exact_doubles(n, 300 + n);
    Pinned from(in);
    const OnRanks d_in(ranks, n / count + 1), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    ranks.make_last_current();
    const double got = sum_of_squares(communicator, from.get(), n, d_in.get(), d_sum.get());
    check_one_sum(in, count, got, "the returned sum");
    for (int r = 0; r < count; ++r)
        check_one_sum(in, count, d_sum.values(r)[0], "the sum of rank " + std::to_string(r), r);
    wb::check_unchanged(from.values(), in);
}

}  // namespace

TEST_CASE("task 1: slices hold every element once, in order", "[task1]") {
    for (const int n : {0, 1, 2, 3, 4, 5, 7, 31, 32, 33, 1000, (1 << 20) + 1})
        for (int ranks = 1; ranks <= kMaxRanks; ++ranks) check_slices(n, ranks);
}

TEST_CASE("task 1: slices differ by at most one element", "[task1]") {
    for (const int n : {0, 1, 3, 4, 5, 7, 1000, 1023})
        for (int ranks = 1; ranks <= kMaxRanks; ++ranks)
            for (int r = 0; r < ranks; ++r) {
                const int count = slice_of(n, ranks, r).count;
                INFO("slice_of(" << n << ", " << ranks << ", " << r << ") has " << count
                                 << " elements, want " << n / ranks << " or "
                                 << (n + ranks - 1) / ranks);
                const bool fair_share = count == n / ranks || count == (n + ranks - 1) / ranks;
                REQUIRE(fair_share);
            }
}

TEST_CASE("task 1: slices of 2147483647 elements", "[task1]") {
    for (const int ranks : {1, 2, 3, 7, 8, 16}) check_slices(2147483647, ranks);
}

TEST_CASE("task 2: sums on one rank", "[task2]") {
    for (const int n : {1, 31, 32, 33, 255, 256, 257, 1000}) check_sum(n, 1);
}

TEST_CASE("task 2: sums on several ranks", "[task2]") {
    check_sum(1000, 2);
    check_sum(999, 3);
    check_sum(1000, 4);
    check_sum(100000, 4);
}

TEST_CASE("task 2: slices of different sizes", "[task2]") {
    check_sum(1001, 2);
    check_sum(1000, 3);
    for (const int n : {1001, 1002, 1003}) check_sum(n, 4);
}

TEST_CASE("task 2: fewer numbers than ranks", "[task2]") {
    check_sum(3, 4);
    check_sum(1, 2);
    for (const int count : {1, 2, 4}) check_sum(0, count);
}

TEST_CASE("task 2: sums again with other numbers", "[task2]") {
    const Ranks ranks(3);
    const OnRanks d_in(ranks, 200), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    for (const int n : {500, 100, 599, 0, 1}) {
        const Doubles in = exact_doubles(n, n);
        Pinned from(in);
        const double got = sum_of_squares(communicator, from.get(), n, d_in.get(), d_sum.get());
        check_one_sum(in, 3, got, "the returned sum");
    }
}

TEST_CASE("task 2: all work is in the streams of the ranks", "[task2]") {
    const Ranks ranks(3);
    Pinned from(exact_doubles(100, 1));
    const OnRanks d_in(ranks, 34), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    check_streams_of("sum_of_squares", ranks, [&] {
        sum_of_squares(communicator, from.get(), 100, d_in.get(), d_sum.get());
    });
}

TEST_CASE("task 2: a failed call is an exception", "[task2]") {
    const Ranks ranks(2);
    Pinned from(exact_doubles(100, 1));
    const OnRanks d_in(ranks, 51), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    const auto work = [&] {
        ranks.wait();  // until the work of the call before is done
        sum_of_squares(communicator, from.get(), 100, d_in.get(), d_sum.get());
    };
    wb::check_refused_launch("sum_of_squares", work);
    check_failing("sum_of_squares", {"Memcpy", "SetDevice"}, work);
}
