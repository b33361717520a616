// SPDX-License-Identifier: MIT
// cuSPARSE on the work of lesson 28: products with sparse matrices.
#include <cusparse.h>

#include "common/harness/workloads/segments.h"

#include <stdexcept>

namespace {

void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

template <wb::Rows kRows>
class Product : public wb::SparseProduct<kRows> {
public:
    explicit Product(size_t n) : wb::SparseProduct<kRows>(n) {
        check(cusparseCreate(&handle_));
        const auto rows = int64_t(this->rows_);
        check(cusparseCreateCsr(&matrix_,
                                rows,
                                rows,
                                int64_t(n),
                                this->d_row_begin_.get(),
                                this->d_column_.get(),
                                this->value_.get(),
                                CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO,
                                CUDA_R_32F));
        check(cusparseCreateDnVec(&x_, rows, this->d_x_.get(), CUDA_R_32F));
        check(cusparseCreateDnVec(&y_, rows, this->d_y_.get(), CUDA_R_32F));
        size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle_,
                                      CUSPARSE_OPERATION_NON_TRANSPOSE,
                                      &kOne,
                                      matrix_,
                                      x_,
                                      &kNothing,
                                      y_,
                                      CUDA_R_32F,
                                      CUSPARSE_SPMV_ALG_DEFAULT,
                                      &bytes));
        CUDA_CHECK(cudaMalloc(&buffer_, bytes + 1));
    }
    ~Product() override {
        cudaFree(buffer_);
        cusparseDestroyDnVec(y_);
        cusparseDestroyDnVec(x_);
        cusparseDestroySpMat(matrix_);
        cusparseDestroy(handle_);
    }
    void run() override {
        check(cusparseSpMV(handle_,
                           CUSPARSE_OPERATION_NON_TRANSPOSE,
                           &kOne,
                           matrix_,
                           x_,
                           &kNothing,
                           y_,
                           CUDA_R_32F,
                           CUSPARSE_SPMV_ALG_DEFAULT,
                           buffer_));
    }

private:
    static constexpr float kOne = 1, kNothing = 0;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
    void* buffer_ = nullptr;
};
struct ShortRows final : Product<wb::Rows::kShort> {
    using Product::Product;
};
WORKLOAD(ShortRows, "multiplies short rows", 1 << 27, 100003);
struct Band final : Product<wb::Rows::kBand> {
    using Product::Product;
};
WORKLOAD(Band, "multiplies rows of 64 entries", 1 << 27, 100003);
struct UnequalRows final : Product<wb::Rows::kUnequal> {
    using Product::Product;
};
WORKLOAD(UnequalRows, "multiplies unequal rows", 1 << 27, 100003);

}  // namespace
