// SPDX-License-Identifier: MIT
// What the test of lesson 36 checks and says: slices, sums, weights that agree on all ranks, the
// order of streams, and the calls of NCCL. Defines the functions of the runtime and of NCCL, so
// that it belongs in one file of a program.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "call_checks.h"
#include "nccl_calls.h"
#include "reference.h"
#include "timeline.h"

namespace {

using wb::Timeline;

void check_slices(int n, int ranks) {
    long long next = 0;
    for (int r = 0; r < ranks; ++r) {
        const Slice slice = slice_of(n, ranks, r);
        INFO("slice_of(" << n << ", " << ranks << ", " << r << "): got first = " << slice.first
                         << ", count = " << slice.count << ", and the slices before end at "
                         << next);
        const bool begins_there = slice.first == next || (slice.count == 0 && next == n);
        const bool none_is_negative = slice.count >= 0;
        REQUIRE(begins_there);
        REQUIRE(none_is_negative);
        next += slice.count;
    }
    INFO("slice_of(" << n << ", " << ranks << ", r): all slices together have " << next
                     << " elements, want " << n);
    const bool every_element_once = next == n;
    REQUIRE(every_element_once);
}

Slice standard_slice(int n, int ranks, int rank) {
    const int each = n / ranks, left = n % ranks;
    return {rank * each + std::min(rank, left), each + (rank < left)};
}

// `what` is "the returned sum" or the like.
void check_one_sum(const Doubles& in, int count, double sum, const std::string& what) {
    const int n = int(in.size()), whole = n - n % count;
    const Doubles got{sum}, want{squares_of(in, 0, n)};
    INFO(what);
    CHECK_ARRAYS(got, want);
    const Slice first = standard_slice(n, count, 0), last = standard_slice(n, count, count - 1);
    const auto one = [](double value) { return [value] { return Doubles{value}; }; };
    wb::recognize<double>(
        got,
        want,
        {{"only the slice of rank 0 is summed: the ranks were not combined",
          one(squares_of(in, first.first, first.count))},
         {"only the slice of the last rank is summed", one(squares_of(in, last.first, last.count))},
         {"every rank has summed the first slice: does each upload begin where its slice does?",
          one(count * squares_of(in, first.first, first.count))},
         {"every rank has summed all numbers", one(count * want[0])},
         {"the numbers after the last whole slice are missing: n is not a multiple of the ranks",
          one(squares_of(in, 0, whole))},
         {"this is the mean of the ranks' sums", one(want[0] / count)}});
}

// The rows that a rank has got of the matrix `name`.
void check_rows(const char* name, const Doubles& all, const Doubles& got, int first, int rows,
                int columns) {
    const auto begin = all.begin() + size_t(first) * columns;
    const Doubles want(begin, begin + size_t(rows) * columns);
    INFO("d_" << name << " of this rank");
    CHECK_MATRIX(columns, got, want);
    wb::recognize<double>(
        got,
        want,
        {{"these are the first rows of all: every rank has got the same rows",
          [&] { return Doubles(all.begin(), all.begin() + got.size()); }},
         {"the rows begin too early: the first row's number, where its place in the matrix is "
          "meant",
          [&] { return Doubles(all.begin() + first, all.begin() + first + got.size()); }}});
}

// "" or the first place at which a rank has other bits than rank 0.
std::string disagreement(const std::vector<Doubles>& of_ranks, const char* what) {
    for (size_t r = 1; r < of_ranks.size(); ++r)
        for (size_t i = 0; i < of_ranks[r].size(); ++i)
            if (std::memcmp(&of_ranks[r][i], &of_ranks[0][i], sizeof(double)) != 0)
                return std::string(what) + " " + std::to_string(i) + " is " +
                       wb::shown(of_ranks[0][i], 17) + " on rank 0 and " +
                       wb::shown(of_ranks[r][i], 17) + " on rank " + std::to_string(r);
    return "";
}

// After `steps` steps. Returns whether all is well. Tolerance: each step's gradient is a mean of at
// most 1000 terms of magnitude below 100, each a sum of at most 33 products: off by at most
// (1000 + 33) 2^-53 100 = 1.2e-11; after 20 steps of rate 0.2, by 4.6e-11.
bool check_weights(const Data& data, int count, double rate, int steps, const Doubles& before,
                   const Doubles& want, const std::vector<Doubles>& got) {
    CAPTURE(steps);
    const int rows = data.shape.rows;
    const auto tolerance = [](size_t) { return 4.6e-11; };
    const auto part = [&](int r) {
        const Slice own = standard_slice(rows, count, r);
        return data.gradient(before, own.first, own.count);
    };
    const auto moved = [&](const Doubles& gradient, double factor) {
        Doubles w = before;
        move(w, gradient, factor);
        return w;
    };
    const auto each_mean = [&](double share) {
        Doubles w = before;
        for (int r = 0; r < count; ++r) {
            const int own = standard_slice(rows, count, r).count;
            if (own) move(w, part(r), rate * share / own);
        }
        return w;
    };
    const auto own_rows = [&](int r) { return std::max(1, standard_slice(rows, count, r).count); };
    const std::string differs = disagreement(got, "weight");
    {
        INFO("after step " << steps << " " << differs << ": the ranks train different models");
        const bool same_weights_on_all_ranks = differs.empty();
        CHECK(same_weights_on_all_ranks);
    }
    bool right = differs.empty();
    for (int r = 0; r < count; ++r) {
        INFO("weights of rank " << r << " after step " << steps);
        if (differs.empty()) CHECK_ARRAYS(got[r], want, tolerance);
        right = right && wb::mismatch(got[r], want, tolerance).empty();
        wb::recognize<double>(
            got[r],
            want,
            {{"the weights are those of before: this rank has made no update",
              [&] { return before; }},
             {"the rank has used the gradient of its own rows only",
              [&] { return moved(part(r), rate / rows); }},
             {"the gradients of the rows are summed, where their mean is meant",
              [&] { return moved(data.gradient(before, 0, rows), rate); }},
             {"the mean over the ranks was taken, where the mean over the rows is meant",
              [&] { return moved(data.gradient(before, 0, rows), rate / count); }},
             {"each rank has divided by its own number of rows: rows of smaller slices count more, "
              "and the ranks are summed",
              [&] { return each_mean(1); }},
             {"each rank has divided by its own number of rows: the mean of means is the mean of "
              "all rows only if slices are equal",
              [&] { return each_mean(1.0 / count); }},
             {"the sum over the rows of all ranks is divided by the rank's own number of rows",
              [&] { return moved(data.gradient(before, 0, rows), rate / own_rows(r)); }},
             {"the sum over the rows of all ranks is divided by the rank's own number of rows, "
              "times "
              "the ranks: right only if slices are equal",
              [&] { return moved(data.gradient(before, 0, rows), rate / own_rows(r) / count); }},
             {"the gradients were combined several times, and count so often",
              [&] { return moved(data.gradient(before, 0, rows), rate * count / rows); }},
             {"the weights move up the gradient, not down",
              [&] { return moved(data.gradient(before, 0, rows), -rate / rows); }}},
            tolerance);
        if (!right && differs.empty()) return false;
    }
    return right;
}

// All-reduced: `had` before and `got` afterwards, of each rank.
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

// Each call whose name contains one of `parts` fails once, which must end as a wb::CudaError. There
// are `fewest` of them at least.
void check_failing(const char* name, const std::vector<const char*>& parts,
                   const std::function<void()>& work, size_t fewest = 1) {
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        work();
        calls = watch.calls;
    }
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const std::string& call = calls[k].name;
        const auto has = [&](const char* part) { return call.find(part) != std::string::npos; };
        if (std::none_of(parts.begin(), parts.end(), has)) continue;
        ++failed;
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        if (!wb::throws_cuda_error(work)) dropped = call;
    }
    {
        INFO(name << "() makes no call that could fail: where is the work done?");
        const bool calls_were_made = failed >= fewest;
        CHECK(calls_were_made);
    }
    INFO("when " << dropped << " fails, " << name << "() goes on as if it had not");
    const bool every_call_is_checked = dropped.empty();
    CHECK(every_call_is_checked);
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

// One rank uploads for long; after the ranks have met, each fills a few bytes. On a card the upload
// is a function of the host that takes its time, and the fills are others that look.
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

// How often, and with how many numbers, the ranks were combined.
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
    const size_t waits = timeline.of(Timeline::Kind::kWait).size();
    INFO("in " << name << "() the host waits " << waits << " times, want never");
    const bool timeline_has_no_wait = waits == 0;
    CHECK(timeline_has_no_wait);
}

// What copies bring to each rank's device, as the timeline has it.
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

}  // namespace
