// SPDX-License-Identifier: MIT
// Lesson 32, efficiency by the model timeline: which work overlaps, and a time of less than half of
// that of one piece.
#include "checks.h"

namespace {

// The input of the efficiency tests: eight chunks of 1 MiB.
constexpr int kChunk = 1 << 18, kChunks = 8, kAll = kChunk * kChunks, kStreams = 4;

// Checks a part of the values, so that doing nothing does not pass.
void check_some(const Floats& in, const float* out) {
    Floats got, want;
    for (size_t i = 0; i < in.size(); i += 997) {
        got.push_back(out[i]);
        want.push_back(linear(in[i]));
    }
    CHECK_ARRAYS(got, want);
}

struct Times {
    std::optional<Timeline> serial, answer;
};

// The times of the same data in one piece, and with the answer.
Times times_of(const std::function<void(const Floats&, float*)>& answer, bool with_serial) {
    const Floats in = wb::random_floats(kAll, 71);
    Times times;
    Pinned to(kAll);
    if (with_serial) {
        Pinned from(in);
        wb::DeviceBuffer<float> d_data(kAll);
        CUDA_CHECK(cudaDeviceSynchronize());
        const Streams one(1);
        times.serial = Timeline::of(
            [&] { linearize_serial(from.get(), to.get(), d_data.get(), kAll, one.get()[0]); },
            false);
    }
    std::memset(to.get(), 0xFF, kAll * sizeof(float));
    times.answer = Timeline::of([&] { answer(in, to.get()); });
    CUDA_CHECK(cudaDeviceSynchronize());
    check_some(in, to.get());
    return times;
}

Times times_of_chunks(bool with_serial = false, int stream_count = kStreams) {
    Pinned from(kAll);
    wb::DeviceBuffer<float> d_data(kAll);
    const Streams streams(stream_count, cudaStreamDefault);
    return times_of(
        [&](const Floats& in, float* out) {
            std::copy(in.begin(), in.end(), from.get());
            linearize_chunks(
                from.get(), out, d_data.get(), kAll, kChunk, streams.get(), stream_count);
        },
        with_serial);
}

Times times_of_staged(bool with_serial = false) {
    const Stages stages(kStreams, kChunk);
    Floats result(kAll);
    return times_of(
        [&](const Floats& in, float* out) {
            linearize_staged(in.data(), result.data(), kAll, kChunk, stages.get(), stages.count());
            std::copy(result.begin(), result.end(), out);
        },
        with_serial);
}

double share(uint64_t part, uint64_t whole) {
    return whole ? double(part) / double(whole) : 0.0;
}

// The share of the shorter kind's time during which the other kind runs, too.
double overlapping(const Timeline& timeline, Kind one, Kind other) {
    return share(timeline.overlap(one, other), std::min(timeline.busy(one), timeline.busy(other)));
}

void check_overlap(const Timeline& timeline) {
    const uint64_t up = timeline.bytes(Kind::kUp), down = timeline.bytes(Kind::kDown);
    const auto kernels = wb::measured("timeline_kernels", timeline.of(Kind::kKernel).size());
    {
        INFO(up << " bytes are uploaded and " << down << " downloaded, want " << 4 * kAll
                << " each: every sample once");
        const bool every_sample_once = up == uint64_t(4) * kAll && down == uint64_t(4) * kAll;
        CHECK(every_sample_once);
    }
    {
        INFO("kernels launched: " << kernels << ", want one for each of the " << kChunks
                                  << " chunks");
        CHECK(kernels >= kChunks);
    }
    std::pair<double, const char*> pairs[] = {
        {overlapping(timeline, Kind::kUp, Kind::kKernel), "uploads and kernels"},
        {overlapping(timeline, Kind::kUp, Kind::kDown), "uploads and downloads"},
        {overlapping(timeline, Kind::kKernel, Kind::kDown), "kernels and downloads"}};
    const auto [least, names] = *std::min_element(std::begin(pairs), std::end(pairs));
    INFO(names << " run at the same time for " << int(100 * least)
               << " % of the time that they need, want at least 50 %");
    CHECK(wb::measured("timeline_overlap", least) >= 0.5);
}

void check_total(const Times& times) {
    const double ratio = share(times.answer->total(), times.serial->total());
    const auto microseconds = [](uint64_t time) { return (time + 500) / 1000; };
    INFO("by the model this takes " << microseconds(times.answer->total()) << " us, and "
                                    << microseconds(times.serial->total())
                                    << " us in one piece: want at most half of that");
    CHECK(wb::measured("timeline_ratio", ratio) <= 0.5);
}

// Another stream of the program has a long kernel, for which the function must not wait.
void check_other_streams(const std::function<void()>& answer) {
    const int long_time = 1 << 20;
    wb::DeviceBuffer<float> d_other(long_time);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Streams other(1);
    const auto timeline = Timeline::of([&] {
        launch_linearize(d_other.get(), long_time, other.get()[0]);
        answer();
    });
    CUDA_CHECK(cudaDeviceSynchronize());
    NEED_TIMELINE(timeline);
    const uint64_t other_ends = timeline->all().front().end;
    INFO("the function returned after " << timeline->returned() / 1000
                                        << " us, with a kernel of another stream that ends after "
                                        << other_ends / 1000 << " us: the function waited for it");
    CHECK(wb::measured("timeline_returned", timeline->returned()) < other_ends);
}

}  // namespace

