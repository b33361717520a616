// SPDX-License-Identifier: MIT
// What workloads share: device arrays of gigabytes that are made and checked in well under a
// second. Random data of a few million elements are repeated until the array is
// full; the results are compared in whole, piece by piece.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/host/cuda_check.h"
#include "common/host/data.h"
#include "common/host/device_buffer.h"
#include "report/compare.h"
#include "workload.h"

namespace wb {

// NCCL's version as NVIDIA writes it, of the number that ncclGetVersion gives.
inline std::string nccl_name(int version) {
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
           "." + std::to_string(version % 100);
}

// Threads that reference() may use; 1 where the time of one core is wanted.
inline unsigned& host_threads() {
    static unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    return threads;
}

// Calls work(begin, end) for parts that together make up [0, n), each on a thread of its own.
inline void in_parallel(size_t n, const std::function<void(size_t, size_t)>& work) {
    const size_t parts = std::min<size_t>(host_threads(), n / 4096 + 1);
    if (parts == 1) return work(0, n);
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failed(parts);
    for (size_t k = 0; k < parts; ++k)
        threads.emplace_back([&, k] {
            try {
                work(n / parts * k, k + 1 == parts ? n : n / parts * (k + 1));
            } catch (...) {
                failed[k] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failed)
        if (failure) std::rethrow_exception(failure);
}

// No power of two, and no multiple of a warp, a row or a block: what repeats does not fall into
// step with what the kernels do.
inline constexpr size_t kPeriod = 4'000'037;

// A vector of f(i), made by all threads.
template <class T>
std::vector<T> made_of(size_t n, const std::function<T(size_t)>& f) {
    std::vector<T> out(n);
    in_parallel(n, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) out[i] = f(i);
    });
    return out;
}

// `n` elements in device memory: element i is values[i % values.size()].
template <class T>
class Repeated {
public:
    Repeated(size_t n, std::vector<T> values) : values_(std::move(values)), device_(n) {
        if (n == 0) return;
        values_.resize(std::min(values_.size(), n));
        CUDA_CHECK(cudaMemcpy(
            device_.get(), values_.data(), values_.size() * sizeof(T), cudaMemcpyHostToDevice));
        for (size_t filled = values_.size(); filled < n; filled *= 2)
            CUDA_CHECK(cudaMemcpy(device_.get() + filled,
                                  device_.get(),
                                  std::min(filled, n - filled) * sizeof(T),
                                  cudaMemcpyDeviceToDevice));
    }
    T* get() { return device_.get(); }
    const T* get() const { return device_.get(); }
    size_t size() const { return device_.size(); }
    // One period on the host: all that is in the array when it is short.
    const std::vector<T>& values() const { return values_; }
    // How often element i of a period is in the array.
    uint64_t count(size_t i) const {
        return size() / values_.size() + (i < size() % values_.size() ? 1 : 0);
    }

private:
    std::vector<T> values_;
    DeviceBuffer<T> device_;
};

inline Repeated<float> repeated_floats(size_t n, uint64_t seed, float low = -1, float high = 1) {
    return {n, random_floats(std::min(n, kPeriod), seed, low, high)};
}
inline Repeated<int> repeated_ints(size_t n, uint64_t seed, int low, int high) {
    return {n, random_ints(std::min(n, kPeriod), seed, low, high)};
}
// Whole numbers as floats: their sums are exact while they stay below 2^24.
inline Repeated<float> repeated_whole_numbers(size_t n, uint64_t seed, int low, int high) {
    const std::vector<int> numbers = random_ints(std::min(n, kPeriod), seed, low, high);
    return {n, std::vector<float>(numbers.begin(), numbers.end())};
}

// Where a piece of an array starts, as the beginning of a message.
inline std::string from_element(size_t first) {
    if (first == 0) return {};
    std::ostringstream text;
    text << "from element " << first << " on: ";
    return text.str();
}

// Compares n elements in device memory with want(i), piece by piece and by all threads; "" or a
// text as of mismatch(), in which elements are numbered from the piece's start.
template <class T>
std::string device_mismatch(
    const T* got, size_t n, const std::function<T(size_t)>& want,
    const std::function<double(T)>& tolerance = [](T) { return 0.0; }) {
    constexpr size_t kPiece = size_t(1) << 24;
    std::vector<T> piece, wanted;
    for (size_t first = 0; first < n; first += kPiece) {
        piece.resize(std::min(kPiece, n - first));
        wanted.resize(piece.size());
        CUDA_CHECK(cudaMemcpy(
            piece.data(), got + first, piece.size() * sizeof(T), cudaMemcpyDeviceToHost));
        std::vector<uint8_t> bad(piece.size() / 4096 + 1, 0);
        in_parallel(bad.size(), [&](size_t begin, size_t end) {
            for (size_t b = begin; b < end; ++b)
                for (size_t i = b * 4096; i < std::min(piece.size(), (b + 1) * 4096); ++i) {
                    wanted[i] = want(first + i);
                    const bool same = piece[i] == wanted[i];
                    if (!same && !(difference(piece[i], wanted[i]) <= tolerance(wanted[i])))
                        bad[b] = 1;
                }
        });
        if (std::find(bad.begin(), bad.end(), 1) != bad.end())
            return from_element(first) +
                   wb::mismatch(piece, wanted, [&](size_t i) { return tolerance(wanted[i]); });
    }
    return "";
}

// The same for results that repeat as their inputs do.
template <class T>
std::string repeated_mismatch(
    const DeviceBuffer<T>& got, const std::vector<T>& period,
    const std::function<double(T)>& tolerance = [](T) { return 0.0; }) {
    std::vector<T> piece, first;
    for (size_t at = 0; at < got.size(); at += period.size()) {
        piece.resize(std::min(period.size(), got.size() - at));
        CUDA_CHECK(cudaMemcpy(
            piece.data(), got.get() + at, piece.size() * sizeof(T), cudaMemcpyDeviceToHost));
        // After the first period: the very same bytes need no second look.
        if (at && std::memcmp(piece.data(), first.data(), piece.size() * sizeof(T)) == 0) continue;
        const std::vector<T> want(period.begin(), period.begin() + piece.size());
        const std::string text =
            wb::mismatch(piece, want, [&](size_t i) { return tolerance(want[i]); });
        if (!text.empty()) return from_element(at) + text;
        if (at == 0) first = piece;
    }
    return "";
}

// A tolerance of `share` of the value's magnitude.
template <class T>
std::function<double(T)> relative_error(double share) {
    return [share](T want) { return share * std::fabs(double(want)); };
}

// Work that makes each output of the inputs with the same number: reference() is one period.
template <class Out>
class Elementwise : public Workload {
public:
    explicit Elementwise(size_t n) : n_(n), d_out_(n) {}
    size_t reference_elements() const override { return std::min(n_, kPeriod); }
    void reference() override {
        want_.resize(reference_elements());
        in_parallel(want_.size(), [&](size_t begin, size_t end) { fill(begin, end); });
    }
    std::string verify() override { return repeated_mismatch(d_out_, want_, tolerance_); }

protected:
    // want_[i] for the i in [begin, end).
    virtual void fill(size_t begin, size_t end) = 0;
    size_t n_;
    DeviceBuffer<Out> d_out_;
    std::vector<Out> want_;
    std::function<double(Out)> tolerance_ = [](Out) { return 0.0; };
};

}  // namespace wb
