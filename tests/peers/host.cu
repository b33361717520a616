// SPDX-License-Identifier: MIT
// The same work on the CPU, by one core and by all: what a card has to beat.
#include "common/harness/workloads/workload_data.h"

#include <cmath>
#include <thread>

namespace {

// Calls work(begin, end) on one core or on all of them.
void on_cores(bool all, size_t n, const std::function<void(size_t, size_t)>& work) {
    const unsigned before = wb::host_threads();
    wb::host_threads() = all ? std::max(1u, std::thread::hardware_concurrency()) : 1;
    wb::in_parallel(n, work);
    wb::host_threads() = before;
}

template <bool kAll>
class Add : public wb::Workload {
public:
    explicit Add(size_t n) : a_(wb::random_floats(n, 1)), b_(wb::random_floats(n, 2)), out_(n) {}
    void run() override {
        on_cores(kAll, out_.size(), [&](size_t begin, size_t end) { add(begin, end, out_); });
    }
    void reference() override {
        want_.resize(out_.size());
        add(0, want_.size(), want_);
    }
    size_t reference_elements() const override { return out_.size(); }
    std::string verify() override { return wb::mismatch(out_, want_); }
    double bytes() const override { return 12.0 * double(out_.size()); }
    bool on_host() const override { return true; }

private:
    void add(size_t begin, size_t end, std::vector<float>& out) const {
        const float *a = a_.data(), *b = b_.data();
        float* to = out.data();
        for (size_t i = begin; i < end; ++i) to[i] = a[i] + b[i];
    }
    std::vector<float> a_, b_, out_, want_;
};
struct AddOne final : Add<false> {
    using Add::Add;
};
struct AddAll final : Add<true> {
    using Add::Add;
};
WORKLOAD(AddOne, "adds two vectors, one core", 1 << 25, 100003);
WORKLOAD(AddAll, "adds two vectors, all cores", 1 << 25, 100003);

constexpr int kSteps = 20;

template <bool kAll>
class Mandelbrot : public wb::Workload {
public:
    explicit Mandelbrot(size_t n)
        : height_(std::max(2, int(std::sqrt(double(n) / 1.5)))), width_(height_ * 3 / 2),
          pixels_(size_t(height_) * width_) {}
    void run() override {
        on_cores(
            kAll, pixels_.size(), [&](size_t begin, size_t end) { draw(begin, end, pixels_); });
    }
    void reference() override {
        want_.resize(pixels_.size());
        draw(0, want_.size(), want_);
    }
    size_t reference_elements() const override { return pixels_.size(); }
    std::string verify() override { return wb::mismatch(pixels_, want_); }
    double bytes() const override { return 4.0 * double(pixels_.size()); }
    bool on_host() const override { return true; }

private:
    void draw(size_t begin, size_t end, std::vector<int>& out) const {
        for (size_t k = begin; k < end; ++k) {
            const double ci = -1 + 1.0 / (height_ - 1) * double(k / width_);
            const double cr = -1.5 + 1.5 / (width_ - 1) * double(k % width_);
            double zr = cr, zi = ci;
            int trips = 0;
            for (; trips < kSteps; ++trips) {
                const double next = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = next;
                if (zr * zr + zi * zi > 4) break;
            }
            out[k] = trips;
        }
    }
    int height_, width_;
    std::vector<int> pixels_, want_;
};
struct MandelbrotOne final : Mandelbrot<false> {
    using Mandelbrot::Mandelbrot;
};
struct MandelbrotAll final : Mandelbrot<true> {
    using Mandelbrot::Mandelbrot;
};
WORKLOAD(MandelbrotOne, "Mandelbrot set in double, one core", 1'500'000, 10003);
WORKLOAD(MandelbrotAll, "Mandelbrot set in double, all cores", 24'000'000, 10003);

}  // namespace
