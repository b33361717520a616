// SPDX-License-Identifier: MIT
// What is timed of lesson 05: a pipeline whose data travel to the card and back.
#include "host_device_memory.h"
#include "workloads/workload_data.h"

namespace {

class Pipeline final : public wb::Workload {
public:
    explicit Pipeline(size_t n)
        : input_(wb::random_floats(n, 1)), steps_{{2, 1}, {0.5f, -3}, {4, 0.25f}} {}
    void run() override { output_ = run_pipeline(input_, steps_); }
    void reference() override {
        want_.resize(input_.size());
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                want_[i] = input_[i];
                for (const Step step : steps_) want_[i] = want_[i] * step.factor + step.summand;
            }
        });
    }
    size_t reference_elements() const override { return input_.size(); }
    std::string verify() override {
        return wb::mismatch(output_, want_, [](size_t) { return 1e-5; });
    }
    double bytes() const override { return 8.0 * double(input_.size()); }
    bool on_host() const override { return true; }

private:
    std::vector<float> input_, output_, want_;
    std::vector<Step> steps_;
};
WORKLOAD(Pipeline, "three steps, with both transfers", 1 << 24, 100003);

}  // namespace
