// SPDX-License-Identifier: MIT
// Lesson 36: all devices have work before the host waits, and few bytes travel between them.
#include "cases/timeline.h"
#include "checks.h"
#include "watches/nccl_calls.h"

namespace {

using wb::Timeline;
using Kind = wb::Timeline::Kind;

// Sizes of the efficiency cases: large enough for a clear difference, and small where waits are
// counted.
constexpr int kNumbers = 1 << 21, kFewNumbers = 1 << 14;
constexpr Shape kLarge{1 << 18, 2, 1}, kSmall{1 << 10, 8, 1};

// Checks how often the ranks were combined, and with how many numbers.
void check_calls(const char* name, const HostCommunicator& communicator, size_t times, int n) {
    const std::vector<int>& sizes = communicator.sizes;
    INFO(times << " calls of " << name << "() combine the ranks " << sizes.size() << " times, want "
               << times << ": one all-reduce in each");
    const bool one_all_reduce_in_each = sizes.size() == times;
    CHECK(one_all_reduce_in_each);
    for (const int size : sizes) {
        INFO("an all-reduce of " << size << " numbers, want one of " << n);
        const bool all_numbers_at_once = size == n;
        REQUIRE(all_numbers_at_once);
    }
}

void check_never_waits(const char* name, const Timeline& timeline) {
    const auto waits = wb::measured("timeline_waits", timeline.of(Timeline::Kind::kWait).size());
    INFO("in " << name << "() the host waits " << waits << " times, want never");
    CHECK(waits == 0);
}

// The bytes that copies bring to each rank's device, from the timeline.
void check_received(const Timeline& timeline, int count, int n) {
    std::vector<uint64_t> received(count);
    for (const Timeline::Interval& one : timeline.all())
        if (one.kind != Timeline::Kind::kKernel && one.kind != Timeline::Kind::kWait &&
            one.kind != Timeline::Kind::kFill && int(one.device) < count)
            received[one.device] += one.bytes;
    const uint64_t most = *std::max_element(received.begin(), received.end());
    const uint64_t allowed = uint64_t(2) * (count - 1) * (n / count + 1) * sizeof(double);
    INFO("a rank receives " << most << " bytes for an array of " << n * sizeof(double)
                            << ", want at most " << allowed << ": two slices of each other rank");
    const bool two_slices_of_each_other_rank = most <= allowed;
    CHECK(two_slices_of_each_other_rank);
}

void check_no_nccl_waits(const std::function<void()>& work) {
    wb::NcclWatch nccl;
    wb::CallWatch cuda;
    work();
    std::string waits;
    for (const wb::CudaCall& call : cuda.calls)
        if (call.name.find("Synchronize") != std::string::npos) waits = call.name;
    {
        INFO("all_reduce_sum() calls " << waits << ": later work in the stream waits anyway");
        const bool host_goes_on = waits.empty();
        CHECK(host_goes_on);
    }
    const size_t made = nccl.count("ncclCommInitAll") + nccl.count("ncclCommInitRank");
    {
        INFO("all_reduce_sum() makes communicators: they take long, and belong in the constructor");
        const bool made_once = made == 0;
        CHECK(made_once);
    }
    INFO("all_reduce_sum() calls no collective of NCCL");
    const bool collectives_were_called = !nccl.collectives().empty();
    CHECK(collectives_were_called);
}

// Checks that the kernels of the call run on all devices.
void check_devices(const Timeline& timeline, int count) {
    std::vector<unsigned> devices;
    for (const auto& kernel : timeline.of(Kind::kKernel)) devices.push_back(kernel.device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    INFO("kernels run on " << devices.size() << " devices, want all " << count);
    CHECK(wb::measured("timeline_devices", int(devices.size())) == count);
}

// A wait before all work is queued keeps the devices of later ranks idle. The answer's last copy
// brings the result to the host.
void check_waits(const char* name, const Timeline& timeline) {
    size_t waits = 0, between = 0;
    for (const Timeline::Interval& one : timeline.all()) {
        waits += one.kind == Kind::kWait;
        if (one.kind == Kind::kKernel || one.kind == Kind::kUp) between = waits;
    }
    INFO("in " << name << "() the host waits " << between
               << " times before all work of all ranks is queued, want never");
    CHECK(wb::measured("timeline_waits", between) == 0);
}

void check_scaling(const char* name, uint64_t one, uint64_t four) {
    INFO("by the model " << name << "() takes " << (four + 500) / 1000 << " us on four devices and "
                         << (one + 500) / 1000 << " us on one, want at most half of that");
    CHECK(2 * wb::measured("timeline_total", four) <= one);
}

std::optional<Timeline> timeline_of_sum(int count, int n, bool shown = true) {
    const Ranks ranks(count);
    const Doubles in = exact_doubles(n, 77);
    Pinned from(in);
    const OnRanks d_in(ranks, n / count + 1), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    double got = 0;
    auto timeline = Timeline::of(
        [&] { got = sum_of_squares(communicator, from.get(), n, d_in.get(), d_sum.get()); }, shown);
    ranks.wait();
    check_one_sum(in, count, got, "the returned sum");
    return timeline;
}

std::optional<Timeline> timeline_of_step(int count, Shape shape, bool shown = true) {
    Training training(count, shape);
    auto timeline = Timeline::of([&] { training.make_step(0.05); }, shown);
    training.ranks.wait();
    return timeline;
}

}  // namespace

TEST_CASE("efficient: a sum is queued on all devices before the host waits", "[efficient][task2]") {
    const auto timeline = timeline_of_sum(kMost, kFewNumbers);
    NEED_TIMELINE(timeline);
    check_devices(*timeline, kMost);
    check_waits("sum_of_squares", *timeline);
}

TEST_CASE("efficient: four devices sum in at most half of the time of one", "[efficient][task2]") {
    const auto one = timeline_of_sum(1, kNumbers, false);
    const auto four = timeline_of_sum(kMost, kNumbers);
    NEED_TIMELINE(four);
    check_scaling("sum_of_squares", one->total(), four->total());
}

TEST_CASE("efficient: one all-reduce combines the sums", "[efficient][task2]") {
    const Ranks ranks(kMost);
    Pinned from(exact_doubles(1000, 1));
    const OnRanks d_in(ranks, 251), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    sum_of_squares(communicator, from.get(), 1000, d_in.get(), d_sum.get());
    check_calls("sum_of_squares", communicator, 1, 1);
}

TEST_CASE("efficient: the start is queued without a wait", "[efficient][task3]") {
    const Data data(kSmall);
    const Ranks ranks(kMost);
    Pinned x(data.x), y(data.y);
    Shards shards(ranks, kSmall);
    const HostCommunicator communicator(ranks, 1);
    const auto timeline =
        Timeline::of([&] { start(communicator, x.get(), y.get(), kSmall, 1, shards.get()); });
    ranks.wait();
    NEED_TIMELINE(timeline);
    check_never_waits("start", *timeline);
}

TEST_CASE("efficient: a step is queued on all devices, and the host never waits",
          "[efficient][task4]") {
    const auto timeline = timeline_of_step(kMost, kSmall);
    NEED_TIMELINE(timeline);
    check_devices(*timeline, kMost);
    check_never_waits("step", *timeline);
}

TEST_CASE("efficient: one all-reduce in each step", "[efficient][task4]") {
    Training training(kMost, {100, 6, 3});
    for (int k = 0; k < 3; ++k) training.make_step(0.1);
    check_calls("step", training.communicator, 3, 18);
}

TEST_CASE("efficient: four devices make a step in at most half of the time of one",
          "[efficient][task4]") {
    const auto one = timeline_of_step(1, kLarge, false);
    const auto four = timeline_of_step(kMost, kLarge);
    NEED_TIMELINE(four);
    check_scaling("step", one->total(), four->total());
}

TEST_CASE("efficient: no rank receives more than two arrays by the local all-reduce",
          "[efficient][task6]") {
    const int n = 1 << 16;
    const Ranks ranks(kMost);
    const OnRanks d_data(ranks, n);
    LocalCommunicator communicator(ranks.get(), kMost, n);
    const auto timeline = Timeline::of([&] { communicator.all_reduce_sum(d_data.get(), n); });
    ranks.wait();
    NEED_TIMELINE(timeline);
    check_received(*timeline, kMost, n);
    check_never_waits("all_reduce_sum", *timeline);
}

TEST_CASE("efficient: the host does not wait for NCCL, and makes no communicators",
          "[efficient][task7]") {
    const Ranks ranks(most_ranks(Back::kNccl));
    const OnRanks d_data(ranks, 1000);
    NcclCommunicator communicator(ranks.get(), ranks.count());
    check_no_nccl_waits([&] {
        for (int k = 0; k < 3; ++k) communicator.all_reduce_sum(d_data.get(), 1000);
    });
    ranks.wait();
}
