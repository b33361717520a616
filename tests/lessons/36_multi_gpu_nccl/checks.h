// SPDX-License-Identifier: MIT
// Checks that the tests of lesson 36 share: of a sum, with the results of usual mistakes; of a
// regression with start weights of the test; of ranks that agree; of streams; and of calls that
// fail.
//
// Tolerances: sums of squares are exact, since the numbers are multiples of 1/16.
#pragma once

#include "reference.h"
#include "watches/call_checks.h"

namespace {

constexpr int kMost = 4;  // ranks in these tests

// The communicator under test. NCCL's needs a device for each rank.
enum class Back { kLocal, kNccl };

inline int most_ranks(Back back) {
    return back == Back::kLocal ? kMost : std::min(kMost, device_count());
}

// A regression with rows and start weights from the test.
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

inline Slice standard_slice(int n, int ranks, int rank) {
    const int each = n / ranks, left = n % ranks;
    return {rank * each + std::min(rank, left), each + (rank < left)};
}

// `what` names the sum in messages: "the returned sum". `rank`: the rank whose sum it is, or -1 for
// the returned one.
inline void check_one_sum(const Doubles& in, int count, double sum, const std::string& what,
                          int rank = -1) {
    const int n = int(in.size()), whole = n - n % count;
    const Doubles got{sum}, want{squares_of(in, 0, n)};
    INFO(what);
    CHECK_ARRAYS(got, want);
    const Slice first = standard_slice(n, count, 0), last = standard_slice(n, count, count - 1);
    const auto one = [](double value) { return [value] { return Doubles{value}; }; };
    wb::recognize<double>(
        got,
        want,
        {{"each rank has the sum of its own slice: the ranks were not combined, or only the host "
          "has added the sums",
          [&] {
              const Slice own = standard_slice(n, count, std::max(rank, 0));
              return Doubles{rank < 0 ? NAN : squares_of(in, own.first, own.count)};
          }},
         {"only the slice of rank 0 is summed: the ranks were not combined",
          one(squares_of(in, first.first, first.count))},
         {"only the slice of the last rank is summed", one(squares_of(in, last.first, last.count))},
         {"every rank has summed the first slice: does each upload begin where its slice does?",
          one(count * squares_of(in, first.first, first.count))},
         {"every rank has summed all numbers", one(count * want[0])},
         {"the numbers after the last whole slice are missing: n is not a multiple of the ranks",
          one(squares_of(in, 0, whole))},
         {"this is the mean of the ranks' sums", one(want[0] / count)}});
}

// "" or the first element that has other bits on some rank than on rank 0.
inline std::string disagreement(const std::vector<Doubles>& of_ranks, const char* what) {
    for (size_t r = 1; r < of_ranks.size(); ++r)
        for (size_t i = 0; i < of_ranks[r].size(); ++i)
            if (std::memcmp(&of_ranks[r][i], &of_ranks[0][i], sizeof(double)) != 0)
                return std::string(what) + " " + std::to_string(i) + " is " +
                       wb::shown(of_ranks[0][i], 17) + " on rank 0 and " +
                       wb::shown(of_ranks[r][i], 17) + " on rank " + std::to_string(r);
    return "";
}

// Runs `work` once for each of its calls whose name contains one of `parts`; that call fails, and
// `work` must throw wb::CudaError. `work` makes at least `fewest` such calls.
inline void check_failing(const char* name, const std::vector<const char*>& parts,
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

inline void check_streams_of(const char* name, const Ranks& ranks,
                             const std::function<void()>& work) {
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

}  // namespace