TEST_CASE("efficient: copies run in both directions, and kernels besides", "[efficient][task2]") {
    const Times times = times_of_chunks();
    NEED_TIMELINE(times.answer);
    check_overlap(*times.answer);
}

TEST_CASE("efficient: the host waits only once all chunks are queued", "[efficient][task2]") {
    const Times times = times_of_chunks();
    NEED_TIMELINE(times.answer);
    const auto waits = wb::measured("timeline_waits", times.answer->waits_between());
    INFO("the host queues more work after " << waits << " waits, want none");
    CHECK(waits == 0);
}

TEST_CASE("efficient: eight chunks take at most half of the time of one piece",
          "[efficient][task2]") {
    const Times times = times_of_chunks(true);
    NEED_TIMELINE(times.answer);
    check_total(times);
}

TEST_CASE("efficient: chunks leave other streams alone", "[efficient][task2]") {
    const Floats in = wb::random_floats(1000, 5);
    Pinned from(in), to(1000);
    wb::DeviceBuffer<float> d_data(1000);
    const Streams streams(2);
    check_other_streams(
        [&] { linearize_chunks(from.get(), to.get(), d_data.get(), 1000, 300, streams.get(), 2); });
}

TEST_CASE("efficient: staged copies run in both directions, and kernels besides",
          "[efficient][task4]") {
    const Times times = times_of_staged();
    NEED_TIMELINE(times.answer);
    check_overlap(*times.answer);
}

TEST_CASE("efficient: the host waits for a stage that it needs, and for no more",
          "[efficient][task4]") {
    const Times times = times_of_staged();
    NEED_TIMELINE(times.answer);
    const auto waits = wb::measured("timeline_waits", times.answer->waits_that_leave_it_idle());
    INFO("after " << waits << " waits of the host the device was idle, and "
                  << "only then was more work queued, want none");
    CHECK(waits == 0);
}

TEST_CASE("efficient: eight staged chunks take at most half of the time of one piece",
          "[efficient][task4]") {
    const Times times = times_of_staged(true);
    NEED_TIMELINE(times.answer);
    check_total(times);
}

TEST_CASE("efficient: staged chunks leave other streams alone", "[efficient][task4]") {
    const Floats in = wb::random_floats(1000, 5);
    Floats out(1000);
    const Stages stages(3, 300);
    check_other_streams(
        [&] { linearize_staged(in.data(), out.data(), 1000, 300, stages.get(), stages.count()); });
}

TEST_CASE("efficient: your own stages are as fast", "[efficient][task3][task4]") {
    std::vector<Stage> stages(kStreams, Stage{});
    make_stages(stages.data(), kStreams, kChunk);
    Floats result(kAll);
    const Times times = times_of(
        [&](const Floats& in, float* out) {
            linearize_staged(in.data(), result.data(), kAll, kChunk, stages.data(), kStreams);
            std::copy(result.begin(), result.end(), out);
        },
        true);
    free_stages(stages.data(), kStreams);
    NEED_TIMELINE(times.answer);
    check_overlap(*times.answer);
    check_total(times);
}
