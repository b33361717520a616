// SPDX-License-Identifier: MIT
// The work of a selection: random floats, of which those above a limit are kept in their order, and
// a check of all that are kept. Lesson 26 and the libraries differ in run() alone.
#pragma once

#include "workload_data.h"

namespace wb {

// Floats of [0, 1), of which `kPercent` in a hundred are above the limit. With kOthersToo, a
// partition: the others are kept too, in their order.
template <int kPercent, bool kOthersToo = false>
class Selection : public Workload {
public:
    explicit Selection(size_t n) : x_(repeated_floats(n, 1, 0, 1)), d_out_(n) {
        for (size_t i = 0; i < x_.values().size(); ++i)
            if (x_.values()[i] > kLimit) kept_ += x_.count(i);
    }
    void reference() override {
        for (const float value : x_.values()) (value > kLimit ? first_ : then_).push_back(value);
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {
        if (uint64_t(got_) != kept_)
            return "got " + std::to_string(got_) + " elements, want " + std::to_string(kept_);
        const auto in_turn = [](const std::vector<float>& part) {
            return [&part](size_t i) { return part[i % part.size()]; };
        };
        std::string text = device_mismatch<float>(d_out_.get(), kept_, in_turn(first_));
        if (kOthersToo && text.empty())
            text = device_mismatch<float>(others(), x_.size() - kept_, in_turn(then_));
        return text;
    }
    double bytes() const override {
        return 4.0 * double(x_.size() + (kOthersToo ? x_.size() : kept_));
    }

protected:
    static constexpr float kLimit = 1.0f - kPercent / 100.0f;
    // Where those are that do not pass: after the kept ones, unless run() stores them elsewhere.
    virtual const float* others() const { return d_out_.get() + kept_; }

    Repeated<float> x_;
    DeviceBuffer<float> d_out_;
    uint64_t kept_ = 0;
    int64_t got_ = 0;  // the number that run() got

private:
    std::vector<float> first_, then_;
};

}  // namespace wb
