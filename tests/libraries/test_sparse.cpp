// SPDX-License-Identifier: MIT
// cuSPARSE: a CSR matrix times a vector.
#include <cusparse.h>

#include "lab.h"

using namespace lab;

namespace {
constexpr auto kOk = CUSPARSE_STATUS_SUCCESS;
}

// The matrix with rows (1 . 2), (. . .), (3 4 .), counted from 0 or from 1.
TEST_CASE("SpMV: plain and transposed, counted from 0 and from 1", "[sparse]") {
    const int base = GENERATE(0, 1);
    const bool transposed = GENERATE(false, true);
    Device<int> offsets(std::vector<int>{base, base + 2, base + 2, base + 4});
    Device<int> columns(std::vector<int>{base, base + 2, base, base + 1});
    Device<float> values(std::vector<float>{1, 2, 3, 4});
    Device<float> x(std::vector<float>{1, 10, 100}), y(std::vector<float>{5, 5, 5});
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t vec_x, vec_y;
    REQUIRE(cusparseCreate(&handle) == kOk);
    REQUIRE(cusparseCreateCsr(&a,
                              3,
                              3,
                              4,
                              offsets,
                              columns,
                              values,
                              CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I,
                              base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO,
                              CUDA_R_32F) == kOk);
    REQUIRE(cusparseCreateDnVec(&vec_x, 3, x, CUDA_R_32F) == kOk);
    REQUIRE(cusparseCreateDnVec(&vec_y, 3, y, CUDA_R_32F) == kOk);
    const float alpha = 2, beta = -1;
    const auto op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    REQUIRE(cusparseSpMV_bufferSize(handle,
                                    op,
                                    &alpha,
                                    a,
                                    vec_x,
                                    &beta,
                                    vec_y,
                                    CUDA_R_32F,
                                    CUSPARSE_SPMV_ALG_DEFAULT,
                                    &bytes) == kOk);
    Device<char> buffer(bytes);
    REQUIRE(cusparseSpMV(handle,
                         op,
                         &alpha,
                         a,
                         vec_x,
                         &beta,
                         vec_y,
                         CUDA_R_32F,
                         CUSPARSE_SPMV_ALG_DEFAULT,
                         buffer) == kOk);
    const std::vector<float> plain{2 * 201 - 5, -5, 2 * 43 - 5};
    const std::vector<float> flipped{2 * 301 - 5, 2 * 400 - 5, 2 * 2 - 5};
    CHECK(y.values() == (transposed ? flipped : plain));
    CHECK(cusparseDestroyDnVec(vec_x) == kOk);
    CHECK(cusparseDestroyDnVec(vec_y) == kOk);
    CHECK(cusparseDestroySpMat(a) == kOk);
    CHECK(cusparseDestroy(handle) == kOk);
}
