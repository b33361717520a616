// SPDX-License-Identifier: MIT
// Lesson 32, a pipeline's time, and chunks of pinned memory.
#include "checks.h"

namespace {

struct Steps {
    double up, kernel, down;
    int chunks;
};

void check_times(const std::vector<Steps>& all, const std::vector<double>& want) {
    std::vector<double> got;
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [up, kernel, down, chunks] = all[i];
        got.push_back(pipeline_time(up, kernel, down, chunks));
        INFO("pipeline_time(" << up << ", " << kernel << ", " << down << ", " << chunks << "): got "
                              << got.back() << ", want " << want[i]);
        const bool right = std::fabs(got.back() - want[i]) <= 1e-12 * want[i];
        CHECK(right);
    }
    using Of = double (*)(double sum, double slowest, double chunks);
    const auto each = [&](const char* words, Of of) {
        return wb::Mistake<double>{
            words, [&, of] {
                std::vector<double> out;
                for (const auto& [up, kernel, down, chunks] : all)
                    out.push_back(of(up + kernel + down, std::max({up, kernel, down}), chunks));
                return out;
            }};
    };
    wb::recognize<double>(
        got,
        want,
        {each("the time of all steps one after the other: no two run at the same time",
              [](double sum, double, double) { return sum; }),
         each("only the time of the first chunk: the others come after it",
              [](double sum, double, double chunks) { return sum / chunks; }),
         each("only the time of the slowest step: the first chunk also takes the other steps",
              [](double, double slowest, double) { return slowest; }),
         each("one chunk too many: the sum of the steps already counts the first chunk",
              [](double sum, double slowest, double chunks) { return sum / chunks + slowest; }),
         each("the given times are for all chunks together: a step of one chunk takes a part of "
              "that",
              [](double sum, double slowest, double chunks) {
                  return sum + (chunks - 1) * slowest;
              })},
        [](size_t) { return 1e-9; });
}

void check_chunks(int n, int chunk, int stream_count, unsigned flags = cudaStreamNonBlocking) {
    CAPTURE(n, chunk, stream_count);
    const Floats in = wb::random_floats(size_t(n), 300 + n);
    Pinned from(in), to(n);
    wb::DeviceBuffer<float> d_data(n);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Streams streams(stream_count, flags);
    wb::CallWatch watch;
    watch.not_ready_at_first = true;
    check_returned(Timeline::of([&] {
        linearize_chunks(from.get(), to.get(), d_data.get(), n, chunk, streams.get(), stream_count);
    }));
    check_values(in, to.values(), chunk);
    wb::check_unchanged(from.values(), in);
}

}  // namespace

TEST_CASE("task 1: the time of one chunk is the sum of its steps", "[task1]") {
    check_times({{3, 2, 4, 1}, {0, 0, 0, 1}, {1, 0.5, 0.25, 1}}, {9, 0, 1.75});
}

TEST_CASE("task 1: the slowest step sets the pace of all further chunks", "[task1]") {
    // Computed by hand: four chunks with steps of 1; the last chunk starts after three units.
    check_times(
        {{4, 4, 4, 4}, {8, 4, 2, 2}, {2, 8, 4, 2}, {2, 4, 8, 2}, {1, 1, 1, 8}, {0, 0, 5, 16}},
        {6, 11, 11, 11, 1.25, 5});
}

TEST_CASE("task 2: chunks of equal size", "[task2]") {
    check_chunks(1024, 256, 2);
    check_chunks(4096, 512, 3);
    check_chunks(1000, 250, 1);
}

TEST_CASE("task 2: a last chunk that is shorter", "[task2]") {
    check_chunks(1000, 256, 2);
    check_chunks(1025, 256, 3);
    check_chunks(1023, 256, 4);
    check_chunks(777, 100, 1);
    check_chunks(7, 2, 3);
}

TEST_CASE("task 2: one chunk", "[task2]") {
    check_chunks(1, 1, 1);
    check_chunks(1000, 1000, 3);
    check_chunks(1000, 4096, 2);
    check_chunks(33, 1 << 28, 2);
}

TEST_CASE("task 2: more streams than chunks", "[task2]") {
    check_chunks(1000, 400, 8);
    check_chunks(3, 1, 16);
    check_chunks(5, 10, 9);
}

TEST_CASE("task 2: streams that wait for the default stream", "[task2]") {
    check_chunks(1000, 256, 3, cudaStreamDefault);
}

TEST_CASE("task 2: queues nothing for no samples", "[task2]") {
    const Streams streams(2);
    const auto timeline =
        Timeline::of([&] { linearize_chunks(nullptr, nullptr, nullptr, 0, 5, streams.get(), 2); });
    CHECK(cudaGetLastError() == cudaSuccess);
    check_nothing_queued(timeline);
    check_chunks(2, 1, 2);  // after the refused launch the device still works
}

TEST_CASE("task 2: a call that fails is an exception", "[task2]") {
    Pinned from(wb::random_floats(100, 7)), to(100);
    wb::DeviceBuffer<float> d_data(100);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Streams streams(2);
    const auto work = [&] {
        CUDA_CHECK(cudaDeviceSynchronize());  // work of the call before may still be running
        linearize_chunks(from.get(), to.get(), d_data.get(), 100, 40, streams.get(), 2);
    };
    wb::check_refused_launch("linearize_chunks", work);
    CUDA_CHECK(cudaDeviceSynchronize());
    wb::check_failing_calls("linearize_chunks", work);
    CUDA_CHECK(cudaDeviceSynchronize());
}
