// SPDX-License-Identifier: MIT
// cuBLAS on the work of lessons 02, 16, 29, 30 and 31: a vector added to another, a transpose, and
// products of matrices of float and of half.
#include <cublas_v2.h>

#include "common/harness/workloads/products.h"
#include "common/harness/workloads/workload_data.h"

#include <cmath>

namespace {

void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

class Handle {
public:
    Handle() { check(cublasCreate(&handle_)); }
    ~Handle() { cublasDestroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator cublasHandle_t() const { return handle_; }

private:
    cublasHandle_t handle_ = nullptr;
};

// y += x, in place: two reads and a write for each element, as an addition into a third array.
class Add final : public wb::Elementwise<float> {
public:
    explicit Add(size_t n)
        : Elementwise(n), a_(wb::repeated_floats(n, 1)), b_(wb::repeated_floats(n, 2)) {}
    void prepare() override {
        CUDA_CHECK(
            cudaMemcpyAsync(d_out_.get(), b_.get(), n_ * sizeof(float), cudaMemcpyDeviceToDevice));
    }
    void run() override {
        const float one = 1;
        check(cublasSaxpy(handle_, int(n_), &one, a_.get(), 1, d_out_.get(), 1));
    }
    void fill(size_t begin, size_t end) override {
        for (size_t i = begin; i < end; ++i) want_[i] = a_.values()[i] + b_.values()[i];
    }
    double bytes() const override { return 12.0 * double(n_); }

private:
    Handle handle_;
    wb::Repeated<float> a_, b_;
};
WORKLOAD(Add, "adds two vectors", 1 << 28, 100003);

class Transpose final : public wb::Workload {
public:
    explicit Transpose(size_t n)
        : side_(int(std::sqrt(double(n)))), in_(wb::repeated_floats(size_t(side_) * side_, 3)),
          d_out_(in_.size()) {}
    void run() override {
        const float one = 1, nothing = 0;
        check(cublasSgeam(handle_,
                          CUBLAS_OP_T,
                          CUBLAS_OP_N,
                          side_,
                          side_,
                          &one,
                          in_.get(),
                          side_,
                          &nothing,
                          in_.get(),
                          side_,
                          d_out_.get(),
                          side_));
    }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {
        const auto& values = in_.values();
        return wb::device_mismatch<float>(d_out_.get(), in_.size(), [&](size_t i) {
            return values[(i % side_ * side_ + i / side_) % values.size()];
        });
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    Handle handle_;
    int side_;
    wb::Repeated<float> in_;
    wb::DeviceBuffer<float> d_out_;
};
WORKLOAD(Transpose, "transposes through a tile", 1 << 28, 65536);

// In full float: cuBLAS rounds no input unless it is asked to. It reads and writes columns, so that
// the row-major A, B and C are transposed to it: C' = B' A'.
class Multiply : public wb::SquareProduct {
public:
    using SquareProduct::SquareProduct;
    void run() override {
        const float one = 1, nothing = 0;
        check(cublasSgemm(handle_,
                          CUBLAS_OP_N,
                          CUBLAS_OP_N,
                          side_,
                          side_,
                          side_,
                          &one,
                          b_.get(),
                          side_,
                          a_.get(),
                          side_,
                          &nothing,
                          d_c_.get(),
                          side_));
    }

private:
    Handle handle_;
};

struct MultiplyLarge final : Multiply {
    using Multiply::Multiply;
};
WORKLOAD(Multiply, "multiplies matrices of 4096 x 4096", 1 << 24, 128 * 128);
WORKLOAD(MultiplyLarge, "multiplies matrices of 8192 x 8192", 1 << 26, 101 * 101);

// Halves with sums in float, and a product of floats.
class MultiplyHalves : public wb::SquareProductOf<half> {
public:
    using SquareProductOf::SquareProductOf;
    void run() override {
        const float one = 1, nothing = 0;
        check(cublasGemmEx(handle_,
                           CUBLAS_OP_N,
                           CUBLAS_OP_N,
                           side_,
                           side_,
                           side_,
                           &one,
                           b_.get(),
                           CUDA_R_16F,
                           side_,
                           a_.get(),
                           CUDA_R_16F,
                           side_,
                           &nothing,
                           d_c_.get(),
                           CUDA_R_32F,
                           side_,
                           CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT));
    }

private:
    Handle handle_;
};

struct MultiplyHalvesLarge final : MultiplyHalves {
    using MultiplyHalves::MultiplyHalves;
};
WORKLOAD(MultiplyHalves, "multiplies halves, 4096 x 4096", 1 << 24, 128 * 128);
WORKLOAD(MultiplyHalvesLarge, "multiplies halves, 8192 x 8192", 1 << 26, 101 * 101);

}  // namespace
