// Unusual: A product is a batch of one.
// SPDX-License-Identifier: MIT
// Lesson 31, libraries: a product, a linear system, singular values and a filter, by calls of
// cuBLAS, cuSOLVER and cuFFT.
// Start with README.md in this directory; `make 31` checks this file.
#include "libraries.h"

Libraries open_libraries(cudaStream_t stream, int samples) {
    Libraries libraries{stream, nullptr, nullptr, 0, 0, samples};
    LIBRARY_CHECK(cublasCreate(&libraries.blas));
    LIBRARY_CHECK(cublasSetStream(libraries.blas, stream));
    LIBRARY_CHECK(cusolverDnCreate(&libraries.solver));
    LIBRARY_CHECK(cusolverDnSetStream(libraries.solver, stream));
    LIBRARY_CHECK(cufftPlan1d(&libraries.forward, samples, CUFFT_R2C, 1));
    LIBRARY_CHECK(cufftSetStream(libraries.forward, stream));
    LIBRARY_CHECK(cufftPlan1d(&libraries.inverse, samples, CUFFT_C2R, 1));
    LIBRARY_CHECK(cufftSetStream(libraries.inverse, stream));
    return libraries;
}

void close_libraries(const Libraries& libraries) {
    if (!libraries.blas) return;
    LIBRARY_CHECK(cufftDestroy(libraries.inverse));
    LIBRARY_CHECK(cufftDestroy(libraries.forward));
    LIBRARY_CHECK(cusolverDnDestroy(libraries.solver));
    LIBRARY_CHECK(cublasDestroy(libraries.blas));
}

void multiply([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] Sizes sizes,
              [[maybe_unused]] float alpha, [[maybe_unused]] const float* d_a,
              [[maybe_unused]] const float* d_b, [[maybe_unused]] float beta,
              [[maybe_unused]] float* d_c) {
    const auto [m, n, k, a_pitch, b_pitch, c_pitch] = sizes;
    LIBRARY_CHECK(cublasSgemmStridedBatched(libraries.blas,
                                            CUBLAS_OP_N,
                                            CUBLAS_OP_N,
                                            n,
                                            m,
                                            k,
                                            &alpha,
                                            d_b,
                                            b_pitch,
                                            0,
                                            d_a,
                                            a_pitch,
                                            0,
                                            &beta,
                                            d_c,
                                            c_pitch,
                                            0,
                                            1));
}

// What cuSOLVER has stored at d_info: 0 if all went well. Waits until it is there.
[[maybe_unused]] static int info_of(const Libraries& libraries, const int* d_info) {
    int info = 0;
    CUDA_CHECK(
        cudaMemcpyAsync(&info, d_info, sizeof info, cudaMemcpyDeviceToHost, libraries.stream));
    CUDA_CHECK(cudaStreamSynchronize(libraries.stream));
    return info;
}

bool solve([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] int n,
           [[maybe_unused]] int count, [[maybe_unused]] float* d_a, [[maybe_unused]] float* d_b) {
    int size = 0;
    LIBRARY_CHECK(cusolverDnSgetrf_bufferSize(libraries.solver, n, n, d_a, n, &size));
    Scratch<float> work(size, libraries.stream);
    Scratch<int> pivots(n, libraries.stream), info(1, libraries.stream);
    LIBRARY_CHECK(
        cusolverDnSgetrf(libraries.solver, n, n, d_a, n, work.get(), pivots.get(), info.get()));
    if (info_of(libraries, info.get()) != 0) return false;
    LIBRARY_CHECK(cusolverDnSgetrs(
        libraries.solver, CUBLAS_OP_T, n, count, d_a, n, pivots.get(), d_b, n, info.get()));
    return true;
}

bool singular_values([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] int n,
                     [[maybe_unused]] float* d_a, [[maybe_unused]] float* d_u,
                     [[maybe_unused]] float* d_s, [[maybe_unused]] float* d_vt) {
    int size = 0;
    LIBRARY_CHECK(cusolverDnSgesvd_bufferSize(libraries.solver, n, n, &size));
    Scratch<float> work(size, libraries.stream);
    Scratch<int> info(1, libraries.stream);
    LIBRARY_CHECK(cusolverDnSgesvd(libraries.solver,
                                   'A',
                                   'A',
                                   n,
                                   n,
                                   d_a,
                                   n,
                                   d_s,
                                   d_vt,
                                   n,
                                   d_u,
                                   n,
                                   work.get(),
                                   size,
                                   nullptr,
                                   info.get()));
    return info_of(libraries, info.get()) == 0;
}

// One thread for each number of the spectrum: the first `keep` are multiplied by `scale`, the
// others become 0.
[[maybe_unused]] static __global__ void low_pass_kernel(cufftComplex* spectrum, int numbers,
                                                        int keep, float scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numbers) return;
    const float factor = i < keep ? scale : 0.0f;
    spectrum[i] = {spectrum[i].x * factor, spectrum[i].y * factor};
}

void low_pass([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] int keep,
              [[maybe_unused]] const float* d_in, [[maybe_unused]] float* d_out) {
    const int samples = libraries.samples, numbers = samples / 2 + 1;
    Scratch<cufftComplex> spectrum(numbers, libraries.stream);
    // cufftExecR2C takes no pointer to const, but does not write to its input.
    LIBRARY_CHECK(cufftExecR2C(libraries.forward, const_cast<float*>(d_in), spectrum.get()));
    low_pass_kernel<<<(numbers + 255) / 256, 256, 0, libraries.stream>>>(
        spectrum.get(), numbers, keep, 1.0f / samples);
    CUDA_CHECK(cudaGetLastError());
    LIBRARY_CHECK(cufftExecC2R(libraries.inverse, spectrum.get(), d_out));
}
