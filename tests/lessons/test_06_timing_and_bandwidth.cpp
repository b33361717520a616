// SPDX-License-Identifier: MIT
// Lesson 06: the method of a measurement, not the speed of a machine. Events take their time from a
// clock that the test moves, so every result is known in advance, on the emulator and on a card.
//
// Tolerance: events report a float, so times agree to 2^-23 of the largest; rates to 1e-6.
#include "cuda_calls.h"
#include "lesson_test.h"
#include "timing_and_bandwidth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace {

// A stream of its own, so that events in the wrong one are noticed.
struct Stream {
    Stream() { CUDA_CHECK(cudaStreamCreate(&stream)); }
    ~Stream() { cudaStreamDestroy(stream); }
    cudaStream_t stream = nullptr;
};

bool is_close(double got, double want, double relative = 0x1p-22) {
    return std::fabs(got - want) <= relative * std::fabs(want);
}

void check_close(double got, double want, const std::string& about, double relative = 0x1p-22) {
    const char* known = "";
    if (is_close(got * 1e3, want, relative)) known = ", which is in seconds";
    if (is_close(got, want * 1e3, relative)) known = ", which is in microseconds";
    if (is_close(got, -want, relative))
        known = ": the sign is wrong, as if it ended before it began";
    INFO(about << ": got " << got << known << ", want " << want);
    CHECK(is_close(got, want, relative));
}

std::string listed(const std::vector<double>& times) {
    if (times.size() > 10) return std::to_string(times.size()) + " times";
    std::ostringstream text;
    for (size_t i = 0; i < times.size(); ++i) text << (i ? ", " : "") << times[i];
    return text.str();
}

double middle_of(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const size_t half = times.size() / 2;
    return times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
}

