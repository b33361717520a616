// SPDX-License-Identifier: MIT
// Libraries as they are meant: one handle, streams in order, the triangle that counts, operands of
// which only a part is there.

// links: cublas cufft cusolver cusparse curand
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>

constexpr int kN = 16;

__global__ void fill(float* x, float value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void lower_triangle(double* a, int n) {
    const int row = threadIdx.x, column = threadIdx.y;
    if (row >= column) a[row + column * n] = row == column ? n : 1;
}

template <class T>
T* allocate(int count) {
    T* out;
    cudaMalloc(&out, count * sizeof(T));
    return out;
}

int main() {
    // twin: library-misuse
    cublasHandle_t handle;
    if (cublasCreate(&handle)) return 1;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (cublasSetStream(handle, stream)) return 1;
    float *a = allocate<float>(kN * kN), *c = allocate<float>(kN * kN);
    fill<<<kN, kN, 0, stream>>>(a, 1);
    const float one = 1, zero = 0;
    // twin: race-global, uninitialized-global
    for (int i = 0; i < 20; ++i)
        if (cublasSgemm(
                handle, CUBLAS_OP_N, CUBLAS_OP_T, kN, kN, kN, &one, a, kN, a, kN, &zero, c, kN))
            return 1;
    // twin: out-of-bounds-global
    // Every second element, of an array that ends with the last one.
    float* strided = allocate<float>(2 * kN - 1);
    if (cudaMemsetAsync(strided, 0, (2 * kN - 1) * sizeof(float), stream)) return 1;
    if (cublasSaxpy(handle, kN, &one, a, 1, strided, 2)) return 1;
    float got = 0;
    if (cublasSdot(handle, kN, c, 1, a, 1, &got)) return 1;  // waits for the stream
    if (got != kN * kN) return 1;

    // twin: library-misuse, uninitialized-global
    // Only the lower triangle is there.
    double *m = allocate<double>(kN * kN), *w = allocate<double>(kN);
    lower_triangle<<<1, dim3(kN, kN)>>>(m, kN);
    cusolverDnHandle_t solver;
    if (cusolverDnCreate(&solver)) return 1;
    int size = 0, *info = allocate<int>(1);
    const auto mode = CUSOLVER_EIG_MODE_NOVECTOR;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    if (cusolverDnDsyevd_bufferSize(solver, mode, lower, kN, m, kN, w, &size)) return 1;
    double* work = allocate<double>(size);
    if (cusolverDnDsyevd(solver, mode, lower, kN, m, kN, w, work, size, info)) return 1;

    // twin: library-misuse
    // Plans of different sizes, each made once.
    for (int n = 4; n < 20; ++n) {
        cufftHandle own;
        if (cufftPlan1d(&own, n, CUFFT_R2C, 1) || cufftDestroy(own)) return 1;
    }

    // twin: library-misuse
    cufftHandle plan;
    if (cufftPlan1d(&plan, kN, CUFFT_R2C, 1)) return 1;
    auto* spectrum = allocate<cufftComplex>(kN / 2 + 1);
    for (int i = 0; i < 20; ++i)
        if (cufftExecR2C(plan, c, spectrum)) return 1;

    curandGenerator_t generator;
    if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT)) return 1;
    cudaDeviceSynchronize();
    if (curandGenerateUniform(generator, a, kN * kN)) return 1;

    curandDestroyGenerator(generator);
    cufftDestroy(plan);
    cusolverDnDestroy(solver);
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
    cudaFree(a), cudaFree(c), cudaFree(strided), cudaFree(m), cudaFree(w), cudaFree(work);
    cudaFree(info), cudaFree(spectrum);
}
