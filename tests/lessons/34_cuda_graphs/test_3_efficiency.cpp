// SPDX-License-Identifier: MIT
// Lesson 34: the cost of steps on the host, in launches, captures, instances and waits. Times come
// from the emulator's model (TIMELINE.md).
#include "checks.h"
#include "watches/host_calls.h"

TEST_CASE("efficient: each plain step is one launch, without a wait", "[efficient][task1]") {
    TestRod test(1000);
    const TestStream stream;
    const auto calls = wb::host_calls([&] { heat_steps(test.rod(), kRate, 1000, stream); });
    CHECK(calls.host_launches == 1000);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: 1000 steps, 50 for each launch", "[efficient][task1][task2][task3]") {
    TestRod test(1000);
    const TestStream stream;
    HeatSolver solver(test.rod(), kRate, 50);
    const auto calls = wb::host_calls([&] { solver.advance(1000, stream); });
    CHECK(calls.host_launches <= 20);
    CHECK(calls.graph_instantiations == 0);
    CHECK(calls.stream_captures == 0);
    CHECK(calls.host_waits == 0);
    if (!wb::on_emulator()) return;           // a card has no model
    CHECK(calls.model_microseconds <= 1300);  // 1000 launches need 3300
}

TEST_CASE("efficient: 1019 steps: 20 replays, and 19 launches",
          "[efficient][task1][task2][task3]") {
    TestRod test(1000);
    const TestStream stream;
    HeatSolver solver(test.rod(), kRate, 50);
    const auto calls = wb::host_calls([&] { solver.advance(1019, stream); });
    CHECK(calls.host_launches <= 39);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: one recording and one instance for all calls and rates",
          "[efficient][task1][task2][task3][task4]") {
    TestRod test(1000);
    const TestStream stream;
    const auto calls = wb::host_calls([&] {
        HeatSolver solver(test.rod(), kRate, 10);
        for (const float rate : {0.1f, 0.2f, 0.3f, 0.4f}) {
            solver.advance(25, stream);
            solver.set_rate(rate, stream);
        }
        solver.advance(25, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    CHECK(calls.graph_instantiations == 1);
    CHECK(calls.stream_captures <= 1);
}

TEST_CASE("efficient: a recording is made without a wait", "[efficient][task2]") {
    Copies copies(300);
    const auto calls = wb::host_calls(
        [&] { const Recording recording([&](cudaStream_t s) { copies.put_into(s); }); });
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: nothing is allocated and nothing waits while it is recorded",
          "[efficient][task1][task2]") {
    TestRod test(1000);
    wb::CallWatch watch;
    const Recording recording(
        [&](cudaStream_t stream) { heat_steps(test.rod(), kRate, 10, stream); });
    std::string found;
    bool capturing = false;
    for (const wb::CudaCall& call : watch.calls) {
        if (call.name == "cudaStreamEndCapture") capturing = false;
        if (capturing && found.empty() &&
            (wb::waits_for_device(call.name) || call.name.find("lloc") != std::string::npos))
            found = call.name;
        if (call.name.find("BeginCapture") != std::string::npos) capturing = true;
    }
    INFO("between the begin and the end of the capture, " << found << " is called");
    const bool neither_memory_nor_waits = found.empty();
    CHECK(neither_memory_nor_waits);
}

TEST_CASE("efficient: a new rate takes no wait, and no launch of a step",
          "[efficient][task1][task2][task3][task4]") {
    TestRod test(1000);
    const TestStream stream;
    HeatSolver solver(test.rod(), kRate, 50);
    solver.advance(50, stream);
    const auto calls = wb::host_calls([&] { solver.set_rate(0.1f, stream); });
    CHECK(calls.host_launches <= 1);
    CHECK(calls.host_waits == 0);
    CHECK(calls.stream_captures == 0);
}
