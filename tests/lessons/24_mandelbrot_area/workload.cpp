// SPDX-License-Identifier: MIT
// What is timed of lesson 24: deciding n samples of the box, on a grid that gives every thread
// many.
#include <atomic>

#include "mandelbrot_area.h"
#include "workloads/workload_data.h"

namespace {

constexpr uint64_t kSeed = 12345;
constexpr int kThreads = 128;
constexpr size_t kSamplesPerThread = 256;
constexpr size_t kRepeated = 1 << 20;  // samples that the host decides as well

struct Point {
    float x, y;
};

Point next(Point z, Point c) {
    return {std::fma(z.x, z.x, std::fma(-z.y, z.y, c.x)), std::fma(z.x + z.x, z.y, c.y)};
}

Counts host_counts(size_t begin, size_t end) {
    Counts counts{0, 0};
    for (size_t i = begin; i < end; ++i) {
        const uint64_t word = random_word(kSeed, i);
        const Point c{std::fma(kSide, unit_float(uint32_t(word >> 32)), kLeft),
                      std::fma(kSide, unit_float(uint32_t(word)), kBottom)};
        const double x = c.x, y = c.y, q = (x - 0.25) * (x - 0.25) + y * y;
        bool inside = q * (q + x - 0.25) <= y * y / 4 || (x + 1) * (x + 1) + y * y <= 1 / 16.0;
        bool decided = inside;
        Point hare{0, 0}, tortoise{0, 0};
        for (int trips = 0; !decided && trips < kMostTrips; ++trips) {
            hare = next(next(hare, c), c);
            tortoise = next(tortoise, c);
            const bool outside = std::fma(hare.x, hare.x, hare.y * hare.y) > 4;
            inside = !outside && hare.x == tortoise.x && hare.y == tortoise.y;
            decided = outside || inside;
        }
        counts.inside += inside;
        counts.undecided += !decided;
    }
    return counts;
}

class DecideSamples final : public wb::Workload {
public:
    explicit DecideSamples(size_t n)
        : n_(n), blocks_(int(std::max<size_t>(1, n / (kThreads * kSamplesPerThread)))),
          d_counts_(std::vector<unsigned long long>{0, 0}) {}
    void prepare() override { CUDA_CHECK(cudaMemsetAsync(d_counts_.get(), 0, sizeof(Counts))); }
    void run() override { count(n_); }
    void reference() override {
        std::atomic<unsigned long long> inside = 0, undecided = 0;
        wb::in_parallel(reference_elements(), [&](size_t begin, size_t end) {
            const Counts counts = host_counts(begin, end);
            inside += counts.inside;
            undecided += counts.undecided;
        });
        want_ = {inside, undecided};
    }
    size_t reference_elements() const override { return std::min(n_, kRepeated); }
    // All samples by the area, whose error is known; and exactly those that the host has decided,
    // in a launch of their own.
    std::string verify() override {
        const Counts all = download();
        const double n = double(n_), margin = 4.5 * double(all.undecided) / n;
        const double area = 9 * double(all.inside) / n + margin;
        if (!(std::fabs(area - 1.50659) <= 5 * 3.36 / std::sqrt(n) + margin))
            return "the area is " + wb::shown(area) + ", more than 5 sigma off";
        prepare();
        count(reference_elements());
        const Counts got = download();
        if (got.inside == want_.inside && got.undecided == want_.undecided) return "";
        return wb::shown(got.inside) + " inside and " + wb::shown(got.undecided) +
               " undecided, want " + wb::shown(want_.inside) + " and " + wb::shown(want_.undecided);
    }
    double bytes() const override { return sizeof(Counts); }
    const char* unit() const override { return "points"; }

private:
    void count(size_t n) {
        count_flat(
            kSeed, 0, n, kMostTrips, reinterpret_cast<Counts*>(d_counts_.get()), blocks_, kThreads);
    }
    Counts download() const {
        const auto counts = d_counts_.download();
        return {counts[0], counts[1]};
    }

    size_t n_;
    int blocks_;
    Counts want_{0, 0};
    wb::DeviceBuffer<unsigned long long> d_counts_;
};
WORKLOAD(DecideSamples, "decides samples of the Mandelbrot set", size_t(1) << 27, 20011);

}  // namespace
