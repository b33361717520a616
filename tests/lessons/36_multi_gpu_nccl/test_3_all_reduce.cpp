// SPDX-License-Identifier: MIT
// Lesson 36: ranks that meet, and all-reduces, by hand and by NCCL. Tolerance: every order of
// adding G numbers is off by at most (G - 1) 2^-53 times the sum of their magnitudes.
#include <atomic>
#include <chrono>
#include <thread>

#include "cases/timeline.h"
#include "checks.h"
#include "watches/nccl_calls.h"

namespace {

using wb::Timeline;

// Checks an all-reduce: each rank had `had` before and has `got` afterwards.
void check_reduced(const std::vector<Doubles>& had, const std::vector<Doubles>& got) {
    const size_t n = had[0].size();
    const int count = int(had.size());
    Doubles want(n), magnitude(n);
    for (const Doubles& one : had)
        for (size_t i = 0; i < n; ++i) {
            want[i] += one[i];
            magnitude[i] += std::fabs(one[i]);
        }
    const auto tolerance = [&](size_t i) { return (count - 1) * 0x1p-53 * magnitude[i]; };
    for (int r = 0; r < count; ++r) {
        INFO("data of rank " << r);
        CHECK_ARRAYS(got[r], want, tolerance);
        const auto of_slices = [&](bool own_only) {
            Doubles values = had[r];
            for (int s = 0; s < count; ++s) {
                const Slice slice = standard_slice(int(n), count, s);
                if ((s == r) == own_only)
                    std::copy_n(
                        want.begin() + slice.first, slice.count, values.begin() + slice.first);
            }
            return values;
        };
        wb::recognize<double>(
            got[r],
            want,
            {{"the rank's data is what it was: nothing was added", [&] { return had[r]; }},
             {"only the rank's own slice is summed: the sums of the other slices are not copied",
              [&] { return of_slices(true); }},
             {"all but the rank's own slice is summed", [&] { return of_slices(false); }},
             {"every rank has the data of rank 0", [&] { return had[0]; }},
             {"the sum is divided by the number of ranks",
              [&] {
                  Doubles mean = want;
                  for (double& one : mean) one /= count;
                  return mean;
              }},
             {"the rank's own data is missing in the sum",
              [&] {
                  Doubles others = want;
                  for (size_t i = 0; i < n; ++i) others[i] -= had[r][i];
                  return others;
              }}},
            tolerance);
        if (!wb::mismatch(got[r], want, tolerance).empty()) return;
    }
    const std::string differs = disagreement(got, "element");
    INFO(differs << ": the ranks have added in different orders");
    const bool same_bits_on_all_ranks = differs.empty();
    CHECK(same_bits_on_all_ranks);
}

class Events {
public:
    explicit Events(const Ranks& ranks) : all_(ranks.count()) {
        for (int r = 0; r < ranks.count(); ++r) {
            CUDA_CHECK(cudaSetDevice(ranks[r].device));
            CUDA_CHECK(cudaEventCreateWithFlags(&all_[r], cudaEventDisableTiming));
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~Events() {
        for (cudaEvent_t one : all_) cudaEventDestroy(one);
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
    const cudaEvent_t* get() const { return all_.data(); }

private:
    std::vector<cudaEvent_t> all_;
};

// The upload of one rank takes long; after the ranks have met, each fills a few bytes. On a card, a
// slow host function replaces the upload, and host functions that check it replace the fills.
void check_meets(int count, int times = 1) {
    constexpr size_t kLong = 1 << 17, kMark = 3;  // doubles
    for (int slow = 0; slow < count; ++slow) {
        CAPTURE(count, slow);
        const Ranks ranks(count);
        const Events events(ranks);
        const HostCommunicator communicator(ranks, 1);
        const OnRanks d_long(ranks, kLong), d_mark(ranks, kMark);
        Pinned from{Doubles(kLong)};
        struct Flags {
            std::atomic<bool> done{false}, early{false};
        } flags;
        const auto timeline = Timeline::of([&] {
            for (int time = 0; time < times; ++time) {
                const size_t bytes = kLong * sizeof(double);
                CUDA_CHECK(cudaMemcpyAsync(
                    d_long[slow], from.get(), bytes, cudaMemcpyHostToDevice, ranks[slow].stream));
                CUDA_CHECK(cudaLaunchHostFunc(
                    ranks[slow].stream,
                    [](void* to) {
                        if (!wb::on_emulator())
                            std::this_thread::sleep_for(std::chrono::milliseconds(20));
                        static_cast<Flags*>(to)->done = true;
                    },
                    &flags));
                meet(communicator, events.get());
                for (int r = 0; r < count; ++r) {
                    CUDA_CHECK(
                        cudaMemsetAsync(d_mark[r], 0, kMark * sizeof(double), ranks[r].stream));
                    CUDA_CHECK(cudaLaunchHostFunc(
                        ranks[r].stream,
                        [](void* to) {
                            auto* all = static_cast<Flags*>(to);
                            if (!all->done) all->early = true;
                        },
                        &flags));
                }
            }
        });
        ranks.wait();
        bool ordered = !flags.early;
        if (timeline) {
            uint64_t uploaded = 0;
            for (const Timeline::Interval& one : timeline->all()) {
                if (one.kind == Timeline::Kind::kUp) uploaded = one.end;
                if (one.kind == Timeline::Kind::kFill) ordered = ordered && one.begin >= uploaded;
            }
        }
        INFO("a rank goes on while rank " << slow << " is still at work");
        const bool all_have_waited = ordered;
        REQUIRE((all_have_waited || count == 1));
    }
}

std::unique_ptr<Communicator> make(Back back, const Ranks& ranks, int max_n) {
    if (back == Back::kLocal)
        return std::make_unique<LocalCommunicator>(ranks.get(), ranks.count(), max_n);
    return std::make_unique<NcclCommunicator>(ranks.get(), ranks.count());
}

// Earlier work in the streams writes the data, and later work overwrites it. If the all-reduce is
// not ordered with either, the race checker reports it.
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

void check_collectives(const wb::NcclWatch& watch, const Ranks& ranks) {
    const auto collectives = watch.collectives();
    {
        INFO("NCCL was called for " << collectives.size() << " ranks of " << ranks.count());
        const bool one_call_for_each_rank = int(collectives.size()) == ranks.count();
        REQUIRE(one_call_for_each_rank);
    }
    {
        const bool one_group = watch.count("ncclGroupStart") == 1;
        const bool open_at_each =
            std::all_of(collectives.begin(), collectives.end(), [](const wb::NcclCall& one) {
                return one.depth == 1;
            });
        const bool all_in_one_group = ranks.count() == 1 || (one_group && open_at_each);
        INFO("the calls of the ranks are in " << watch.count("ncclGroupStart")
                                              << " groups, want all in one");
        CHECK(all_in_one_group);
    }
    for (int r = 0; r < ranks.count(); ++r) {
        const bool stream_of_the_rank =
            std::any_of(collectives.begin(), collectives.end(), [&](const wb::NcclCall& one) {
                return one.stream == ranks[r].stream;
            });
        INFO("no call of NCCL is in the stream of rank " << r);
        CHECK(stream_of_the_rank);
    }
    const bool no_group_is_open = wb::NcclWatch::depth() == 0;
    INFO("a group is still open");
    CHECK(no_group_is_open);
}

void check_failing_nccl(const std::function<void()>& work) {
    for (const char* name : {"ncclGroupStart", "ncclAllReduce", "ncclGroupEnd"}) {
        bool thrown = false;
        bool called = false;
        {
            wb::NcclWatch watch;
            watch.fail_name = name;
            try {
                work();
            } catch (const NcclError&) {
                thrown = true;
            }
            called = watch.count(name) > 0;
        }
        while (wb::NcclWatch::depth() > 0) ncclGroupEnd();
        INFO((called ? std::string(name) + " fails, and all_reduce_sum() goes on as if it had not"
                     : "all_reduce_sum() does not call " + std::string(name)));
        CHECK(thrown);
    }
}

}  // namespace

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
    std::exception_ptr refused;  // thrown again after the checks
    try {
        communicator.all_reduce_sum(d_data.get(), 10);
    } catch (...) {
        refused = std::current_exception();
    }
    check_collectives(watch, ranks);
    if (refused) std::rethrow_exception(refused);
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
