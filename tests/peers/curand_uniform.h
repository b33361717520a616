// SPDX-License-Identifier: MIT
// cuRAND's host library on the work of lesson 22, with one of its generators.
#pragma once

#include <curand.h>

#include "common/harness/workloads/workload_data.h"

inline void check(curandStatus_t status) {
    if (status != CURAND_STATUS_SUCCESS)
        throw std::runtime_error("cuRAND: status " + std::to_string(int(status)));
}

template <curandRngType_t kType>
class CurandUniform : public wb::Workload {
public:
    explicit CurandUniform(size_t n) : d_out_(n) {
        check(curandCreateGenerator(&generator_, kType));
        check(curandSetPseudoRandomGeneratorSeed(generator_, 7));
    }
    ~CurandUniform() override { curandDestroyGenerator(generator_); }
    void run() override { check(curandGenerateUniform(generator_, d_out_.get(), d_out_.size())); }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {  // what uniform numbers are, as nobody says which ones
        double sum = 0, squares = 0;
        const std::vector<float> got = d_out_.download();
        for (const float x : got) {
            if (!(x > 0 && x <= 1)) return "a value is " + wb::shown(x);
            sum += x;
            squares += double(x) * x;
        }
        const double n = double(got.size()), mean = sum / n, error = 5 / std::sqrt(n);
        if (std::fabs(mean - 0.5) > error) return "the mean is " + wb::shown(mean);
        if (std::fabs(squares / n - 1.0 / 3) > error) return "the spread is wrong";
        return "";
    }
    double bytes() const override { return 4.0 * double(d_out_.size()); }

private:
    curandGenerator_t generator_ = nullptr;
    wb::DeviceBuffer<float> d_out_;
};
