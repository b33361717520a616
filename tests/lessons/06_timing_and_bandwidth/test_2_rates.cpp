// SPDX-License-Identifier: MIT
// Lesson 06, the rates: bytes, gigabytes per second, what is possible, a kernel that is measured,
// and what a measurement costs.
#include "checks.h"

#include <algorithm>
#include <limits>

namespace {

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
