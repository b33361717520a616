// SPDX-License-Identifier: MIT
// Lesson 32, stages, and chunks that pass through them.
#include "checks.h"

namespace {

void check_staged(const Stages& stages, int n, int chunk) {
    const int count = stages.count();
    CAPTURE(n, chunk, count);
    const Floats in = wb::random_floats(size_t(n), 500 + n);
    Floats out = unwritten(size_t(n));
    wb::CallWatch watch;
    watch.not_ready_at_first = true;
    check_returned(Timeline::of(
        [&] { linearize_staged(in.data(), out.data(), n, chunk, stages.get(), count); }));
    check_values(in, out, chunk, count);
}

void check_staged(int n, int chunk, int count) {
    check_staged(Stages(count, chunk), n, chunk);
}

}  // namespace

TEST_CASE("task 3: every stage has its own stream, buffers and event", "[task3]") {
    std::vector<Stage> stages(3, Stage{});
    make_stages(stages.data(), 3, 1000);
    for (size_t s = 0; s < stages.size(); ++s) {
        const Stage& stage = stages[s];
        CAPTURE(s);
        REQUIRE(stage.stream != nullptr);
        REQUIRE(stage.in != nullptr);
        REQUIRE(stage.out != nullptr);
        REQUIRE(stage.d_data != nullptr);
        REQUIRE(stage.done != nullptr);
        std::string shared = stage.in == stage.out ? "`in` and `out` are one buffer" : "";
        for (size_t t = 0; t < s && shared.empty(); ++t) {
            const Stage& other = stages[t];
            const char* member = stage.stream == other.stream   ? "stream"
                                 : stage.in == other.in         ? "in"
                                 : stage.out == other.out       ? "out"
                                 : stage.d_data == other.d_data ? "d_data"
                                 : stage.done == other.done     ? "done"
                                                                : nullptr;
            if (member)
                shared = "stages " + std::to_string(t) + " and " + std::to_string(s) +
                         " have the same `" + member + "`";
        }
        INFO(shared << ": several chunks are under way at the same time, and each needs its own");
        const bool each_has_its_own = shared.empty();
        CHECK(each_has_its_own);
    }
    free_stages(stages.data(), 3);
}

TEST_CASE("task 3: the buffers have room for a chunk, and the host's are pinned", "[task3]") {
    const int chunk = 100000;
    std::vector<Stage> stages(2, Stage{});
    make_stages(stages.data(), 2, chunk);
    for (const Stage& stage : stages) {
        REQUIRE(stage.in != nullptr);
        REQUIRE(stage.out != nullptr);
        REQUIRE(stage.d_data != nullptr);
        const auto type = [](const float* memory) {
            cudaPointerAttributes attributes{};
            const bool known = cudaPointerGetAttributes(&attributes, memory) == cudaSuccess;
            cudaGetLastError();
            return known ? attributes.type : cudaMemoryTypeUnregistered;
        };
        const bool in_is_pinned = type(stage.in) == cudaMemoryTypeHost;
        const bool out_is_pinned = type(stage.out) == cudaMemoryTypeHost;
        const bool d_data_is_device_memory = type(stage.d_data) == cudaMemoryTypeDevice;
        {
            INFO("`" << (in_is_pinned ? "out" : "in") << "` of a stage is not pinned memory");
            const bool both_are_pinned = in_is_pinned && out_is_pinned;
            CHECK(both_are_pinned);
        }
        {
            INFO("`d_data` of a stage is not device memory");
            CHECK(d_data_is_device_memory);
        }
        if (in_is_pinned && out_is_pinned && d_data_is_device_memory) {
            const size_t bytes = chunk * sizeof(float);
            const bool copied =
                cudaMemcpy(stage.d_data, stage.in, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
                cudaMemcpy(stage.out, stage.d_data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
            cudaGetLastError();
            INFO("a buffer of a stage has no room for " << chunk << " floats");
            CHECK(copied);
        }
    }
    free_stages(stages.data(), 2);
}

TEST_CASE("task 3: the streams do not wait for the default stream", "[task3]") {
    Stage stage{};
    make_stages(&stage, 1, 10);
    REQUIRE(stage.stream != nullptr);
    unsigned flags = 0;
    CUDA_CHECK(cudaStreamGetFlags(stage.stream, &flags));
    const bool stream_is_non_blocking = flags == cudaStreamNonBlocking;
    INFO("the stream of a stage waits for the default stream");
    CHECK(stream_is_non_blocking);
    free_stages(&stage, 1);
}

TEST_CASE("task 3: a call that fails is an exception", "[task3]") {
    // The first call fails: if a later one failed, the earlier allocations could not be freed.
    wb::CallWatch watch;
    watch.fail_call = 0;
    watch.error = cudaErrorUnknown;
    Stage stage{};
    const bool thrown = wb::throws_cuda_error([&] { make_stages(&stage, 1, 10); });
    INFO("the first CUDA call failed, but make_stages() did not throw");
    CHECK(thrown);
}

TEST_CASE("task 4: chunks of equal size", "[task4]") {
    check_staged(1024, 256, 2);
    check_staged(4096, 512, 3);
    check_staged(1000, 250, 1);
}

TEST_CASE("task 4: a last chunk that is shorter", "[task4]") {
    check_staged(1000, 256, 2);
    check_staged(1025, 256, 3);
    check_staged(1023, 256, 4);
    check_staged(777, 100, 1);
    check_staged(7, 2, 3);
}

TEST_CASE("task 4: one chunk", "[task4]") {
    check_staged(1, 1, 1);
    check_staged(1000, 1000, 3);
    check_staged(1000, 4096, 2);
}

TEST_CASE("task 4: more stages than chunks", "[task4]") {
    check_staged(1000, 400, 8);
    check_staged(3, 1, 16);
    check_staged(5, 10, 9);
}

TEST_CASE("task 4: the same stages again", "[task4]") {
    const Stages stages(3, 100);
    for (const int n : {1000, 50, 0, 777, 100}) check_staged(stages, n, 100);
}

TEST_CASE("task 4: queues nothing for no samples", "[task4]") {
    const Stages stages(2, 5);
    const auto timeline = Timeline::of(
        [&] { linearize_staged(nullptr, nullptr, 0, 5, stages.get(), stages.count()); });
    CHECK(cudaGetLastError() == cudaSuccess);
    check_nothing_queued(timeline);
    check_staged(stages, 12, 5);
}

TEST_CASE("task 4: a call that fails is an exception", "[task4]") {
    const Floats in = wb::random_floats(100, 7);
    Floats out(100);
    const Stages stages(2, 40);
    const auto work = [&] {
        CUDA_CHECK(cudaDeviceSynchronize());  // work of the call before may still be running
        linearize_staged(in.data(), out.data(), 100, 40, stages.get(), stages.count());
    };
    wb::check_refused_launch("linearize_staged", work);
    CUDA_CHECK(cudaDeviceSynchronize());
    wb::check_failing_calls("linearize_staged", work);
    CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("task 4: allocates and registers nothing", "[task4]") {
    const Stages stages(2, 100);
    const Floats in = wb::random_floats(500, 9);
    Floats out = unwritten(500);
    wb::CallWatch watch;
    linearize_staged(in.data(), out.data(), 500, 100, stages.get(), stages.count());
    const size_t made = watch.allocated + watch.count("cudaHostRegister");
    {
        INFO("memory is allocated or registered " << made
                                                  << " times, want never: stages are made once");
        const bool nothing_allocated = made == 0;
        CHECK(nothing_allocated);
    }
    check_values(in, out, 100, 2);
}