// What a wrong median is instead, by all that it might be: ", which is the mean".
std::string known(double got, std::vector<double> times) {
    if (times.empty()) return "";
    const size_t half = times.size() / 2;
    const bool odd = times.size() % 2;
    const double unsorted = odd ? times[half] : (times[half ? half - 1 : 0] + times[half]) / 2;
    const double first = times.front(), last = times.back();
    double sum = 0;
    for (const double ms : times) sum += ms;
    std::sort(times.begin(), times.end());
    // Of the middle two each index is 1 too large.
    const double above = (times[half] + times[std::min(half + 1, times.size() - 1)]) / 2;
    const std::pair<double, const char*> others[] = {
        {middle_of(times), "the median"},
        {sum / double(times.size()), "the mean"},
        {unsorted, "the median of the list before it is sorted"},
        {times.front(), "the smallest"},
        {times.back(), "the largest"},
        {sum, "the sum"},
        {times[half], "the upper one of the middle two"},
        {times[half ? half - 1 : 0], "the one below the middle"},
        {above, "the mean of the one above the middle and its neighbour"},
        {first, "the first"},
        {last, "the last"}};
    std::string text;
    for (const auto& [value, words] : others)
        if (is_close(got, value))
            text += (text.empty() ? ", which is " : ", or ") + std::string(words);
    return text;
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

// Work whose runs take the given times on the device, in order.
struct FakeWork {
    wb::EventClock clock;
    std::vector<double> ms;
    int runs = 0;
    std::vector<cudaStream_t> streams;
    Work work() {
        return [this](cudaStream_t stream) {
            clock.now_ms += ms[std::min(size_t(runs), ms.size() - 1)];
            ++runs;
            streams.push_back(stream);
        };
    }
};

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

void check_moved_bytes(size_t elements, int read, int written, size_t bytes, size_t want) {
    const size_t got = moved_bytes(elements, read, written, bytes);
    const char* known = "";
    const size_t reads = elements * size_t(read) * bytes;
    const size_t writes = elements * size_t(written) * bytes;
    if (got != want && reads != writes && got == reads)
        known = ", as if only the arrays that are read counted";
    if (got != want && reads != writes && got == writes)
        known = ", as if only the arrays that are written counted";
    if (got != want && got == reads * size_t(written) && read > 1 && written > 1)
        known = ", as if reads and writes were multiplied";
    if (got != want && got == 8 * want) known = ", which is the number of bits";
    INFO(elements << " elements of " << bytes << " bytes; arrays read: " << read
                  << ", arrays written: " << written << ": got " << got << " bytes" << known
                  << ", want " << want);
    CHECK(got == want);
}

// What a wrong rate of `bytes` in `ms` comes from.
std::string known_rate(double got, size_t bytes, double ms, double want) {
    std::string of;
    for (const double off : {1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9})
        if (is_close(got, off * want, 1e-6))
            of = off < 1 ? ", too small by powers of 1000" : ", too large by powers of 1000";
    if (want != 1 && is_close(got, 1 / want, 1e-6)) of = ", which is the inverse";
    if (bytes % 1000000000 && is_close(got, double(bytes / 1000000000) / (ms / 1e3), 1e-6))
        of = ", as if only whole gigabytes counted";
    if (is_close(got, want * 1e9 / (1 << 30), 1e-6)) of = ", as if 2^30 bytes were a gigabyte";
    return of;
}

void check_rate(size_t bytes, double ms, double want) {
    const double got = gigabytes_per_second(bytes, ms);
    INFO(bytes << " bytes in " << ms << " ms: got " << got << " GB/s"
               << known_rate(got, bytes, ms, want) << ", want " << want);
    CHECK(is_close(got, want, 1e-6));
}

// The rate of a measurement: n doubles read and written in `ms`.
void check_rate_of(double got, size_t n, double ms, const std::string& when) {
    const double want = 16.0 * n / (ms * 1e6);
    std::string of = known_rate(got, 16 * n, ms, want);
    if (is_close(2 * got, want, 1e-6))
        of = ", half of it: each double has 8 bytes, and is read as well as written";
    INFO(n << (n == 1 ? " double" : " doubles") << " read and written in " << when << ": got "
           << got << " GB/s" << of << ", want " << want);
    CHECK(is_close(got, want, 1e-6));
}

size_t waits(const wb::CallWatch& watch) {
    return watch.count("cudaEventSynchronize") + watch.count("cudaStreamSynchronize") +
           watch.count("cudaDeviceSynchronize");
}

// Queries are no waits, but a loop of them is one way to wait.
size_t queries(const wb::CallWatch& watch) {
    return watch.count("cudaEventQuery") + watch.count("cudaStreamQuery");
}

void check_streams(const wb::CallWatch& watch, cudaStream_t stream) {
    for (const wb::CudaCall& call : watch.calls) {
        if (call.name != "cudaEventRecord" && call.name.find("Launch") == std::string::npos)
            continue;
        const bool launch = call.name.find("Launch") != std::string::npos;
        INFO((launch ? "the launch of the kernel" : call.name)
             << " was not given the stream of the work");
        CHECK(call.stream == stream);
    }
}

const char* shown(Verdict verdict) {
    switch (verdict) {
    case Verdict::kPlausible:
        return "plausible";
    case Verdict::kTooFast:
        return "too fast";
    default:
        return "not measured";
    }
}

void check_verdict(double ms, size_t bytes, double operations, Peak peak, Verdict want) {
    const Verdict got = judge(ms, bytes, operations, peak);
    const double moving = double(bytes) / peak.gigabytes_per_second / 1e6;
    const double computing = operations / peak.gigaflops / 1e6;
    struct Mistake {
        double least_ms, allowed;
        const char* words;
    };
    const Mistake mistakes[] = {
        {std::max(moving, computing), 1.0, "the 5 % were not allowed"},
        {moving + computing, 1.05, "moving and computing came one after the other"},
        {std::max(moving, computing) * 1.05, 1.0, "times up to 5 % longer were too short as well"}};
    std::string known;
    size_t possible = 0;
    for (const Mistake& m : mistakes) {
        // "Plausible" is also what an answer says that judges nothing.
        if (got != Verdict::kTooFast || want != Verdict::kPlausible) continue;
        if (ms * m.allowed >= m.least_ms) continue;
        known += (possible++ ? ", or " : ", as if ") + std::string(m.words);
    }
    INFO(bytes << " bytes and " << operations << " operations in " << ms << " ms at "
               << peak.gigabytes_per_second << " GB/s and " << peak.gigaflops << " Gflop/s: got "
               << shown(got) << known << ", want " << shown(want) << " (moving takes " << moving
               << " ms at best, computing " << computing << " ms)");
    const bool right_verdict = got == want;
    CHECK(right_verdict);
}

constexpr Peak kCard{484, 354};  // a card's data sheet: GB/s, and 10^9 double operations a second

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

TEST_CASE("task 4: counts what is read and what is written", "[task4]") {
    check_moved_bytes(1000, 2, 1, 4, 12000);  // c = a + b, float
    check_moved_bytes(1000, 3, 5, 8, 64000);  // three double arrays in, five out
    check_moved_bytes(1000, 1, 2, 8, 24000);  // one double array in, two out
    check_moved_bytes(1000, 1, 1, 8, 16000);  // data[i] += 1, double
    check_moved_bytes(1000, 0, 1, 4, 4000);   // c = 0
    check_moved_bytes(0, 2, 1, 4, 0);
}

TEST_CASE("task 4: stays exact past 2^32 bytes", "[task4]") {
    check_moved_bytes(100000000, 3, 2, 8, 4000000000);
    check_moved_bytes(1, 2, 1, size_t(1) << 33, size_t(3) << 33);
    check_moved_bytes(size_t(1) << 33, 2, 1, 8, size_t(24) << 33);
}

TEST_CASE("task 5: bytes and milliseconds make gigabytes in a second", "[task5]") {
    check_rate(1000000000, 1000, 1);
    check_rate(1600000000, 2.15, 744.186047);
    check_rate(24000000, 3.12, 7.69230769);
    check_rate(size_t(24) << 33, 64.0, 3221.225472);
}

TEST_CASE("task 6: a time that the memory allows is plausible", "[task6]") {
    check_verdict(3.4, 1600000000, 1e8, kCard, Verdict::kPlausible);
    check_verdict(100, 1600000000, 1e8, kCard, Verdict::kPlausible);
    check_verdict(3.15, 1600000000, 1e8, kCard, Verdict::kPlausible);  // 1.049 times the peak
    check_verdict(1e-3, 0, 0, kCard, Verdict::kPlausible);
}

TEST_CASE("task 6: faster than the memory is impossible", "[task6]") {
    check_verdict(2.15, 1600000000, 1e8, kCard, Verdict::kTooFast);   // 744 GB/s of 484
    check_verdict(3.145, 1600000000, 1e8, kCard, Verdict::kTooFast);  // 1.051 times the peak
    check_verdict(0.005, 1600000000, 1e8, kCard, Verdict::kTooFast);  // the launch alone
}

TEST_CASE("task 6: faster than the arithmetic is impossible", "[task6]") {
    check_verdict(18, 1000, 7.08e9, kCard, Verdict::kTooFast);
    check_verdict(19.03, 1000, 7.08e9, kCard, Verdict::kTooFast);    // 1.051 times the peak
    check_verdict(19.06, 1000, 7.08e9, kCard, Verdict::kPlausible);  // 1.049 times
    check_verdict(20.1, 1000, 7.08e9, kCard, Verdict::kPlausible);
    check_verdict(1, 484000000, 0.354e9, kCard, Verdict::kPlausible);  // both at their peak
}

TEST_CASE("task 6: a value that is not a time is not judged", "[task6]") {
    for (const double ms : {0.0,
                            -1.0,
                            std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()})
        check_verdict(ms, 1000000, 1000, kCard, Verdict::kNotMeasured);
}

TEST_CASE("task 7: the time of the kernel and its rate", "[task7]") {
    Stream own;
    const size_t n = 100003;
    wb::DeviceBuffer<double> d_data(std::vector<double>(n, 0.25));
    wb::EventClock clock;
    clock.launch_ms = {500, 300, 2.0, 2.5, 9.0, 2.25, 40.0};
    clock.copy_ms = 70;
    clock.allocation_ms = 1000;
    wb::CallWatch watch;
    watch.clock = &clock;
    const Measurement got = measure_increment(d_data.get(), n, 2, 5, own.stream);
    check_close(got.ms,
                2.5,
                "kernels of 500, 300, 2, 2.5, 9, 2.25 and 40 ms, the first 2 to warm up; copies "
                "take 70 ms, allocations 1000 ms");
    check_rate_of(got.gigabytes_per_second, n, 2.5, "2.5 ms");
    check_streams(watch, own.stream);
}

TEST_CASE("task 7: each run adds one, the warm-up too", "[task7]") {
    for (const int warmup : {0, 3}) {
        const size_t n = warmup ? 1001 : 1;
        const auto random = wb::random_ints(n, 5, -1000, 1000);
        const std::vector<double> before(random.begin(), random.end());
        wb::GuardedBuffer<double> d_data(before, wb::guard(1024));
        const Measurement got = measure_increment(d_data.get(), n, warmup, 4, nullptr);
        auto want = before;
        for (double& value : want) value += warmup + 4;
        CHECK_ARRAYS(d_data.download(), want);
        CHECK(d_data.intact());
        if (!(got.ms > 0)) {
            INFO("measure_increment of " << n << (n == 1 ? " double" : " doubles") << ": got "
                                         << got.ms << " ms, want more than 0");
            CHECK(got.ms > 0);
            continue;
        }
        check_rate_of(got.gigabytes_per_second, n, got.ms, "the time returned");
    }
}

TEST_CASE("efficient: a measurement waits once", "[efficient][task1][task2][task3]") {
    FakeWork fake{{}, {1}, 0, {}};
    wb::CallWatch watch;
    watch.clock = &fake.clock;
    time_ms(fake.work(), 3, 5, nullptr);
    INFO("3 runs to warm up and 5 measurements, " << waits(watch)
                                                  << " waits; one for each is enough");
    CHECK(waits(watch) + queries(watch) >= 1);
    CHECK(waits(watch) <= 3 + 5 + 1);
}

TEST_CASE("efficient: the host does not wait between the two events",
          "[efficient][task1][task2][task3][task4][task5][task7]") {
    wb::DeviceBuffer<double> d_data(std::vector<double>(100, 1.0));
    wb::CallWatch watch;
    measure_increment(d_data.get(), 100, 2, 5, nullptr);
    std::string order;  // R: an event is recorded, L: a launch, W: a wait
    for (const wb::CudaCall& call : watch.calls) {
        const auto has = [&](const char* part) {
            return call.name.find(part) != std::string::npos;
        };
        order += has("EventRecord")                   ? "R"
                 : has("Launch")                      ? "L"
                 : has("Synchronize") || has("Query") ? "W"
                                                      : "";
    }
    INFO(
        "between the events the host waits for the kernel: what it takes to wait is measured, too");
    const bool nothing_but_the_work_is_measured = order.find("RLW") == std::string::npos;
    CHECK(nothing_but_the_work_is_measured);
}

TEST_CASE("efficient: the runs move the data of the kernel and nothing else",
          "[efficient][task1][task2][task3][task4][task5][task7]") {
    const uint64_t n = 100003;
    wb::DeviceBuffer<double> d_data(std::vector<double>(n, 1.0));
    const auto counted = wb::count([&] { measure_increment(d_data.get(), n, 2, 5, nullptr); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 7);
    CHECK(counted->global_load_bytes == 7 * sizeof(double) * n);
    CHECK(counted->global_store_bytes == 7 * sizeof(double) * n);
    CHECK(counted->host_to_device_bytes == 0);
    CHECK(counted->device_to_host_bytes == 0);
    CHECK(counted->device_to_device_bytes == 0);
    CHECK(counted->device_allocations == 0);
}
