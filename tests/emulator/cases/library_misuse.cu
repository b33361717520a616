// SPDX-License-Identifier: MIT
// What programs do wrong with a library: a handle or a plan for each use, a matrix that is not what
// the function is for, too small a workspace, entries that no matrix has.

// links: cublas cufft cusolver cusparse
// env: EMULATOR_CHECKS=api
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>

template <class T>
T* on_device(const T* values, int count) {
    T* out;
    cudaMalloc(&out, count * sizeof(T));
    cudaMemcpy(out, values, count * sizeof(T), cudaMemcpyHostToDevice);
    return out;
}

void scale_with_a_handle_each(float* x) {
    const float two = 2;
    for (int i = 0; i < 12; ++i) {
        cublasHandle_t handle;
        // expect: warning library-misuse "10 handles"
        if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
        cublasSscal(handle, 1, &two, x, 1);
        cublasDestroy(handle);
    }
}

void transform_with_a_plan_each(cufftComplex* x) {
    for (int i = 0; i < 12; ++i) {
        cufftHandle plan;
        // expect: library-misuse "10 plans"
        if (cufftPlan1d(&plan, 4, CUFFT_C2C, 1) != CUFFT_SUCCESS) return;
        cufftExecC2C(plan, x, x, CUFFT_FORWARD);
        cufftDestroy(plan);
    }
}

void eigenvalues_of_no_symmetric_matrix() {
    const double values[] = {2, 1, 5, 3};
    double *a = on_device(values, 4), *w, *work;
    int size = 0, *info;
    cusolverDnHandle_t handle;
    cusolverDnCreate(&handle);
    const auto mode = CUSOLVER_EIG_MODE_NOVECTOR;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    cudaMalloc(&w, 2 * sizeof *w);
    cudaMalloc(&info, sizeof *info);
    if (cusolverDnDsyevd_bufferSize(handle, mode, lower, 2, a, 2, w, &size) !=
        CUSOLVER_STATUS_SUCCESS)
        return;
    cudaMalloc(&work, size * sizeof *work);
    // expect: library-misuse "A(1,0) is 1.000000 but A(0,1) is 5.000000"
    if (cusolverDnDsyevd(handle, mode, lower, 2, a, 2, w, work, size, info)) return;
    // expect: library-misuse "a workspace of 2 elements"
    if (cusolverDnDsyevd(handle, mode, lower, 2, a, 2, w, work, 2, info)) std::puts("refused");
    cusolverDnDestroy(handle);
}

// The column 3 of a matrix that has three.
void an_entry_outside_of_the_matrix(float* x, float* y) {
    const int offsets[] = {0, 1, 2}, columns[] = {0, 3};
    const float values[] = {1, 2}, one = 1, zero = 0;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t in, out;
    cusparseCreate(&handle);
    cusparseCreateCsr(&a,
                      2,
                      3,
                      2,
                      on_device(offsets, 3),
                      on_device(columns, 2),
                      on_device(values, 2),
                      CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_32F);
    cusparseCreateDnVec(&in, 3, x, CUDA_R_32F);
    cusparseCreateDnVec(&out, 2, y, CUDA_R_32F);
    // expect: library-misuse "entry 1, in row 1, is in column 3"
    cusparseSpMV(handle,
                 CUSPARSE_OPERATION_NON_TRANSPOSE,
                 &one,
                 a,
                 in,
                 &zero,
                 out,
                 CUDA_R_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT,
                 nullptr);
}

// The 8 floats at `x` hold 4 complex numbers.
int main() {
    const float values[8] = {};
    float* x = on_device(values, 8);
    scale_with_a_handle_each(x);
    transform_with_a_plan_each(reinterpret_cast<cufftComplex*>(x));
    eigenvalues_of_no_symmetric_matrix();
    an_entry_outside_of_the_matrix(x, x + 4);
}
