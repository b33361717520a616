// SPDX-License-Identifier: MIT
// Helpers for the tests and the workload of lesson 36: ranks with their memory, a communicator that
// counts its calls, and the same computations on the host.
#pragma once

#include <memory>

#include "cases/devices.h"
#include "lesson_test.h"
#include "multi_gpu_nccl.h"

namespace {

using Doubles = std::vector<double>;

// This lesson's programs have four emulated devices. Runs before the first device is used.
inline const bool four_devices = wb::device_count(4) == 4;

// The number of devices: on cards, those of this machine.
inline int device_count() {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    return count;
}

// Ranks with streams of their own, placed on the devices in turn: a machine with one card has
// several ranks, too.
class Ranks {
public:
    explicit Ranks(int count) : all_(count) {
        for (int r = 0; r < count; ++r) {
            all_[r].device = r % device_count();
            CUDA_CHECK(cudaSetDevice(all_[r].device));
            CUDA_CHECK(cudaStreamCreateWithFlags(&all_[r].stream, cudaStreamNonBlocking));
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~Ranks() {
        wait();
        for (const Rank& one : all_) cudaStreamDestroy(one.stream);
        cudaSetDevice(0);
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    const Rank* get() const { return all_.data(); }
    int count() const { return int(all_.size()); }
    const Rank& operator[](int r) const { return all_[r]; }
    void wait() const {
        for (const Rank& one : all_) cudaStreamSynchronize(one.stream);
    }
    // No call may rely on the device that happens to be current.
    void make_last_current() const { CUDA_CHECK(cudaSetDevice(all_.back().device)); }

private:
    std::vector<Rank> all_;
};

// Pinned memory, one double larger than requested so that it is never empty. NaN at first.
class Pinned {
public:
    explicit Pinned(size_t size) : size_(size) {
        CUDA_CHECK(cudaMallocHost(&data_, (size + 1) * sizeof(double)));
        std::memset(data_, 0xFF, (size + 1) * sizeof(double));
    }
    explicit Pinned(const Doubles& values) : Pinned(values.size()) {
        std::copy(values.begin(), values.end(), data_);
    }
    ~Pinned() { cudaFreeHost(data_); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    double* get() { return data_; }
    Doubles values() const { return Doubles(data_, data_ + size_); }

private:
    double* data_ = nullptr;
    size_t size_;
};

// An array of `size` doubles on the device of each rank, NaN at first.
class OnRanks {
public:
    OnRanks(const Ranks& ranks, size_t size) : ranks_(ranks), size_(size) {
        for (int r = 0; r < ranks.count(); ++r) {
            CUDA_CHECK(cudaSetDevice(ranks[r].device));
            double* d_data;  // messages name the array so
            CUDA_CHECK(cudaMalloc(&d_data, std::max<size_t>(size, 1) * sizeof(double)));
            CUDA_CHECK(cudaMemset(d_data, 0xFF, std::max<size_t>(size, 1) * sizeof(double)));
            CUDA_CHECK(cudaDeviceSynchronize());
            all_.push_back(d_data);
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~OnRanks() {
        ranks_.wait();
        for (double* one : all_) cudaFree(one);
    }
    OnRanks(const OnRanks&) = delete;
    OnRanks& operator=(const OnRanks&) = delete;
    double* const* get() const { return all_.data(); }
    double* operator[](int r) const { return all_[r]; }
    // The values after the rank's work.
    Doubles values(int r) const { return values(r, size_); }
    Doubles values(int r, size_t size) const {
        Doubles found(size);
        CUDA_CHECK(cudaSetDevice(ranks_[r].device));
        CUDA_CHECK(cudaStreamSynchronize(ranks_[r].stream));
        if (size) {
            const size_t bytes = size * sizeof(double);
            CUDA_CHECK(cudaMemcpy(found.data(), all_[r], bytes, cudaMemcpyDeviceToHost));
        }
        CUDA_CHECK(cudaSetDevice(0));
        return found;
    }

private:
    const Ranks& ranks_;
    size_t size_;
    std::vector<double*> all_;
};

// An all-reduce by the test, so that tasks 2 to 4 need none of the later ones: all data goes to the
// host, where a function in rank 0's stream adds it. The caller does not wait.
class HostCommunicator final : public Communicator {
public:
    HostCommunicator(const Ranks& ranks, int max_n)
        : Communicator(ranks.get(), ranks.count()), total_(max_n), events_(ranks.count()) {
        for (int r = 0; r < count(); ++r) {
            data_.push_back(std::make_unique<Pinned>(max_n));
            CUDA_CHECK(cudaSetDevice(rank(r).device));
            CUDA_CHECK(cudaEventCreateWithFlags(&events_[r], cudaEventDisableTiming));
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~HostCommunicator() override {
        for (int r = 0; r < count(); ++r) cudaStreamSynchronize(rank(r).stream);
        for (cudaEvent_t event : events_) cudaEventDestroy(event);
    }
    void all_reduce_sum(double* const* d_data, int n) override {
        sizes.push_back(n);
        const size_t bytes = n * sizeof(double);
        const cudaStream_t first = rank(0).stream;
        for (int r = 0; r < count(); ++r) {
            const cudaStream_t stream = rank(r).stream;
            CUDA_CHECK(
                cudaMemcpyAsync(data_[r]->get(), d_data[r], bytes, cudaMemcpyDeviceToHost, stream));
            CUDA_CHECK(cudaEventRecord(events_[r], stream));
            if (r > 0) CUDA_CHECK(cudaStreamWaitEvent(first, events_[r], 0));
        }
        sums_.push_back(std::make_unique<Sum>(Sum{this, n}));
        CUDA_CHECK(cudaLaunchHostFunc(
            first,
            [](void* of) {
                const auto& [self, size] = *static_cast<Sum*>(of);
                for (int i = 0; i < size; ++i) {
                    double sum = 0;
                    for (const auto& one : self->data_) sum += one->get()[i];
                    self->total_.get()[i] = sum;
                }
            },
            sums_.back().get()));
        CUDA_CHECK(cudaEventRecord(events_[0], first));
        for (int r = 1; r < count(); ++r)
            CUDA_CHECK(cudaStreamWaitEvent(rank(r).stream, events_[0], 0));
        for (int r = 0; r < count(); ++r) {
            const cudaStream_t stream = rank(r).stream;
            CUDA_CHECK(
                cudaMemcpyAsync(d_data[r], total_.get(), bytes, cudaMemcpyHostToDevice, stream));
            if (r > 0) CUDA_CHECK(cudaEventRecord(events_[r], stream));
        }
        // `total_` may change again once all have read it.
        for (int r = 1; r < count(); ++r) CUDA_CHECK(cudaStreamWaitEvent(first, events_[r], 0));
    }
    std::vector<int> sizes;  // one for each call so far

private:
    struct Sum {
        HostCommunicator* self;
        int n;
    };
    std::vector<std::unique_ptr<Pinned>> data_;
    Pinned total_;
    std::vector<cudaEvent_t> events_;
    std::vector<std::unique_ptr<Sum>> sums_;
};

// The shards of a regression, their arrays as large as the interface promises.
class Shards {
public:
    Shards(const Ranks& ranks, Shape shape)
        : shape_(shape), most_(size_t(shape.rows / ranks.count()) + 1),
          x_(ranks, most_ * shape.features), y_(ranks, most_ * shape.outputs),
          errors_(ranks, most_ * shape.outputs), w_(ranks, weights()), gradient_(ranks, weights()) {
        for (int r = 0; r < ranks.count(); ++r)
            all_.push_back({-1, x_[r], y_[r], errors_[r], w_[r], gradient_[r]});
    }
    size_t weights() const { return size_t(shape_.features) * shape_.outputs; }
    Shard* get() { return all_.data(); }
    const Shard& operator[](int r) const { return all_[r]; }
    Doubles x(int r) const { return x_.values(r, size_t(all_[r].rows) * shape_.features); }
    Doubles y(int r) const { return y_.values(r, size_t(all_[r].rows) * shape_.outputs); }
    Doubles w(int r) const { return w_.values(r); }

private:
    Shape shape_;
    size_t most_;
    OnRanks x_, y_, errors_, w_, gradient_;
    std::vector<Shard> all_;
};

// Numbers whose products and sums are all exact in double: multiples of 1/16.
inline Doubles exact_doubles(size_t n, uint64_t seed) {
    Doubles values;
    for (const int number : wb::random_ints(n, seed, -1000, 1000)) values.push_back(number / 16.0);
    return values;
}

inline Doubles random_doubles(size_t n, uint64_t seed, double low = -1, double high = 1) {
    Doubles values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] = low + (high - low) * double(wb::random_bits(seed, i) >> 11) * 0x1p-53;
    return values;
}

inline double squares_of(const Doubles& values, size_t first, size_t count) {
    double sum = 0;
    for (size_t i = first; i < first + count; ++i) sum += values[i] * values[i];
    return sum;
}

// The same weights as launch_start_weights.
inline Doubles start_weights(size_t n, unsigned seed) {
    Doubles w(n);
    for (unsigned i = 0; i < n; ++i) {
        unsigned bits = ((i + 1) * 2654435769u) ^ ((seed + 1) * 2246822519u);
        bits = (bits ^ (bits >> 15)) * 2654435769u;
        w[i] = (bits >> 8) * 0x1p-27 - 0.0625;
    }
    return w;
}

// Data of a regression: y is x w with other weights than the start weights, and a little noise.
struct Data {
    explicit Data(Shape of, uint64_t seed = 1)
        : shape(of), x(random_doubles(size_t(of.rows) * of.features, seed)),
          y(random_doubles(size_t(of.rows) * of.outputs, seed + 1, -0.01, 0.01)),
          truth(random_doubles(size_t(of.features) * of.outputs, seed + 2)) {
        for (int row = 0; row < of.rows; ++row)
            for (int o = 0; o < of.outputs; ++o)
                for (int f = 0; f < of.features; ++f)
                    y[size_t(row) * of.outputs + o] +=
                        x[size_t(row) * of.features + f] * truth[size_t(f) * of.outputs + o];
    }
    // The gradient of the sum of |x w - y|^2 over these rows.
    Doubles gradient(const Doubles& w, int first, int count) const {
        Doubles sum(w.size());
        for (size_t row = first; row < size_t(first) + count; ++row)
            for (int o = 0; o < shape.outputs; ++o) {
                double error = -y[row * shape.outputs + o];
                for (int f = 0; f < shape.features; ++f)
                    error += x[row * shape.features + f] * w[size_t(f) * shape.outputs + o];
                for (int f = 0; f < shape.features; ++f)
                    sum[size_t(f) * shape.outputs + o] += 2 * error * x[row * shape.features + f];
            }
        return sum;
    }
    Shape shape;
    Doubles x, y, truth;
};

inline void move(Doubles& w, const Doubles& gradient, double factor) {
    for (size_t i = 0; i < w.size(); ++i) w[i] -= factor * gradient[i];
}

}  // namespace
