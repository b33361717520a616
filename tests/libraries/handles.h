// SPDX-License-Identifier: MIT
// Handles of cuBLAS and cuSOLVER that live as long as a test.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "catch/catch.h"

namespace lab {

struct Blas {
    Blas() { REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS); }
    ~Blas() { cublasDestroy(handle); }
    operator cublasHandle_t() const { return handle; }
    cublasHandle_t handle = nullptr;
};
struct Solver {
    Solver() { REQUIRE(cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS); }
    ~Solver() { cusolverDnDestroy(handle); }
    operator cusolverDnHandle_t() const { return handle; }
    cusolverDnHandle_t handle = nullptr;
};

}  // namespace lab
