// SPDX-License-Identifier: MIT
// Lesson 34: many steps by few launches, and a rate that changes after the recording.
#include "checks.h"

namespace {

// Each leg is one call of advance(), with its own rate if `change` is set.
void check_solver(int n, int k, const std::vector<Leg>& legs, bool change = false) {
    CAPTURE(n, k);
    TestRod test(n, 200 + n);
    const TestStream stream;
    HeatSolver solver(test.rod(), legs[0].rate, k);
    for (const Leg& leg : legs) {
        if (change && &leg != &legs[0]) solver.set_rate(leg.rate, stream);
        solver.advance(leg.steps, stream);
    }
    std::vector<Leg> want = legs;
    if (!change)
        for (Leg& leg : want) leg.rate = legs[0].rate;
    const Floats got = test.download();
    check_heat(got, test.start, want, k, test.moved());
}

}  // namespace

TEST_CASE("task 3: makes whole replays", "[task3]") {
    for (const int n : kSizes) check_solver(n, 4, {{8, kRate}});
    check_solver(500, 2, {{2, kRate}});
    check_solver(500, 1, {{5, 0.4f}});
    check_solver(500, 10, {{100, 0.5f}});
}

TEST_CASE("task 3: makes the steps that remain", "[task3]") {
    for (const int steps : {0, 1, 3, 4, 5, 7, 9, 10}) check_solver(500, 4, {{steps, kRate}});
    check_solver(500, 20, {{19, kRate}});
    check_solver(1, 4, {{7, kRate}});
}

TEST_CASE("task 3: an odd number of steps is recorded", "[task3]") {
    for (const int steps : {3, 5, 6, 9, 11}) check_solver(500, 3, {{steps, 0.4f}});
    check_solver(257, 5, {{25, kRate}, {4, kRate}, {10, kRate}});
}

TEST_CASE("task 3: continues where it ended", "[task3]") {
    check_solver(500, 4, {{6, kRate}, {12, kRate}, {1, kRate}, {5, kRate}, {0, kRate}, {4, kRate}});
}

TEST_CASE("task 3: the same heat as plain launches after 1000 steps, bit for bit", "[task3]") {
    TestRod plain(300, 5), solved(300, 5);
    const TestStream stream;
    heat_steps(plain.rod(), kRate, 1000, stream);
    HeatSolver solver(solved.rod(), kRate, 50);
    solver.advance(1000, stream);
    const Floats want = plain.download(), got = solved.download();
    CHECK_ARRAYS(got, want);
    check_heat(got, solved.start, {{1000, kRate}}, 50);
}

TEST_CASE("task 3: the constructor changes nothing in the rod", "[task3]") {
    TestRod test(500);
    const TestStream stream;
    HeatSolver solver(test.rod(), kRate, 4);
    wb::check_unchanged(test.download(), test.start);
    solver.advance(4, stream);
    check_heat(test.download(), test.start, {{4, kRate}}, 4);
}

TEST_CASE("task 3: heat that is changed between two calls is used", "[task3]") {
    TestRod test(500, 1);
    const TestStream stream;
    HeatSolver solver(test.rod(), kRate, 4);
    solver.advance(5, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const Floats other = wb::random_floats(500, 2, 0, 100);
    const size_t bytes = other.size() * sizeof(float);
    CUDA_CHECK(cudaMemcpy(test.heat.get(), other.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());  // waits for the copy, which `stream` does not
    solver.advance(9, stream);
    check_heat(test.download(), other, {{9, kRate}}, 4);
}

TEST_CASE("task 3: several solvers do not disturb each other", "[task3]") {
    TestRod a(500, 1), b(333, 2);
    const TestStream one, two(cudaStreamDefault);
    HeatSolver first(a.rod(), 0.25f, 4), second(b.rod(), 0.4f, 3);
    for (const int steps : {5, 8}) {
        first.advance(steps, one);
        second.advance(steps, two);
    }
    check_heat(a.download(), a.start, {{13, 0.25f}}, 4);
    check_heat(b.download(), b.start, {{13, 0.4f}}, 3);
}

TEST_CASE("task 3: all work is in the stream that it is given", "[task3]") {
    TestRod test(500);
    HeatSolver solver(test.rod(), kRate, 4);
    check_stream("advance()", [&](cudaStream_t stream) { solver.advance(10, stream); });
}

TEST_CASE("task 3: each failed call is an exception", "[task3]") {
    TestRod test(500);
    HeatSolver solver(test.rod(), kRate, 4);
    check_failing_graph_calls("advance()", [&] { solver.advance(9, nullptr); });
    check_failing_graph_calls("HeatSolver()",
                              [&] { const HeatSolver other(test.rod(), kRate, 4); });
}

TEST_CASE("task 4: a new rate is used by whole replays", "[task4]") {
    check_solver(500, 4, {{8, 0.1f}, {8, 0.4f}}, true);
    check_solver(1000, 10, {{10, 0.5f}, {50, 0.05f}}, true);
    check_solver(100,
                 130,
                 {{130, 0.1f}, {130, 0.4f}},
                 true);  // more nodes than an array of a guessed size holds
}

TEST_CASE("task 4: a new rate is used by the steps that remain", "[task4]") {
    check_solver(500, 4, {{3, 0.1f}, {3, 0.4f}}, true);
    check_solver(500, 4, {{9, 0.1f}, {6, 0.4f}}, true);
}

TEST_CASE("task 4: the rate is changed again and again", "[task4]") {
    check_solver(500, 4, {{9, 0.1f}, {6, 0.4f}, {4, 0.2f}, {0, 0.05f}, {11, 0.5f}}, true);
}

TEST_CASE("task 4: an odd number of steps is recorded", "[task4]") {
    check_solver(500, 3, {{6, 0.1f}, {6, 0.4f}}, true);
    check_solver(257, 1, {{3, 0.4f}, {4, 0.1f}}, true);
}

TEST_CASE("task 4: a rate that is set before the first step", "[task4]") {
    check_solver(500, 4, {{0, 0.1f}, {8, 0.4f}}, true);
}

TEST_CASE("task 4: each solver has its own rate", "[task4]") {
    TestRod a(500, 1), b(500, 2);
    const TestStream stream;
    HeatSolver first(a.rod(), 0.1f, 4), second(b.rod(), 0.1f, 4);
    second.set_rate(0.4f, stream);
    first.advance(8, stream);
    second.advance(8, stream);
    check_heat(a.download(), a.start, {{0, 0.4f}, {8, 0.1f}}, 4);
    check_heat(b.download(), b.start, {{0, 0.1f}, {8, 0.4f}}, 4);
}

TEST_CASE("task 4: steps that the stream already contains keep their rate", "[task4]") {
    TestRod test(500);
    const TestStream stream;
    HeatSolver solver(test.rod(), 0.1f, 4);
    solver.advance(9, stream);
    solver.set_rate(0.4f, stream);  // without a wait in between
    solver.advance(9, stream);
    check_heat(test.download(), test.start, {{9, 0.1f}, {9, 0.4f}}, 4);
}

TEST_CASE("task 4: each failed call is an exception", "[task4]") {
    TestRod test(500);
    HeatSolver solver(test.rod(), 0.1f, 4);
    check_failing_graph_calls("set_rate()", [&] { solver.set_rate(0.4f, nullptr); });
}
