// SPDX-License-Identifier: MIT
// What is timed of lesson 22: random fractions into memory, and points by our streams and cuRAND's.
#include "rng_seeding.h"
#include "workloads/workload_data.h"

namespace {

int multiprocessors() {
    int count = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}

// Philox4x32-10 on the host, written once more: what it must give.
uint32_t philox_word(uint64_t seed, uint64_t stream, uint64_t position) {
    uint32_t c[4] = {uint32_t(position / 4),
                     uint32_t(position / 4 >> 32),
                     uint32_t(stream),
                     uint32_t(stream >> 32)};
    uint32_t k[2] = {uint32_t(seed), uint32_t(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        const uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k[0],
                                  uint32_t(b),
                                  uint32_t(a >> 32) ^ c[3] ^ k[1],
                                  uint32_t(a)};
        std::copy(next, next + 4, c);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    return c[position % 4];
}

// One row of draws for each stream. Rows are compared where a large array is too much for a CPU:
// the first and the last ones, and each 61st.
class Fill final : public wb::Workload {
public:
    static constexpr int kDraws = 4096;
    explicit Fill(size_t n)
        : draws_(n < 1'000'000 ? 100 : kDraws), streams_(int(n / draws_)),
          step_(n < 1'000'000 ? 1 : 61), d_out_(size_t(streams_) * draws_) {}
    void run() override {
        fill(kSeed, d_out_.get(), streams_, draws_, 2 * multiprocessors(), 1024);
    }
    void reference() override {
        rows_.clear();
        for (int s = 0; s < streams_; s += step_) rows_.push_back(s);
        if (rows_.back() != streams_ - 1) rows_.push_back(streams_ - 1);
        want_.resize(rows_.size() * draws_);
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                want_[i] = unit_float(philox_word(kSeed, rows_[i / draws_], i % draws_));
        });
    }
    size_t reference_elements() const override { return want_.size(); }
    std::string verify() override {
        const std::vector<float> got = d_out_.download();
        std::vector<float> looked_at;
        for (const int row : rows_)
            looked_at.insert(looked_at.end(),
                             got.begin() + size_t(row) * draws_,
                             got.begin() + size_t(row + 1) * draws_);
        for (const float value : got)
            if (!(value >= 0 && value < 1)) return "a value is " + wb::shown(value);
        return wb::mismatch(looked_at, want_);
    }
    double bytes() const override { return 4.0 * double(d_out_.size()); }

private:
    static constexpr uint64_t kSeed = 0x1234'5678'9ABC'DEF0ull;
    int draws_, streams_, step_;
    wb::DeviceBuffer<float> d_out_;
    std::vector<int> rows_;
    std::vector<float> want_;
};
WORKLOAD(Fill, "uniform floats", 1 << 28, 100000);

// 2^17 streams, each of which draws its points.
class Points final : public wb::Workload {
public:
    static constexpr int kStreams = 1 << 17;
    explicit Points(size_t n)
        : streams_(n < kStreams ? 300 : kStreams), points_(int(n / streams_)),
          d_positions_(std::vector<uint64_t>(streams_, 0)), d_points_(size_t(streams_) * points_) {}
    void prepare() override {
        CUDA_CHECK(cudaMemsetAsync(d_positions_.get(), 0, streams_ * sizeof(uint64_t)));
    }
    void run() override {
        draw_points(7, 0, d_positions_.get(), d_points_.get(), streams_, points_, 256);
    }
    void reference() override {
        want_.resize(std::min<size_t>(d_points_.size(), 1 << 20));
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                const uint64_t stream = i % streams_, position = 2 * (i / streams_);
                want_[i] = unit_float(philox_word(7, stream, position)) +
                           2 * unit_float(philox_word(7, stream, position + 1));
            }
        });
    }
    size_t reference_elements() const override { return want_.size(); }
    std::string verify() override {
        const std::vector<float2> got = d_points_.download();
        std::vector<float> sums(want_.size());
        for (size_t i = 0; i < sums.size(); ++i) sums[i] = got[i].x + 2 * got[i].y;
        for (const uint64_t position : d_positions_.download())
            if (position != 2 * uint64_t(points_)) return "a position is wrong";
        return wb::mismatch(sums, want_);
    }
    double bytes() const override { return 8.0 * double(d_points_.size()); }

private:
    int streams_, points_;
    wb::DeviceBuffer<uint64_t> d_positions_;
    wb::DeviceBuffer<float2> d_points_;
    std::vector<float> want_;
};
WORKLOAD(Points, "points, a stream for each thread", 1 << 26, 30000);

}  // namespace
