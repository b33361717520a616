// SPDX-License-Identifier: MIT
// Lesson 06, the times: the median, one measurement by events, and the median of several, each in
// the stream that was given.
#include "checks.h"

#include <algorithm>
#include <limits>
#include <map>

namespace {

std::string listed(const std::vector<double>& times) {
    if (times.size() > 10) return std::to_string(times.size()) + " times";
    std::ostringstream text;
    for (size_t i = 0; i < times.size(); ++i) text << (i ? ", " : "") << times[i];
    return text.str();
}

void check_median(const std::vector<double>& times, double want) {
    const double got = median(times);
    INFO("median of " << listed(times) << ": got " << got
                      << (is_close(got, want) ? "" : known(got, times)) << ", want " << want);
    CHECK(is_close(got, want));
}

// elapsed_ms of the work; an error of CUDA fails the test under its name, after what
// `explained` checks.
double measured(
    const Work& work, cudaStream_t stream, const std::function<void()>& explained = [] {}) {
    try {
        return elapsed_ms(work, stream);
    } catch (const wb::CudaError& error) {
        explained();
        INFO("elapsed_ms stopped with " << cudaGetErrorName(error.code) << ", "
                                        << cudaGetErrorString(error.code));
        const bool measured_without_error = false;
        CHECK(measured_without_error);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

// time_ms of work whose runs take the given times: the median of those after the warm-up.
void check_time_ms(FakeWork& fake, int warmup, int repeats, cudaStream_t stream, double want) {
    const double got = time_ms(fake.work(), warmup, repeats, stream);
    const auto& all = fake.ms;
    const auto from = all.begin() + std::min<size_t>(warmup, all.size());
    const std::vector<double> measured(from, from + std::min<size_t>(repeats, all.end() - from));
    std::string of = known(got, measured);
    const std::string also = warmup > 0 ? known(got, all) : "";
    if (of.empty() && !also.empty())
        of = ", which is of all runs, those to warm up too, " + also.substr(sizeof ", which is");
    else if (!also.empty() && is_close(got, middle_of(all)))
        of += ", or the median of all runs, those to warm up too";
    INFO("runs of " << listed(all) << " ms, " << warmup << " of them to warm up and " << repeats
                    << " measured: " << fake.runs << (fake.runs == 1 ? " run was" : " runs were")
                    << " made, got " << got << " ms" << (is_close(got, want) ? "" : of) << ", want "
                    << want);
    const bool median_of_what_was_measured = is_close(got, want);
    CHECK(median_of_what_was_measured);
    const bool as_many_runs_as_asked = fake.runs == warmup + repeats;
    CHECK(as_many_runs_as_asked);
}

}  // namespace

TEST_CASE("task 1: the middle of an odd number of times", "[task1]") {
    check_median({5}, 5);
    // Neither the first, nor the last, nor the middle one of the list is the median.
    check_median({9, 3, 1, 2, 8}, 3);
    check_median({0.5, 0.75, 9, 0.25, 100}, 0.75);
    const double just_above_1 = 1 + 0x1p-40;  // as a float it is 1
    const double got = median({3, just_above_1, 0, 2, 0});
    INFO("median of 3, 1 + 2^-40, 0, 2, 0: got 1 + " << got - 1
                                                     << ", want 1 + 2^-40, which is no float");
    CHECK(got == just_above_1);
}

TEST_CASE("task 1: the mean of the middle two of an even number", "[task1]") {
    check_median({8, 1, 4, 2}, 3);
    check_median({16, 8, 1, 5, 2, 90}, 6.5);
    check_median({1, 2}, 1.5);
}

TEST_CASE("task 1: an outlier counts no more than any other time", "[task1]") {
    check_median({1.25, 1.5, 900, 1.75, 1}, 1.5);
    auto random = wb::random_floats(1001, 1, 1.0f, 2.0f);
    std::vector<double> times(random.begin(), random.end());
    times[3] = 1e6;
    auto sorted = times;
    std::sort(sorted.begin(), sorted.end());
    check_median(times, sorted[500]);
}

TEST_CASE("task 2: measures what the work takes on the device", "[task2]") {
    for (const double ms : {7.25, 0.015625, 1234.5}) {
        FakeWork fake{{}, {ms}, 0, {}};
        fake.clock.now_ms = 100;  // the stream has been used before
        wb::CallWatch watch;
        watch.clock = &fake.clock;
        const double got = measured(fake.work(), nullptr);
        const bool by_events =
            watch.count("cudaEventRecord") + watch.count("cudaEventElapsedTime") > 0;
        check_close(
            got,
            ms,
            "work that takes " + listed({ms}) + " ms" +
                (by_events ? "" : ", without recording an event, so not by the device's clock"));
        INFO("elapsed_ms ran the work " << fake.runs << " times, want once");
        CHECK(fake.runs == 1);
    }
}

TEST_CASE("task 2: events and work are in the stream that was given", "[task2]") {
    Stream own;
    FakeWork fake{{}, {2.5}, 0, {}};
    wb::CallWatch watch;
    watch.clock = &fake.clock;
    const double got = measured(fake.work(), own.stream, [&] { check_streams(watch, own.stream); });
    check_close(got, 2.5, "work that takes 2.5 ms in its stream");
    INFO("the work must be started once, in the stream that elapsed_ms was given");
    const bool in_its_stream = fake.streams == std::vector<cudaStream_t>{own.stream};
    CHECK(in_its_stream);
    check_streams(watch, own.stream);
}

TEST_CASE("task 2: works with the device's own clock", "[task2]") {
    wb::DeviceBuffer<int> d_data(1 << 20);
    const double ms = elapsed_ms(
        [&](cudaStream_t stream) {
            CUDA_CHECK(cudaMemsetAsync(d_data.get(), 0, d_data.size() * sizeof(int), stream));
        },
        nullptr);
    INFO("a memset of 4 MiB took " << ms << " ms");
    CHECK(ms > 0);
    CHECK(ms < 10000);
}

TEST_CASE("task 2: a failing call is an exception, and no event is lost", "[task2]") {
    std::vector<wb::CudaCall> calls;
    const Work nothing = [](cudaStream_t) {};
    {
        wb::CallWatch watch;
        elapsed_ms(nothing, nullptr);
        calls = watch.calls;
        INFO("events made: " << watch.count("cudaEventCreate") << ", and it takes two to measure");
        CHECK(watch.count("cudaEventCreate") + watch.count("cudaEventCreateWithFlags") >= 2);
    }
    std::map<std::string, size_t> seen;
    for (size_t k = 0; k < calls.size(); ++k) {
        const size_t nth = seen[calls[k].name]++;
        if (calls[k].name == "cudaEventDestroy") continue;  // destructors cannot report
        // An answer that polls the event makes a different number of queries in each run.
        if (nth > 0 && calls[k].name.find("Query") != std::string::npos) continue;
        wb::CallWatch watch;
        watch.fail_name = calls[k].name;
        watch.fail_nth = nth;
        watch.error = cudaErrorUnknown;
        bool thrown = false;
        try {
            elapsed_ms(nothing, nullptr);
        } catch (const wb::CudaError&) {
            thrown = true;
        }
        const size_t asked =
            watch.count("cudaEventCreate") + watch.count("cudaEventCreateWithFlags");
        const bool creates = calls[k].name.find("EventCreate") != std::string::npos;
        {
            INFO("the first call made " << (nth + 1) << " events or more, a later one " << asked
                                        << ": events were kept from call to call");
            const bool made_anew_in_each_call = !creates || asked > 0;
            REQUIRE(made_anew_in_each_call);
        }
        const size_t made = asked - creates;
        INFO("when " << calls[k].name << " fails (call " << k + 1 << " of " << calls.size() << "), "
                     << (thrown ? "an exception" : "nothing") << " is thrown; events made: " << made
                     << ", destroyed: " << watch.count("cudaEventDestroy"));
        CHECK(thrown);
        const bool all_destroyed = watch.count("cudaEventDestroy") == made;
        CHECK(all_destroyed);
    }
}

TEST_CASE("task 3: a slow first run is not in the result", "[task3]") {
    // The median is neither the first, the last nor the middle one in order, nor the mean.
    FakeWork fake{{}, {900, 6, 5, 8, 3, 4}, 0, {}};
    wb::CallWatch watch;
    watch.clock = &fake.clock;
    check_time_ms(fake, 1, 5, nullptr, 5);
}

TEST_CASE("task 3: the median of single measurements", "[task3]") {
    FakeWork fake{{}, {50, 60, 3, 5, 700, 4, 6}, 0, {}};  // the second of five is the median
    wb::CallWatch watch;
    watch.clock = &fake.clock;
    check_time_ms(fake, 2, 5, nullptr, 5);
}

TEST_CASE("task 3: no warm-up, and a single run", "[task3]") {
    for (const int warmup : {0, 3}) {
        FakeWork fake{{}, {2, 8, 32, 128}, 0, {}};
        wb::CallWatch watch;
        watch.clock = &fake.clock;
        check_time_ms(fake, warmup, 1, nullptr, warmup ? 128 : 2);
    }
}

TEST_CASE("task 3: all runs are in the stream that was given", "[task3]") {
    Stream own;
    FakeWork fake{{}, {1, 9, 4, 2, 3, 5}, 0, {}};
    wb::CallWatch watch;
    watch.clock = &fake.clock;
    check_time_ms(fake, 1, 5, own.stream, 4);
    INFO("every run must be in the stream that time_ms was given, the warm-up too");
    const bool in_its_stream = fake.streams == std::vector<cudaStream_t>(6, own.stream);
    CHECK(in_its_stream);
    check_streams(watch, own.stream);
}
