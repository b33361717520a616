// SPDX-License-Identifier: MIT
// The timed work of lesson 34: 1000 steps of a rod so short that a launch takes longer than a step.
// The solver makes its recording before the timing starts.
#include "cuda_graphs.h"
#include "workloads/workload_data.h"

#include <utility>

namespace {

constexpr float kRate = 0.25f;

class Steps : public wb::Workload {
public:
    Steps(size_t n, int steps_per_replay, int steps)
        : steps_(steps), start_(wb::random_floats(n, 34, 0, 100)), d_heat_(n), d_scratch_(n),
          solver_({d_heat_.get(), d_scratch_.get(), int(n)}, kRate, steps_per_replay) {}
    void prepare() override { d_heat_.upload(start_); }
    void run() override { solver_.advance(steps_, nullptr); }
    void reference() override {
        std::vector<double> heat(start_.begin(), start_.end()), next = heat;
        for (int step = 0; step < steps_; ++step) {
            for (size_t i = 1; i + 1 < heat.size(); ++i)
                next[i] = heat[i] + double(kRate) * (heat[i - 1] - 2 * heat[i] + heat[i + 1]);
            std::swap(heat, next);
        }
        want_.assign(heat.begin(), heat.end());
    }
    size_t reference_elements() const override { return start_.size(); }
    std::string verify() override {
        // Each step adds less than 4 roundings of a number below 400.
        const double tolerance = 4 * 0x1p-24 * 400 * steps_;
        return wb::mismatch(d_heat_.download(), want_, [=](size_t) { return tolerance; });
    }
    double bytes() const override { return 8.0 * double(start_.size()) * steps_; }

private:
    int steps_;
    std::vector<float> start_, want_;
    wb::DeviceBuffer<float> d_heat_, d_scratch_;
    HeatSolver solver_;
};

class WholeReplays final : public Steps {
public:
    explicit WholeReplays(size_t n) : Steps(n, 50, 1000) {}
};
WORKLOAD(WholeReplays, "1000 steps, 50 for each replay", 4096, 1003);

class Remainder final : public Steps {
public:
    explicit Remainder(size_t n) : Steps(n, 50, 1049) {}
};
WORKLOAD(Remainder, "1049 steps, 50 for each replay", 4096, 1003);

}  // namespace
