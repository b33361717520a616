// SPDX-License-Identifier: MIT
// Converts cuBLAS's options to those of CBLAS.
#pragma once

#include <cblas.h>

#include "cublas_v2.h"

namespace blas {

inline CBLAS_TRANSPOSE to_cblas(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO to_cblas(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_SIDE to_cblas(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline CBLAS_DIAG to_cblas(cublasDiagType_t diagonal) {
    return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

}  // namespace blas
