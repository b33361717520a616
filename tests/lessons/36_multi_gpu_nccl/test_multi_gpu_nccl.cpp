// SPDX-License-Identifier: MIT
// Lesson 36: several devices share the work, are all at work before the host waits, and agree on
// the result to the last bit.
//
// Tolerances: sums of squares are exact, since the numbers are multiples of 1/16. Weights: see
// check_weights. All-reduces: every order of adding G numbers is off by at most (G - 1) 2^-53 times
// the sum of their magnitudes.
#include "call_checks.h"
#include "checks.h"
#include "lesson_test.h"
#include "multi_gpu_nccl.h"
#include "nccl_calls.h"
#include "reference.h"
#include "timeline.h"

namespace {

using wb::Timeline;
using Kind = wb::Timeline::Kind;

constexpr int kMost = 4;  // ranks in these tests

void check_sum(int n, int count) {
    CAPTURE(n, count);
    const Ranks ranks(count);
    const Doubles in = exact_doubles(n, 300 + n);
    Pinned from(in);
    const OnRanks d_in(ranks, n / count + 1), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    ranks.make_last_current();
    const double got = sum_of_squares(communicator, from.get(), n, d_in.get(), d_sum.get());
    check_one_sum(in, count, got, "the returned sum");
    for (int r = 0; r < count; ++r)
        check_one_sum(in, count, d_sum.values(r)[0], "the sum of rank " + std::to_string(r));
    wb::check_unchanged(from.values(), in);
}

// A regression whose start has been made by the test.
struct Training {
    Training(int count, Shape shape, unsigned seed = 7)
        : data(shape, 40 + seed), ranks(count), x(data.x), y(data.y), shards(ranks, shape),
          communicator(ranks, int(shards.weights())), w(start_weights(shards.weights(), seed)) {
        Pinned first(w);
        int row = 0;
        for (int r = 0; r < count; ++r) {
            Shard& shard = shards.get()[r];
            shard.rows = shape.rows / count + (r < shape.rows % count);
            copy(shard.d_x, x.get() + size_t(row) * shape.features, shard.rows * shape.features);
            copy(shard.d_y, y.get() + size_t(row) * shape.outputs, shard.rows * shape.outputs);
            copy(shard.d_w, first.get(), int(w.size()));
            row += shard.rows;
        }
    }
    static void copy(double* d_to, const double* from, int n) {
        CUDA_CHECK(cudaMemcpy(d_to, from, n * sizeof(double), cudaMemcpyHostToDevice));
    }
    void make_step(double rate) {
        ranks.make_last_current();
        step(communicator, data.shape, shards.get(), rate);
    }

