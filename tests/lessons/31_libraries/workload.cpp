// SPDX-License-Identifier: MIT
// The timed workloads of lesson 31: products of square matrices by cuBLAS, and a filter by cuFFT.
#include "libraries.h"
#include "workloads/products.h"

namespace {

// Handles and plans in the default stream, which the clock's events are in.
class Opened {
public:
    explicit Opened(int samples) : libraries_(open_libraries(nullptr, samples)) {}
    ~Opened() {
        try {
            close_libraries(libraries_);
        } catch (const std::exception&) {
        }
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    operator const Libraries&() const { return libraries_; }

private:
    Libraries libraries_;
};

class Multiply final : public wb::SquareProduct {
public:
    using SquareProduct::SquareProduct;
    void run() override {
        multiply(libraries_,
                 {side_, side_, side_, side_, side_, side_},
                 1,
                 a_.get(),
                 b_.get(),
                 0,
                 d_c_.get());
    }

private:
    Opened libraries_{16};
};
WORKLOAD(Multiply, "multiplies matrices of 4096 x 4096", 1 << 24, 101 * 101);

// A sum of two waves, of which one stays: the result is known without a transform.
class Filter final : public wb::Workload {
public:
    explicit Filter(size_t n) : samples_(int(n)), libraries_(samples_), d_in_(n), d_out_(n) {
        std::vector<float> in(n);
        want_.resize(n);
        for (size_t i = 0; i < n; ++i) {
            const double turn = 2 * M_PI * double(i) / double(n);
            want_[i] = float(std::cos(turn * kLow));
            in[i] = float(std::cos(turn * kLow) + 0.5 * std::sin(turn * kHigh));
        }
        d_in_.upload(in);
    }
    void run() override { low_pass(libraries_, kKeep, d_in_.get(), d_out_.get()); }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {
        const double tolerance = 8 * 0x1p-24 * (std::log2(samples_) + 2) * std::sqrt(samples_);
        return wb::device_mismatch<float>(
            d_out_.get(),
            size_t(samples_),
            [&](size_t i) { return want_[i]; },
            [=](float) { return tolerance; });
    }
    double bytes() const override { return 8.0 * samples_; }

private:
    static constexpr int kLow = 5, kHigh = 400, kKeep = 100;
    int samples_;
    Opened libraries_;
    wb::DeviceBuffer<float> d_in_, d_out_;
    std::vector<float> want_;
};
WORKLOAD(Filter, "filters samples", 1 << 20, 4099);

}  // namespace
