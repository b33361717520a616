// SPDX-License-Identifier: MIT
// The timed work of lesson 36, on all cards or as many as wb::cards() says: a sum of squares from
// pinned memory, all-reduces of both kinds, and steps of a regression. bytes() of an all-reduce is
// the bus bandwidth of nccl-tests times the time: 2 (ranks - 1) / ranks of the array; with one
// rank, the array.
#include "reference.h"
#include "workloads/workload_data.h"

namespace {

int ranks_here() {
    const int there = std::min(device_count(), kMaxRanks);
    return wb::cards() ? std::min(wb::cards(), there) : there;
}

class SumOfSquares final : public wb::Workload {
public:
    explicit SumOfSquares(size_t n)
        : n_(int(n)), ranks_(ranks_here()), in_(n), d_in_(ranks_, n / ranks_.count() + 1),
          d_sum_(ranks_, 1), communicator_(ranks_.get(), ranks_.count(), 1) {
        wb::in_parallel(n, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                in_.get()[i] = int(wb::random_bits(1, i) % 2001) / 16.0 - 62.5;
        });
    }
    void run() override {
        got_ = sum_of_squares(communicator_, in_.get(), n_, d_in_.get(), d_sum_.get());
    }
    void reference() override {
        double sum = 0;
        for (int i = 0; i < n_; ++i) sum += in_.get()[i] * in_.get()[i];
        want_ = sum;
    }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        // Multiples of 1/256 below 2^12, of which at most 2^33 are added: exact.
        return got_ == want_ ? "" : "got " + wb::shown(got_, 17) + ", want " + wb::shown(want_, 17);
    }
    // The sum is exact, so it is the same for any number of cards.
    uint64_t digest() override {
        uint64_t bits = 0;
        std::memcpy(&bits, &got_, sizeof bits);
        return bits;
    }
    double bytes() const override { return 8.0 * n_; }
    const char* unit() const override { return "numbers"; }
    bool on_host() const override { return true; }

private:
    int n_;
    Ranks ranks_;
    Pinned in_;
    OnRanks d_in_, d_sum_;
    LocalCommunicator communicator_;
    double got_ = 0, want_ = 0;
};
WORKLOAD(SumOfSquares, "sums squares on all devices", 1 << 27, 100003);

// Each run adds the ranks' arrays, which grow by the factor `ranks`: so prepare() restores them.
template <class Kind>
class AllReduce : public wb::Workload {
public:
    explicit AllReduce(size_t n)
        : n_(n), ranks_(ranks_here()), d_data_(ranks_, n), from_(exact_doubles(kPart, 3)),
          communicator_(make(n)) {}
    void prepare() override {
        for (int r = 0; r < ranks_.count(); ++r) {
            CUDA_CHECK(cudaSetDevice(ranks_[r].device));
            for (size_t at = 0; at < n_; at += kPart)
                CUDA_CHECK(cudaMemcpyAsync(d_data_[r] + at,
                                           from_.get(),
                                           std::min(kPart, n_ - at) * sizeof(double),
                                           cudaMemcpyHostToDevice,
                                           ranks_[r].stream));
        }
        ranks_.wait();
        CUDA_CHECK(cudaSetDevice(0));
    }
    void run() override {
        communicator_->all_reduce_sum(d_data_.get(), int(n_));
        ranks_.wait();
    }
    void reference() override { want_ = from_.values(); }
    size_t reference_elements() const override { return std::min(n_, kPart); }
    std::string verify() override {
        for (int r = 0; r < ranks_.count(); ++r) {
            const Doubles got = d_data_.values(r);
            for (size_t i = 0; i < n_; ++i)
                if (got[i] != ranks_.count() * want_[i % kPart])
                    return "element " + std::to_string(i) + " of rank " + std::to_string(r) +
                           ": got " + wb::shown(got[i]) + ", want " +
                           wb::shown(ranks_.count() * want_[i % kPart]);
        }
        return "";
    }
    double bytes() const override {
        const double ranks = ranks_.count();
        return 8.0 * double(n_) * (ranks > 1 ? 2 * (ranks - 1) / ranks : 1);
    }
    bool on_host() const override { return true; }
    std::string library() const override {
        if (std::is_same_v<Kind, LocalCommunicator>) return "";
        int version = 0;
        NCCL_CHECK(ncclGetVersion(&version));
        return wb::nccl_name(version);
    }

private:
    static constexpr size_t kPart = 1 << 16;
    std::unique_ptr<Communicator> make(size_t n) const {
        if constexpr (std::is_same_v<Kind, LocalCommunicator>)
            return std::make_unique<Kind>(ranks_.get(), ranks_.count(), int(n));
        else
            return std::make_unique<Kind>(ranks_.get(), ranks_.count());
    }
    size_t n_;
    Ranks ranks_;
    OnRanks d_data_;
    Pinned from_;
    std::unique_ptr<Communicator> communicator_;
    Doubles want_;
};
using LocalAllReduce = AllReduce<LocalCommunicator>;
using NcclAllReduce = AllReduce<NcclCommunicator>;
WORKLOAD(LocalAllReduce, "local all-reduces: bus bandwidth", 1 << 27, 100003);
WORKLOAD(NcclAllReduce, "all-reduces by NCCL: bus bandwidth", 1 << 27, 100003);

class Steps final : public wb::Workload {
public:
    explicit Steps(size_t rows)
        : shape_{int(rows), 32, 1}, data_(shape_), ranks_(ranks_here()), x_(data_.x), y_(data_.y),
          shards_(ranks_, shape_), communicator_(ranks_.get(), ranks_.count(), shape_.features) {}
    void prepare() override {
        start(communicator_, x_.get(), y_.get(), shape_, kSeed, shards_.get());
        ranks_.wait();
    }
    void run() override {
        for (int k = 0; k < kSteps; ++k) step(communicator_, shape_, shards_.get(), kRate);
        ranks_.wait();
    }
    void reference() override {
        want_ = start_weights(shards_.weights(), kSeed);
        for (int k = 0; k < kSteps; ++k)
            move(want_, data_.gradient(want_, 0, shape_.rows), kRate / shape_.rows);
    }
    size_t reference_elements() const override { return size_t(shape_.rows) * kSteps; }
    std::string verify() override {
        // Sums of up to 2^20 terms of magnitude below 100: off by 1.2e-8 in each of ten steps.
        for (int r = 0; r < ranks_.count(); ++r) {
            const std::string wrong = wb::mismatch(
                shards_.w(r), want_, [](size_t) { return 1.2e-7; }, "weight");
            if (!wrong.empty()) return "rank " + std::to_string(r) + ", " + wrong;
            if (shards_.w(r) != shards_.w(0))
                return "the weights of rank " + std::to_string(r) + " are not those of rank 0";
        }
        return "";
    }
    double bytes() const override { return 8.0 * shape_.rows * shape_.features * kSteps; }
    const char* unit() const override { return "rows"; }
    bool on_host() const override { return true; }

private:
    static constexpr int kSteps = 10;
    static constexpr unsigned kSeed = 5;
    static constexpr double kRate = 0.1;
    Shape shape_;
    Data data_;
    Ranks ranks_;
    Pinned x_, y_;
    Shards shards_;
    LocalCommunicator communicator_;
    Doubles want_;
};
WORKLOAD(Steps, "ten steps of a regression on all devices", 1 << 20, 1003);

}  // namespace
