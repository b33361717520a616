// SPDX-License-Identifier: MIT
// Lesson 31, libraries: a product, a linear system, singular values and a filter, with calls of
// cuBLAS, cuSOLVER and cuFFT.
// Start with README.md in this directory; `make 31` checks this file.
#include "libraries.h"

Libraries open_libraries(cudaStream_t stream, int samples) {
    Libraries libraries{stream, nullptr, nullptr, 0, 0, samples};
    // TODO 1 (about 8 lines): create the handles of cuBLAS and cuSOLVER and both plans of cuFFT,
    // CUFFT_R2C and CUFFT_C2R. Set the stream of all four. Check every status.
    LIBRARY_CHECK(cublasCreate(&libraries.blas));
    LIBRARY_CHECK(cublasSetStream(libraries.blas, stream));
    LIBRARY_CHECK(cusolverDnCreate(&libraries.solver));
    LIBRARY_CHECK(cusolverDnSetStream(libraries.solver, stream));
    LIBRARY_CHECK(cufftPlan1d(&libraries.forward, samples, CUFFT_R2C, 1));
    LIBRARY_CHECK(cufftSetStream(libraries.forward, stream));
    LIBRARY_CHECK(cufftPlan1d(&libraries.inverse, samples, CUFFT_C2R, 1));
    LIBRARY_CHECK(cufftSetStream(libraries.inverse, stream));
    // END 1
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
    // TODO 2 (about 5 lines): call cublasSgemm once. It reads and writes columns: which matrices
    // does it see in the rows of A, B and C?
    const auto [m, n, k, a_pitch, b_pitch, c_pitch] = sizes;
    LIBRARY_CHECK(cublasSgemm(libraries.blas,
                              CUBLAS_OP_N,
                              CUBLAS_OP_N,
                              n,
                              m,
                              k,
                              &alpha,
                              d_b,
                              b_pitch,
                              d_a,
                              a_pitch,
                              &beta,
                              d_c,
                              c_pitch));
    // END 2
}

// Waits for cuSOLVER and returns the number that it stored at d_info: 0 for success.
[[maybe_unused]] static int info_of(const Libraries& libraries, const int* d_info) {
    int info = 0;
    CUDA_CHECK(
        cudaMemcpyAsync(&info, d_info, sizeof info, cudaMemcpyDeviceToHost, libraries.stream));
    CUDA_CHECK(cudaStreamSynchronize(libraries.stream));
    return info;
}

bool solve([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] int n,
           [[maybe_unused]] int count, [[maybe_unused]] float* d_a, [[maybe_unused]] float* d_b) {
    // TODO 3 (about 12 lines): ask cusolverDnSgetrf_bufferSize how much memory it needs, and
    // factorise with cusolverDnSgetrf. If info_of returns 0, solve with cusolverDnSgetrs. The
    // factors are those of A^T: which operation solves with A?
    //| return true;
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
    // END 3
}

bool singular_values([[maybe_unused]] const Libraries& libraries, [[maybe_unused]] int n,
                     [[maybe_unused]] float* d_a, [[maybe_unused]] float* d_u,
                     [[maybe_unused]] float* d_s, [[maybe_unused]] float* d_vt) {
    // TODO 4 (about 7 lines): ask cusolverDnSgesvd_bufferSize, and call cusolverDnSgesvd with 'A'
    // for all of U and all of V^T. It sees A^T: what are U and V^T of A^T?
    //| return true;
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
    // END 4
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
    // TODO 5 (about 7 lines): transform d_in into a Scratch of samples / 2 + 1 numbers, launch
    // low_pass_kernel in the stream, and transform back into d_out. cuFFT's transforms are not
    // normalised: with which scale does the inverse transform give back the samples?
    const int samples = libraries.samples, numbers = samples / 2 + 1;
    Scratch<cufftComplex> spectrum(numbers, libraries.stream);
    // cufftExecR2C takes no pointer to const, but does not write to its input.
    LIBRARY_CHECK(cufftExecR2C(libraries.forward, const_cast<float*>(d_in), spectrum.get()));
    low_pass_kernel<<<(numbers + 255) / 256, 256, 0, libraries.stream>>>(
        spectrum.get(), numbers, keep, 1.0f / samples);
    CUDA_CHECK(cudaGetLastError());
    LIBRARY_CHECK(cufftExecC2R(libraries.inverse, spectrum.get(), d_out));
    // END 5
}
