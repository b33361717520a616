// SPDX-License-Identifier: MIT
// Lesson 34: steps by plain launches; and work that is recorded once and replayed, with every error
// of a capture reported.
#include "checks.h"

#include <memory>
#include <stdexcept>

namespace {

void check_steps(int n, int steps, float rate = kRate) {
    CAPTURE(n, steps, rate);
    TestRod test(n, 100 + n);
    const TestStream stream;
    heat_steps(test.rod(), rate, steps, stream);
    check_heat(test.download(), test.start, {{steps, rate}});
}

bool all_nan(const Floats& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

// Fails if a replay has not made both copies.
void check_copied(const Copies& copies, const Floats& want) {
    const Floats got = copies.c.download();
    {
        INFO("the replay did nothing: the recorded copies were not made");
        const bool something_was_done = !all_nan(got);
        REQUIRE(something_was_done);
    }
    CHECK_ARRAYS(got, want);
}

// Fails if a capture is still open, or if no new recording can be made.
void check_no_capture_open() {
    cudaGetLastError();  // clears the error of the refused call
    {
        const bool refused = cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported;
        cudaGetLastError();
        INFO("a capture is still open, so that other calls are refused: it must be ended even if "
             "a call fails");
        REQUIRE(!refused);
    }
    Copies copies(40);
    const TestStream stream;
    const wb::Ending ending = wb::ending_of([&] {
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
        recording.replay(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    INFO("afterwards no new recording can be made");
    const bool still_works = !ending.cuda_error && ending.other.empty();
    CHECK(still_works);
}

// Fails unless as many were destroyed as made. `failing`: the call that was made to fail, or "".
void check_given_back(const wb::CallWatch& watch, const std::string& failing) {
    const auto made_by = [&](std::initializer_list<const char*> names) {
        size_t made = 0;
        for (const char* name : names) made += watch.count(name) - (name == failing);
        return made;
    };
    const auto check = [&](const char* what, size_t made, size_t destroyed) {
        INFO((failing.empty() ? "" : "when " + failing + " fails: ")
             << made << " " << what << " made, " << destroyed << " destroyed");
        const bool as_many_destroyed = made == destroyed;
        CHECK(as_many_destroyed);
    };
    check("streams",
          made_by({"cudaStreamCreate", "cudaStreamCreateWithFlags"}),
          watch.count("cudaStreamDestroy"));
    check("graphs",
          made_by({"cudaStreamBeginCapture", "cudaGraphCreate", "cudaGraphClone"}),
          watch.count("cudaGraphDestroy"));
    check("instances of a graph",
          made_by({"cudaGraphInstantiate",
                   "cudaGraphInstantiateWithFlags",
                   "cudaGraphInstantiateWithParams"}),
          watch.count("cudaGraphExecDestroy"));
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
    size_t launched = 0;
    std::unique_ptr<const Recording> recording;
    {
        wb::CallWatch watch;
        recording = std::make_unique<const Recording>(
            [&](cudaStream_t stream) { copies.put_into(stream); });
        launched = watch.count("cudaGraphLaunch");
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    {
        INFO("Recording() launches the graph, so that the work runs once before any replay");
        const bool launched_by_replays_alone = launched == 0;
        REQUIRE(launched_by_replays_alone);
    }
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
    // The work ignores the error of the call, so only the end of the capture reports it.
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

TEST_CASE("task 2: an exception of the work is passed on, and no capture remains open", "[task2]") {
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
    check_given_back(watch, "");
}

TEST_CASE("task 2: a recording that fails leaves nothing behind", "[task2]") {
    Copies copies(300);
    const auto record = [&] {
        const Recording recording([&](cudaStream_t s) { copies.put_into(s); });
    };
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        record();
        calls = watch.calls;
    }
    for (size_t k = 0; k < calls.size(); ++k) {
        const std::string& failing = calls[k].name;
        if (failing.find("Destroy") != std::string::npos) continue;
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        if (wb::throws_cuda_error(record)) check_given_back(watch, failing);
    }
}
