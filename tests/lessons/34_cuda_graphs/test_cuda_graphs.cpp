// SPDX-License-Identifier: MIT
// Lesson 34: many small steps by few launches, recorded once; what changes afterwards reaches the
// graph, and no error of a capture is lost.
//
// Tolerance: see tolerance_of. Launches, captures and waits are counted from the calls to the
// runtime, which works on a card too; times are those of the emulator's model (TIMELINE.md).
#include "call_checks.h"
#include "cuda_graphs.h"
#include "host_calls.h"
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>
#include <stdexcept>

namespace {

constexpr int kSizes[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 5000};
constexpr float kRate = 0.25f;

void check_steps(int n, int steps, float rate = kRate) {
    CAPTURE(n, steps, rate);
    TestRod test(n, 100 + n);
    const TestStream stream;
    heat_steps(test.rod(), rate, steps, stream);
    check_heat(test.download(), test.start, {{steps, rate}});
}

// Each call is one leg, with its own rate if `change` is set.
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

// Work without a kernel: copies the first array to the second, and this one to the third.
struct Copies {
    explicit Copies(size_t n) : a(wb::random_floats(n, 7)), b(n), c(n) {
        CUDA_CHECK(cudaDeviceSynchronize());  // the fills above, for streams that do not wait
    }
    void put_into(cudaStream_t stream) {
        ++calls;
        const size_t bytes = a.size() * sizeof(float);
        CUDA_CHECK(cudaMemcpyAsync(b.get(), a.get(), bytes, cudaMemcpyDeviceToDevice, stream));
        CUDA_CHECK(cudaMemcpyAsync(c.get(), b.get(), bytes, cudaMemcpyDeviceToDevice, stream));
    }
    // Both copies hold NaN again, whoever made them.
    void clear() {
        for (auto* copy : {&b, &c})
            CUDA_CHECK(cudaMemset(copy->get(), 0xFF, copy->size() * sizeof(float)));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    wb::DeviceBuffer<float> a, b, c;
    int calls = 0;
};

bool all_nan(const Floats& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

// Fails where a replay has not made both copies.
void check_copied(const Copies& copies, const Floats& want) {
    const Floats got = copies.c.download();
    {
        INFO("the replay did nothing: the recorded copies were not made");
        const bool something_was_done = !all_nan(got);
        REQUIRE(something_was_done);
    }
    CHECK_ARRAYS(got, want);
}

// Fails where a capture is still open, or where nothing can be recorded any more.
void check_no_capture_open() {
    cudaGetLastError();  // left by the call that was refused
    {
        const bool refused = cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported;
        cudaGetLastError();
        INFO("a capture is still open, so that other calls are refused: it must be ended even if "
             "something fails");
        REQUIRE(!refused);
    }
    Copies copies(40);
    const TestStream stream;
    const wb::Ending ending = wb::ending_of([&] {
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
        recording.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    INFO("afterwards nothing can be recorded any more");
    const bool still_works = !ending.cuda_error && ending.other.empty();
    CHECK(still_works);
}

// Each call of `work` that is about captures, graphs or launches fails once.
void check_failing_graph_calls(const char* name, const std::function<void()>& work) {
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        work();
        calls = watch.calls;
    }
    const auto has = [](const wb::CudaCall& call, const char* part) {
        return call.name.find(part) != std::string::npos;
    };
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const wb::CudaCall& call = calls[k];
        if (has(call, "Destroy") ||
            !(has(call, "Graph") || has(call, "Begin") || has(call, "EndCapture") ||
              has(call, "Launch") || has(call, "Mem") || has(call, "StreamCreate")))
            continue;
        ++failed;
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        if (!wb::throws_cuda_error(work)) dropped = call.name;
    }
    {
        INFO(name << " makes no call that could fail: where is the work done?");
        const bool calls_were_made = failed > 0;
        CHECK(calls_were_made);
    }
    INFO("when " << dropped << " fails, " << name << " goes on as if it had not");
    const bool every_call_is_checked = dropped.empty();
    CHECK(every_call_is_checked);
}

// The first call that names another stream than `stream` or one that captures, or "".
std::string elsewhere(const wb::CallWatch& watch, cudaStream_t stream) {
    std::vector<cudaStream_t> own{stream};
    for (const wb::CudaCall& call : watch.calls) {
        if (call.name.find("BeginCapture") != std::string::npos) own.push_back(call.stream);
        const bool launch = call.name.find("LaunchKernel") != std::string::npos;
        if (!launch && call.name != "cudaGraphLaunch" &&
            call.name.find("Async") == std::string::npos)
            continue;
        if (std::find(own.begin(), own.end(), call.stream) == own.end())
            return launch ? "<<<>>>" : call.name;
    }
    return "";
}

void check_stream(const char* name, const std::function<void(cudaStream_t)>& work) {
    const TestStream stream;
    wb::CallWatch watch;
    work(stream);
    const std::string other = elsewhere(watch, stream);
    {
        INFO(name << " launches nothing");
        const bool something_was_launched = watch.launches() > 0;
        CHECK(something_was_launched);
    }
    INFO(name << " uses " << other << " with another stream than the one it was given");
    const bool all_in_the_stream = other.empty();
    CHECK(all_in_the_stream);
}

}  // namespace

TEST_CASE("task 1: makes steps", "[task1]") {
    for (const int n : kSizes)
        for (const int steps : {0, 2, 4, 10}) check_steps(n, steps);
}

TEST_CASE("task 1: the result is in d_heat after an odd number of steps", "[task1]") {
    for (const int n : kSizes)
        for (const int steps : {1, 3, 7}) check_steps(n, steps, 0.4f);
}

TEST_CASE("task 1: makes 1000 steps", "[task1]") {
    check_steps(300, 1000);
    check_steps(300, 1001, 0.5f);
}

TEST_CASE("task 1: continues where it ended", "[task1]") {
    TestRod test(500);
    const TestStream stream;
    for (const int steps : {3, 4, 1, 0, 2}) heat_steps(test.rod(), kRate, steps, stream);
    check_heat(test.download(), test.start, {{10, kRate}});
}

TEST_CASE("task 1: all work is in the stream that it is given", "[task1]") {
    TestRod test(500);
    check_stream("heat_steps()",
                 [&](cudaStream_t stream) { heat_steps(test.rod(), kRate, 3, stream); });
}

TEST_CASE("task 1: a failed call is an exception", "[task1]") {
    TestRod test(500);
    wb::check_refused_launch("heat_steps", [&] { heat_steps(test.rod(), kRate, 3, nullptr); });
    wb::check_failing_calls("heat_steps", [&] { heat_steps(test.rod(), kRate, 3, nullptr); });
}

TEST_CASE("task 2: the work is called once, and does not run while it is recorded", "[task2]") {
    Copies copies(300);
    const Recording recording([&](cudaStream_t stream) { copies.put_into(stream); });
    CUDA_CHECK(cudaDeviceSynchronize());
    {
        INFO("the work was called " << copies.calls << " times, want once");
        const bool called_once = copies.calls == 1;
        CHECK(called_once);
    }
    INFO("the copies ran while they were recorded: work is recorded only in the stream that "
         "captures");
    const bool nothing_ran = all_nan(copies.b.download()) && all_nan(copies.c.download());
    CHECK(nothing_ran);
}

TEST_CASE("task 2: a replay does the recorded work, in its order", "[task2]") {
    for (const size_t n : {1, 33, 1000}) {
        CAPTURE(n);
        Copies copies(n);
        const TestStream stream;
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
        copies.clear();
        recording.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        check_copied(copies, copies.a.download());
    }
}

TEST_CASE("task 2: each replay does the work anew", "[task2]") {
    Copies copies(300);
    const TestStream stream;
    const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
    for (const int seed : {1, 2, 3}) {
        const Floats values = wb::random_floats(300, seed);
        copies.a.upload(values);
        copies.clear();
        recording.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        check_copied(copies, values);
    }
    CHECK_RESULT(copies.calls, 1);
}

TEST_CASE("task 2: work that forks to a second stream and joins is recorded whole", "[task2]") {
    Copies copies(300);
    const TestStream second, stream;
    cudaEvent_t fork, join;
    CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    {
        const Recording recording([&](cudaStream_t first) {
            CUDA_CHECK(cudaEventRecord(fork, first));
            CUDA_CHECK(cudaStreamWaitEvent(second, fork, 0));
            copies.put_into(second);
            CUDA_CHECK(cudaEventRecord(join, second));
            CUDA_CHECK(cudaStreamWaitEvent(first, join, 0));
        });
        copies.clear();
        recording.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    check_copied(copies, copies.a.download());
}

TEST_CASE("task 2: work that cannot be captured is an exception", "[task2]") {
    Copies copies(300);
    // The work ignores what the call returns: only the end of the capture can tell.
    const wb::Ending ending = wb::ending_of([&] {
        const Recording recording([&](cudaStream_t stream) {
            copies.put_into(stream);
            static_cast<void>(cudaStreamSynchronize(stream));
        });
    });
    {
        INFO("the work waits for its stream, which no graph can hold, and Recording() "
             << (ending.other.empty()
                     ? "returned as if it had been recorded"
                     : "threw `" + ending.other + "`, which is not the promised wb::CudaError"));
        const bool thrown = ending.cuda_error;
        CHECK(thrown);
    }
    check_no_capture_open();
}

TEST_CASE("task 2: what the work throws is passed on, and no capture remains open", "[task2]") {
    Copies copies(300);
    std::string thrown = "nothing";
    try {
        const Recording recording([&](cudaStream_t stream) {
            copies.put_into(stream);
            throw std::runtime_error("the work's own");
        });
    } catch (const std::exception& error) {
        thrown = error.what();
    }
    {
        INFO("thrown: " << thrown << ", want: the work's own");
        const bool passed_on = thrown == "the work's own";
        CHECK(passed_on);
    }
    check_no_capture_open();
}

TEST_CASE("task 2: each failed call is an exception", "[task2]") {
    Copies copies(300);
    const TestStream stream;
    check_failing_graph_calls("Recording()", [&] {
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
        recording.replay(stream);
    });
    check_no_capture_open();
}

TEST_CASE("task 2: streams and graphs are given back", "[task2]") {
    Copies copies(300);
    wb::CallWatch watch;
    {
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
        recording.replay(nullptr);
    }
    const auto check = [&](const char* what, size_t made, size_t destroyed) {
        INFO(made << " " << what << " made, " << destroyed << " destroyed");
        const bool as_many_destroyed = made == destroyed;
        CHECK(as_many_destroyed);
    };
    check("streams",
          watch.count("cudaStreamCreate") + watch.count("cudaStreamCreateWithFlags"),
          watch.count("cudaStreamDestroy"));
    check("graphs",
          watch.count("cudaStreamBeginCapture") + watch.count("cudaGraphCreate"),
          watch.count("cudaGraphDestroy"));
    check("instances of a graph",
          watch.count("cudaGraphInstantiate") + watch.count("cudaGraphInstantiateWithFlags") +
              watch.count("cudaGraphInstantiateWithParams"),
          watch.count("cudaGraphExecDestroy"));
}

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
    CUDA_CHECK(cudaDeviceSynchronize());  // the copy goes on, and the stream does not wait for it
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

TEST_CASE("efficient: one recording and one instance, whatever happens afterwards",
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
