// SPDX-License-Identifier: MIT
// Lesson 32: chunks in several streams give the results of one piece, in less than half of its time
// by the model timeline.
//
// Tolerance: none. The host computes the same operations in the same order, each rounded once.
// Buffers start as NaN; those of a stage have exactly the size of a chunk.
#include "call_checks.h"
#include "lesson_test.h"
#include "reference_32_streams_overlap.h"
#include "streams_overlap.h"
#include "timeline.h"

namespace {

using wb::Timeline;
using Kind = wb::Timeline::Kind;

// Whether all work was done when the call returned. Where it was not, the device is waited for, so
// that `out` can be read all the same.
void check_returned(const std::optional<Timeline>& timeline) {
    if (!timeline) return;
    const auto late = [&](const Timeline::Interval& one) {
        return one.kind != Kind::kWait && one.end > timeline->returned();
    };
    const auto& all = timeline->all();
    const auto unfinished = std::count_if(all.begin(), all.end(), late);
    const auto last = std::find_if(all.rbegin(), all.rend(), late);
    const unsigned line = last == all.rend() ? 0 : last->line;
    INFO("the function returned before all its work was done: `out` was not complete. The last of "
         << unfinished << " copies and kernels that were still under way was queued on line "
         << line);
    CHECK(unfinished == 0);
    if (unfinished) CUDA_CHECK(cudaDeviceSynchronize());
}

void check_nothing_queued(const std::optional<Timeline>& timeline) {
    if (!timeline) return;
    INFO(timeline->all().size() << " copies, kernels and waits for no samples, want none");
    const bool nothing_queued = timeline->all().empty();
    CHECK(nothing_queued);
}

void check_values(const Floats& in, const Floats& got, int chunk) {
    const Floats want = linear(in);
    CHECK_ARRAYS(got, want);
    const size_t n = in.size(), size = size_t(chunk);
    wb::recognize<float>(
        got,
        want,
        {{"the samples come back as they were: they pass the device without the kernel",
          [&] { return in; }},
         {"each sample was made linear twice", [&] { return linear(want); }},
         {"every chunk begins at the same place: the chunk's first element is missing from an "
          "address",
          [&] {
              Floats values(n);
              for (size_t i = 0; i < n; ++i) values[i] = want[i % size];
              return values;
          }},
         {"of each chunk only the first quarter came back: a number of samples, where a copy takes "
          "bytes?",
          [&] {
              Floats values = unwritten(n);
              for (size_t first = 0; first < n; first += size)
                  std::memcpy(&values[first], &want[first], std::min(size, n - first));
              return values;
          }},
         {"the last chunk, which is shorter, is missing", [&] {
              Floats values = want;
              const Floats missing = unwritten(n % size);
              std::copy(missing.begin(), missing.end(), values.end() - n % size);
              return values;
          }}});
}

void check_chunks(int n, int chunk, int stream_count, unsigned flags = cudaStreamNonBlocking) {
    CAPTURE(n, chunk, stream_count);
    const Floats in = wb::random_floats(size_t(n), 300 + n);
    Pinned from(in), to(n);
    wb::DeviceBuffer<float> d_data(n);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Streams streams(stream_count, flags);
    check_returned(Timeline::of([&] {
        linearize_chunks(from.get(), to.get(), d_data.get(), n, chunk, streams.get(), stream_count);
    }));
    check_values(in, to.values(), chunk);
    wb::check_unchanged(from.values(), in);
}

void check_staged(const Stages& stages, int n, int chunk) {
    const int count = stages.count();
    CAPTURE(n, chunk, count);
    const Floats in = wb::random_floats(size_t(n), 500 + n);
    Floats out = unwritten(size_t(n));
    check_returned(Timeline::of(
        [&] { linearize_staged(in.data(), out.data(), n, chunk, stages.get(), count); }));
    check_values(in, out, chunk);
}

void check_staged(int n, int chunk, int count) {
    check_staged(Stages(count, chunk), n, chunk);
}

// What the efficiency cases look at: eight chunks of 1 MiB.
constexpr int kChunk = 1 << 18, kChunks = 8, kAll = kChunk * kChunks, kStreams = 4;

// A part of the values, so that nothing is gained by doing nothing.
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

// The same data in one piece, and by the answer.
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

// Of the time of the shorter of the two kinds, the share in which the other is under way too.
double overlapping(const Timeline& timeline, Kind one, Kind other) {
    return share(timeline.overlap(one, other), std::min(timeline.busy(one), timeline.busy(other)));
}

void check_overlap(const Timeline& timeline) {
    const uint64_t up = timeline.bytes(Kind::kUp), down = timeline.bytes(Kind::kDown);
    const size_t kernels = timeline.of(Kind::kKernel).size();
    {
        INFO(up << " bytes are uploaded and " << down << " downloaded, want " << 4 * kAll
                << " each: every sample once");
        const bool every_sample_once = up == uint64_t(4) * kAll && down == uint64_t(4) * kAll;
        CHECK(every_sample_once);
    }
    {
        INFO("kernels launched: " << kernels << ", want one for each of the " << kChunks
                                  << " chunks");
        const bool timeline_has_all_chunks = kernels >= kChunks;
        CHECK(timeline_has_all_chunks);
    }
    std::pair<double, const char*> pairs[] = {
        {overlapping(timeline, Kind::kUp, Kind::kKernel), "uploads and kernels"},
        {overlapping(timeline, Kind::kUp, Kind::kDown), "uploads and downloads"},
        {overlapping(timeline, Kind::kKernel, Kind::kDown), "kernels and downloads"}};
    const auto [least, names] = *std::min_element(std::begin(pairs), std::end(pairs));
    INFO(names << " run at the same time for " << int(100 * least)
               << " % of the time that they need, want at least 50 %");
    const bool timeline_overlaps = least >= 0.5;
    CHECK(timeline_overlaps);
}

void check_total(const Times& times) {
    const double ratio = share(times.answer->total(), times.serial->total());
    const auto microseconds = [](uint64_t time) { return (time + 500) / 1000; };
    INFO("by the model this takes " << microseconds(times.answer->total()) << " us, and "
                                    << microseconds(times.serial->total())
                                    << " us in one piece: want at most half of that");
    const bool timeline_at_most_half = ratio <= 0.5;
    CHECK(timeline_at_most_half);
}

// Another stream of the program has a long kernel: nothing of it is waited for.
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
                                        << other_ends / 1000 << " us: it was waited for");
    const bool timeline_leaves_others_alone = timeline->returned() < other_ends;
    CHECK(timeline_leaves_others_alone);
}

}  // namespace