    Data data;
    Ranks ranks;
    Pinned x, y;
    Shards shards;
    HostCommunicator communicator;
    Doubles w;  // of the start
};

void check_training(int count, Shape shape, int steps, double rate = 0.05) {
    CAPTURE(count, shape.rows, shape.features, shape.outputs);
    Training training(count, shape);
    Doubles want = training.w;
    for (int k = 1; k <= steps; ++k) {
        training.make_step(rate);
        std::vector<Doubles> got;
        for (int r = 0; r < count; ++r) got.push_back(training.shards.w(r));
        const Doubles before = want;
        move(want, training.data.gradient(want, 0, shape.rows), rate / shape.rows);
        if (!check_weights(training.data, count, rate, k, before, want, got)) return;
    }
}

void check_start(int count, Shape shape, unsigned seed) {
    CAPTURE(count, shape.rows, shape.features, shape.outputs, seed);
    const Data data(shape, 60 + seed);
    const Ranks ranks(count);
    Pinned x(data.x), y(data.y);
    Shards shards(ranks, shape);
    const HostCommunicator communicator(ranks, 1);
    ranks.make_last_current();
    start(communicator, x.get(), y.get(), shape, seed, shards.get());
    int first = 0;
    for (int r = 0; r < count; ++r) {
        CAPTURE(r);
        const int rows = shards[r].rows, fewest = shape.rows / count;
        {
            INFO("rank " << r << " has " << rows << " rows of " << shape.rows << ", want " << fewest
                         << (shape.rows % count ? " or one more" : ""));
            const bool fair_share = rows == fewest || (shape.rows % count && rows == fewest + 1);
            REQUIRE(fair_share);
        }
        check_rows("x", data.x, shards.x(r), first, rows, shape.features);
        check_rows("y", data.y, shards.y(r), first, rows, shape.outputs);
        first += rows;
    }
    {
        INFO("all ranks together have " << first << " rows, want " << shape.rows);
        const bool every_row_once = first == shape.rows;
        CHECK(every_row_once);
    }
    for (int r = 0; r < count; ++r) {
        CAPTURE(r);
        const Doubles got = shards.w(r), want = start_weights(shards.weights(), seed);
        CHECK_ARRAYS(got, want);
        wb::recognize<double>(got,
                              want,
                              {{"the start weights are those of another seed: the rank is part of "
                                "it, and each rank trains another model",
                                [&] { return start_weights(want.size(), seed + r); }}});
    }
}

// A call with a communicator of each kind; those of NCCL need a device for each rank.
enum class Back { kLocal, kNccl };

std::unique_ptr<Communicator> make(Back back, const Ranks& ranks, int max_n) {
    if (back == Back::kLocal)
        return std::make_unique<LocalCommunicator>(ranks.get(), ranks.count(), max_n);
    return std::make_unique<NcclCommunicator>(ranks.get(), ranks.count());
}

int most_ranks(Back back) {
    return back == Back::kLocal ? kMost : std::min(kMost, device_count());
}

// The data comes by earlier work in the streams, and later work takes it away again: what has no
// order with the all-reduce is a race.
void check_all_reduce(Back back, int n, int count, int times = 1) {
    CAPTURE(n, count);
    const Ranks ranks(count);
    const OnRanks d_data(ranks, n);
    const auto communicator = make(back, ranks, n);
    std::vector<std::unique_ptr<Pinned>> in, out;
    for (int time = 0; time < times; ++time) {
        in.clear(), out.clear();
        const size_t bytes = n * sizeof(double);
        for (int r = 0; r < count; ++r) {
            in.push_back(std::make_unique<Pinned>(random_doubles(n, 1000 * time + 10 * n + r)));
            out.push_back(std::make_unique<Pinned>(n));
            CUDA_CHECK(cudaMemcpyAsync(
                d_data[r], in[r]->get(), bytes, cudaMemcpyHostToDevice, ranks[r].stream));
        }
        ranks.make_last_current();
        communicator->all_reduce_sum(d_data.get(), n);
        for (int r = 0; r < count; ++r) {
            CUDA_CHECK(cudaSetDevice(ranks[r].device));
            CUDA_CHECK(cudaMemcpyAsync(
                out[r]->get(), d_data[r], bytes, cudaMemcpyDeviceToHost, ranks[r].stream));
            CUDA_CHECK(cudaMemsetAsync(d_data[r], 0, bytes, ranks[r].stream));
        }
        ranks.wait();
        std::vector<Doubles> had, got;
        for (int r = 0; r < count; ++r) {
            had.push_back(in[r]->values());
            got.push_back(out[r]->values());
        }
        check_reduced(had, got);
    }
}

void check_streams_of(const char* name, const Ranks& ranks, const std::function<void()>& work) {
    wb::CallWatch watch;
    work();
    std::string other;
    for (const wb::CudaCall& call : watch.calls) {
        const bool launch = call.name.find("Launch") != std::string::npos;
        if (!launch && call.name.find("Async") == std::string::npos) continue;
        bool own = false;
        for (int r = 0; r < ranks.count(); ++r) own = own || call.stream == ranks[r].stream;
        if (!own && other.empty()) other = launch ? "<<<>>>" : call.name;
    }
    {
        INFO(name << "() launches nothing");
        const bool something_was_launched = watch.launches() > 0;
        CHECK(something_was_launched);
    }
    INFO(name << "() uses " << other << " with another stream than those of the ranks");
    const bool all_in_the_streams = other.empty();
    CHECK(all_in_the_streams);
}

// All kernels of the call, and the devices that they run on.
void check_devices(const Timeline& timeline, int count) {
    std::vector<unsigned> devices;
    for (const auto& kernel : timeline.of(Kind::kKernel)) devices.push_back(kernel.device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    INFO("kernels run on " << devices.size() << " devices, want all " << count);
    const bool timeline_has_all_devices = int(devices.size()) == count;
    CHECK(timeline_has_all_devices);
}

// What is waited for before all work is queued keeps the devices of later ranks idle. The answer's
// last copy brings the result to the host.
void check_waits(const char* name, const Timeline& timeline) {
    size_t waits = 0, between = 0;
    for (const Timeline::Interval& one : timeline.all()) {
        waits += one.kind == Kind::kWait;
        if (one.kind == Kind::kKernel || one.kind == Kind::kUp) between = waits;
    }
    INFO("in " << name << "() the host waits " << between
               << " times before all work of all ranks is queued, want never");
    const bool timeline_has_no_wait_between = between == 0;
    CHECK(timeline_has_no_wait_between);
}

void check_scaling(const char* name, uint64_t one, uint64_t four) {
    INFO("by the model " << name << "() takes " << (four + 500) / 1000 << " us on four devices and "
                         << (one + 500) / 1000 << " us on one, want at most half of that");
    const bool timeline_at_most_half = 2 * four <= one;
    CHECK(timeline_at_most_half);
}

// Of the efficiency cases: enough for a clear difference, and few where waits are counted.
constexpr int kNumbers = 1 << 21, kFewNumbers = 1 << 14;
constexpr Shape kLarge{1 << 18, 2, 1}, kSmall{1 << 10, 8, 1};

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

TEST_CASE("task 1: slices hold every element once, in order", "[task1]") {
    for (const int n : {0, 1, 2, 3, 4, 5, 7, 31, 32, 33, 1000, (1 << 20) + 1})
        for (int ranks = 1; ranks <= kMaxRanks; ++ranks) check_slices(n, ranks);
}

TEST_CASE("task 1: slices differ by at most one element", "[task1]") {
    for (const int n : {0, 1, 3, 4, 5, 7, 1000, 1023})
        for (int ranks = 1; ranks <= kMaxRanks; ++ranks)
            for (int r = 0; r < ranks; ++r) {
                const int count = slice_of(n, ranks, r).count;
                INFO("slice_of(" << n << ", " << ranks << ", " << r << ") has " << count
                                 << " elements, want " << n / ranks << " or "
                                 << (n + ranks - 1) / ranks);
                const bool fair_share = count == n / ranks || count == (n + ranks - 1) / ranks;
                REQUIRE(fair_share);
            }
}

TEST_CASE("task 1: slices of 2147483647 elements", "[task1]") {
    for (const int ranks : {1, 2, 3, 7, 8, 16}) check_slices(2147483647, ranks);
}

TEST_CASE("task 2: sums on one rank", "[task2]") {
    for (const int n : {1, 31, 32, 33, 255, 256, 257, 1000}) check_sum(n, 1);
}

TEST_CASE("task 2: sums on several ranks", "[task2]") {
    check_sum(1000, 2);
    check_sum(999, 3);
    check_sum(1000, 4);
    check_sum(100000, 4);
}

TEST_CASE("task 2: slices of different sizes", "[task2]") {
    check_sum(1001, 2);
    check_sum(1000, 3);
    for (const int n : {1001, 1002, 1003}) check_sum(n, 4);
}

TEST_CASE("task 2: fewer numbers than ranks", "[task2]") {
    check_sum(3, 4);
    check_sum(1, 2);
    for (const int count : {1, 2, 4}) check_sum(0, count);
}

TEST_CASE("task 2: sums again with other numbers", "[task2]") {
    const Ranks ranks(3);
    const OnRanks d_in(ranks, 200), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    for (const int n : {500, 100, 599, 0, 1}) {
        const Doubles in = exact_doubles(n, n);
        Pinned from(in);
        const double got = sum_of_squares(communicator, from.get(), n, d_in.get(), d_sum.get());
        check_one_sum(in, 3, got, "the returned sum");
    }
}

TEST_CASE("task 2: all work is in the streams of the ranks", "[task2]") {
    const Ranks ranks(3);
    Pinned from(exact_doubles(100, 1));
    const OnRanks d_in(ranks, 34), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    check_streams_of("sum_of_squares", ranks, [&] {
        sum_of_squares(communicator, from.get(), 100, d_in.get(), d_sum.get());
    });
}

TEST_CASE("task 2: a failed call is an exception", "[task2]") {
    const Ranks ranks(2);
    Pinned from(exact_doubles(100, 1));
    const OnRanks d_in(ranks, 51), d_sum(ranks, 1);
    HostCommunicator communicator(ranks, 1);
    const auto work = [&] {
        ranks.wait();  // for what a call before has left under way
        sum_of_squares(communicator, from.get(), 100, d_in.get(), d_sum.get());
    };
    wb::check_refused_launch("sum_of_squares", work);
    check_failing("sum_of_squares", {"Memcpy", "SetDevice"}, work);
}

TEST_CASE("task 3: each rank has its slice of the rows", "[task3]") {
    check_start(1, {10, 3, 2}, 5);
    check_start(2, {100, 4, 1}, 5);
    check_start(3, {99, 2, 3}, 5);
    check_start(4, {1000, 10, 4}, 5);
}

TEST_CASE("task 3: slices of different sizes", "[task3]") {
    check_start(2, {101, 3, 3}, 6);
    check_start(3, {100, 5, 2}, 6);
    check_start(4, {1003, 2, 7}, 6);
}

TEST_CASE("task 3: fewer rows than ranks", "[task3]") {
    check_start(4, {3, 5, 2}, 6);
    check_start(2, {1, 1, 1}, 6);
}

TEST_CASE("task 3: the start weights are those of the seed", "[task3]") {
    for (const unsigned seed : {0u, 1u, 12345u, 0xFFFFFFFFu}) check_start(3, {30, 6, 4}, seed);
}

TEST_CASE("task 3: a failed call is an exception", "[task3]") {
    const Shape shape{20, 3, 2};
    const Ranks ranks(2);
    const Data data(shape);
    Pinned x(data.x), y(data.y);
    Shards shards(ranks, shape);
    const HostCommunicator communicator(ranks, 1);
    const auto work = [&] {
        start(communicator, x.get(), y.get(), shape, 1, shards.get());
        ranks.wait();
    };
    wb::check_refused_launch("start", work);
    check_failing("start", {"Memcpy", "SetDevice"}, work);
}

TEST_CASE("task 4: one rank makes a step", "[task4]") {
    check_training(1, {1, 1, 1}, 1);
    check_training(1, {100, 3, 2}, 2);
    check_training(1, {257, 33, 4}, 2);
}

TEST_CASE("task 4: several ranks make the step that one would make", "[task4]") {
    check_training(2, {100, 3, 2}, 1);
    check_training(3, {99, 5, 1}, 1);
    check_training(4, {1000, 33, 3}, 1);
}

TEST_CASE("task 4: every row counts the same if slices differ", "[task4]") {
    check_training(2, {3, 2, 2}, 1);
    check_training(3, {100, 4, 2}, 1);
    check_training(4, {7, 3, 1}, 1);
}

TEST_CASE("task 4: more ranks than rows", "[task4]") {
    check_training(4, {3, 2, 1}, 2);
    check_training(2, {1, 1, 3}, 2);
}

TEST_CASE("task 4: all ranks have the same weights after each step", "[task4]") {
    check_training(2, {50, 4, 2}, 20, 0.2);
    check_training(4, {103, 6, 3}, 20, 0.2);
}

TEST_CASE("task 4: finds the weights that made the data", "[task4]") {
    const Shape shape{400, 5, 2};
    Training training(4, shape);
    for (int k = 0; k < 120; ++k) training.make_step(0.4);
    const Doubles got = training.shards.w(3);
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double off = std::fabs(got[i] - training.data.truth[i]);
        if (!(off <= worst)) worst = off;
    }
    INFO("after 120 steps a weight is off by " << worst << ", want at most 0.01: the noise of y");
    const bool weights_found = worst <= 0.01;
    CHECK(weights_found);
}

TEST_CASE("task 4: all work is in the streams of the ranks", "[task4]") {
    Training training(3, {30, 3, 2});
    check_streams_of("step", training.ranks, [&] { training.make_step(0.1); });
}

TEST_CASE("task 4: a failed call is an exception", "[task4]") {
    Training training(2, {30, 3, 2});
    const auto work = [&] {
        training.make_step(0.1);
        training.ranks.wait();
    };
    wb::check_refused_launch("step", work);
    check_failing("step", {"SetDevice"}, work);
}

TEST_CASE("task 5: later work of a rank waits for earlier work of all", "[task5]") {
    for (int count = 1; count <= kMost; ++count) check_meets(count);
}

TEST_CASE("task 5: the ranks meet again and again", "[task5]") {
    check_meets(3, 4);
}

TEST_CASE("task 5: the host does not wait", "[task5]") {
    const Ranks ranks(3);
    const Events events(ranks);
    const HostCommunicator communicator(ranks, 1);
    wb::CallWatch watch;
    meet(communicator, events.get());
    size_t waits = 0;
    std::string first;
    for (const wb::CudaCall& call : watch.calls)
        if (call.name.find("Synchronize") != std::string::npos ||
            call.name.find("Query") != std::string::npos) {
            if (!waits++) first = call.name;
        }
    INFO("meet() calls " << first << ": the host waits, and not the streams");
    const bool host_goes_on = waits == 0;
    CHECK(host_goes_on);
    const size_t recorded = watch.count("cudaEventRecord");
    INFO("meet() records " << recorded << " events, want one for each of 3 ranks");
    const bool all_recorded = recorded >= 3;
    CHECK(all_recorded);
}

TEST_CASE("task 5: a failed call is an exception", "[task5]") {
    const Ranks ranks(3);
    const Events events(ranks);
    const HostCommunicator communicator(ranks, 1);
    check_failing("meet", {"EventRecord", "WaitEvent"}, [&] { meet(communicator, events.get()); });
}

TEST_CASE("task 6: all ranks have the sum", "[task6]") {
    for (int count = 1; count <= kMost; ++count)
        for (const int n : {12, 36, 12000}) check_all_reduce(Back::kLocal, n, count);
}

TEST_CASE("task 6: slices of different sizes", "[task6]") {
    for (int count = 2; count <= kMost; ++count)
        for (const int n : {5, 31, 257, 1001, 1003}) check_all_reduce(Back::kLocal, n, count);
}

TEST_CASE("task 6: fewer numbers than ranks", "[task6]") {
    for (int count = 2; count <= kMost; ++count)
        for (int n = 1; n < count; ++n) check_all_reduce(Back::kLocal, n, count);
}

TEST_CASE("task 6: reduces again and again", "[task6]") {
    check_all_reduce(Back::kLocal, 100, 3, 4);
    check_all_reduce(Back::kLocal, 1001, 4, 3);
}

TEST_CASE("task 6: all work is in the streams of the ranks", "[task6]") {
    const Ranks ranks(3);
    const OnRanks d_data(ranks, 100);
    LocalCommunicator communicator(ranks.get(), 3, 100);
    check_streams_of(
        "all_reduce_sum", ranks, [&] { communicator.all_reduce_sum(d_data.get(), 100); });
}

TEST_CASE("task 6: a failed call is an exception", "[task6]") {
    const Ranks ranks(3);
    const OnRanks d_data(ranks, 100);
    LocalCommunicator communicator(ranks.get(), 3, 100);
    const auto work = [&] {
        communicator.all_reduce_sum(d_data.get(), 100);
        ranks.wait();
    };
    wb::check_refused_launch("all_reduce_sum", work);
    check_failing("all_reduce_sum", {"Memcpy"}, work, 0);  // kernels may do it, too
}

TEST_CASE("task 7: all ranks have the sum", "[task7]") {
    for (int count = 1; count <= most_ranks(Back::kNccl); ++count)
        for (const int n : {1, 12001}) check_all_reduce(Back::kNccl, n, count);
}

TEST_CASE("task 7: reduces again and again", "[task7]") {
    check_all_reduce(Back::kNccl, 1001, most_ranks(Back::kNccl), 4);
}

TEST_CASE("task 7: one group with one call for each rank, in its stream", "[task7]") {
    const Ranks ranks(most_ranks(Back::kNccl));
    const OnRanks d_data(ranks, 10);
    NcclCommunicator communicator(ranks.get(), ranks.count());
    wb::NcclWatch watch;
    communicator.all_reduce_sum(d_data.get(), 10);
    check_collectives(watch, ranks);
}

TEST_CASE("task 7: a failed call is an exception", "[task7]") {
    const Ranks ranks(most_ranks(Back::kNccl));
    const OnRanks d_data(ranks, 10);
    NcclCommunicator communicator(ranks.get(), ranks.count());
    check_failing_nccl([&] {
        communicator.all_reduce_sum(d_data.get(), 10);
        ranks.wait();
    });
}

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

TEST_CASE("efficient: the host does not wait for NCCL, and makes nothing anew",
          "[efficient][task7]") {
    const Ranks ranks(most_ranks(Back::kNccl));
    const OnRanks d_data(ranks, 1000);
    NcclCommunicator communicator(ranks.get(), ranks.count());
    check_no_nccl_waits([&] {
        for (int k = 0; k < 3; ++k) communicator.all_reduce_sum(d_data.get(), 1000);
    });
    ranks.wait();
}
