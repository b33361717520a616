// SPDX-License-Identifier: MIT
// What is timed of lesson 12: the Mandelbrot set in double and in float, three columns to two rows.
#include "divergence_mandelbrot.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

// About n pixels. The reference leaves out rows of a large picture, and the comparison allows one
// in ten thousand pixels another count: where |z| grazes 2, an fma decides.
template <class T>
class Picture : public wb::Workload {
public:
    explicit Picture(size_t n)
        : height_(std::max(2, int(std::sqrt(double(n) / 1.5)))), width_(height_ * 3 / 2),
          step_(n > 1'000'000 ? 16 : 1), d_pixels_(size_t(height_) * width_) {}
    void run() override { mandelbrot<T>(d_pixels_.get(), height_, width_, width_); }
    void reference() override {
        const int rows = (height_ + step_ - 1) / step_;
        want_.resize(size_t(rows) * width_);
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t k = begin; k < end; ++k) {
                const int row = int(k / width_) * step_, column = int(k % width_);
                const T ci = T(-1) + T(1) / T(height_ - 1) * T(row);
                const T cr = T(-1.5) + T(1.5) / T(width_ - 1) * T(column);
                T zr = cr, zi = ci;
                int trips = 0;
                for (; trips < kMostSteps; ++trips) {
                    const T next = zr * zr - zi * zi + cr;
                    zi = 2 * zr * zi + ci;
                    zr = next;
                    if (zr * zr + zi * zi > 4) break;
                }
                want_[k] = trips;
            }
        });
    }
    size_t reference_elements() const override {
        return size_t((height_ + step_ - 1) / step_) * width_;
    }
    std::string verify() override {
        const std::vector<int> got = d_pixels_.download();
        size_t wrong = 0;
        for (size_t k = 0; k < want_.size(); ++k)
            wrong += got[k / width_ * step_ * width_ + k % width_] != want_[k];
        for (const int pixel : got) wrong += pixel < 0 || pixel > kMostSteps;
        if (wrong <= want_.size() / 10'000) return "";
        return std::to_string(wrong) + " pixels are wrong";
    }
    double bytes() const override { return 4.0 * double(d_pixels_.size()); }
    const char* unit() const override { return "pixels"; }

private:
    int height_, width_, step_;
    wb::DeviceBuffer<int> d_pixels_;
    std::vector<int> want_;
};
struct InDouble final : Picture<double> {
    using Picture::Picture;
};
struct InFloat final : Picture<float> {
    using Picture::Picture;
};
WORKLOAD(InDouble, "Mandelbrot set in double", 24'000'000, 100003);
WORKLOAD(InFloat, "Mandelbrot set in float", 24'000'000, 100003);

}  // namespace