TEST_CASE("task 1: the time of one chunk is the sum of its steps", "[task1]") {
    CHECK_RESULT(pipeline_time(3, 2, 4, 1), 9);
    CHECK_RESULT(pipeline_time(0, 0, 0, 1), 0);
    CHECK_RESULT(pipeline_time(1, 0.5, 0.25, 1), 1.75);
}

TEST_CASE("task 1: the slowest step sets the pace of all further chunks", "[task1]") {
    // By hand: steps of 1 for each of four chunks, and a last one that starts after three.
    CHECK_RESULT(pipeline_time(4, 4, 4, 4), 6);
    CHECK_RESULT(pipeline_time(8, 4, 2, 2), 11);
    CHECK_RESULT(pipeline_time(2, 8, 4, 2), 11);
    CHECK_RESULT(pipeline_time(2, 4, 8, 2), 11);
    CHECK_RESULT(pipeline_time(1, 1, 1, 8), 1.25);
    CHECK_RESULT(pipeline_time(0, 0, 5, 16), 5);
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
    check_chunks(2, 1, 2);  // and afterwards the device is as usable as before
}

TEST_CASE("task 2: a call that fails is an exception", "[task2]") {
    Pinned from(wb::random_floats(100, 7)), to(100);
    wb::DeviceBuffer<float> d_data(100);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Streams streams(2);
    const auto work = [&] {
        CUDA_CHECK(cudaDeviceSynchronize());  // what the call before has left under way
        linearize_chunks(from.get(), to.get(), d_data.get(), 100, 40, streams.get(), 2);
    };
    wb::check_refused_launch("linearize_chunks", work);
    CUDA_CHECK(cudaDeviceSynchronize());
    wb::check_failing_calls("linearize_chunks", work);
    CUDA_CHECK(cudaDeviceSynchronize());
}

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
        for (size_t t = 0; t < s; ++t) {
            CHECK(stage.stream != stages[t].stream);
            CHECK(stage.in != stages[t].in);
            CHECK(stage.out != stages[t].out);
            CHECK(stage.d_data != stages[t].d_data);
            CHECK(stage.done != stages[t].done);
        }
        CHECK(stage.in != stage.out);
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
            CUDA_CHECK(cudaMemcpy(stage.d_data, stage.in, bytes, cudaMemcpyHostToDevice));
            CUDA_CHECK(cudaMemcpy(stage.out, stage.d_data, bytes, cudaMemcpyDeviceToHost));
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
    // What was made before the failing call is lost: nobody has its address. So it fails first.
    wb::CallWatch watch;
    watch.fail_call = 0;
    watch.error = cudaErrorUnknown;
    Stage stage{};
    const bool thrown = wb::throws_cuda_error([&] { make_stages(&stage, 1, 10); });
    INFO("the first CUDA call failed, and make_stages() returned as if it had not");
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
        CUDA_CHECK(cudaDeviceSynchronize());  // what the call before has left under way
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
    INFO("memory is allocated or registered " << made
                                              << " times, want never: stages are made once");
    const bool nothing_allocated = made == 0;
    CHECK(nothing_allocated);
    check_values(in, out, 100);
}

TEST_CASE("efficient: copies run in both directions, and kernels besides", "[efficient][task2]") {
    const Times times = times_of_chunks();
    NEED_TIMELINE(times.answer);
    check_overlap(*times.answer);
}

TEST_CASE("efficient: the host waits only once all chunks are queued", "[efficient][task2]") {
    const Times times = times_of_chunks();
    NEED_TIMELINE(times.answer);
    const size_t timeline_waits = times.answer->waits_between();
    INFO("after " << timeline_waits << " waits of the host more work is queued, want none");
    CHECK(timeline_waits == 0);
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
    const size_t timeline_waits = times.answer->waits_that_leave_it_idle();
    INFO("after " << timeline_waits << " waits of the host the device has nothing left to do, and "
                  << "only then is more work queued, want none");
    CHECK(timeline_waits == 0);
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
