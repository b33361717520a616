// SPDX-License-Identifier: MIT
// Lesson 31, libraries: what libraries.cu implements and the test calls, and LIBRARY_CHECK and
// Scratch, which libraries.cu uses.
//
// Matrices are stored by rows: element (row, col) is at [row * pitch + col]. All work is done in
// the stream of `libraries`: that stream also computes the inputs and reads the outputs. A function
// returns before its work is done, unless it returns a result of the work.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap. Only
// the arrays that are named below as changed are changed.
//
// A call of a library that does not return its status for success throws LibraryError; a call of
// CUDA that fails, and a refused launch, throw wb::CudaError.
#pragma once

#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>

#include <cstring>

#include "cuda_check.h"

// The handles and plans of the libraries. Creating them is slow: do it once for a program.
struct Libraries {
    cudaStream_t stream;        // in which all work is done
    cublasHandle_t blas;        // cuBLAS
    cusolverDnHandle_t solver;  // cuSOLVER, dense matrices
    cufftHandle forward;        // cuFFT: `samples` real numbers to samples / 2 + 1 complex ones
    cufftHandle inverse;        // cuFFT: and back
    int samples;
};

// Creates the handles and the plans, and sets the stream of all four to `stream`. samples is 1 to
// 2^20. cuFFT refuses a plan for other sizes: LibraryError.
Libraries open_libraries(cudaStream_t stream, int samples);

// Destroys the handles and plans of open_libraries. The stream is not destroyed.
void close_libraries(const Libraries& libraries);

// A has m rows of k floats, B k rows of n, C m rows of n; all of them are 1 to 4096. Rows begin
// `pitch` floats apart; cuBLAS refuses a pitch that is smaller than its row: LibraryError.
struct Sizes {
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
};

// C = alpha A B + beta C. For beta = 0 the old contents of C are not used. The error of each
// element is at most (k + 2) 2^-24 times the sum of the magnitudes of all terms.
void multiply(const Libraries& libraries, Sizes sizes, float alpha, const float* d_a,
              const float* d_b, float beta, float* d_c);

// Solves A x = b for `count` right-hand sides. A has n rows of n floats, without gaps; the
// right-hand sides, n floats each, are stored one after the other, and each is replaced by its
// solution. The contents of A afterwards are not defined. n and count are 1 to 4096.
//
// Returns whether A could be factorised: if not, it is singular, and the right-hand sides are not
// changed. Otherwise no element of b - A x is larger than 8 n 2^-24 times the largest sum of |A|
// |x| in a row, even if A is nearly singular.
bool solve(const Libraries& libraries, int n, int count, float* d_a, float* d_b);

// Singular values: A = U S V^T, where S is a diagonal matrix, and U and V^T are orthogonal. All
// have n rows of n floats, without gaps; n is 1 to 1024. d_s gets the n numbers of the diagonal,
// the largest first. The contents of A afterwards are not defined.
//
// Returns whether the computation has converged.
bool singular_values(const Libraries& libraries, int n, float* d_a, float* d_u, float* d_s,
                     float* d_vt);

// Removes high frequencies: in the spectrum of libraries.samples floats the first `keep` numbers
// stay, and the others become 0. keep is 0 to samples / 2 + 1; with samples / 2 + 1 nothing is
// removed.
void low_pass(const Libraries& libraries, int keep, const float* d_in, float* d_out);

// --- for calls of libraries ----------------------------------------------------------------------

// Around every call of cuBLAS, cuSOLVER and cuFFT: throws LibraryError unless it succeeded.
#define LIBRARY_CHECK(call) library_check((call), #call, __FILE__, __LINE__)

class LibraryError : public std::exception {
public:
    // The text names the function of the call, without its arguments.
    LibraryError(const char* status, const char* call, const char* file, int line) {
        const int function = int(std::strcspn(call, "("));
        std::snprintf(text_, sizeof text_, "%s:%d: %.*s: %s", file, line, function, call, status);
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[1024];
};

inline void library_check(cublasStatus_t status, const char* call, const char* file, int line) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw LibraryError(cublasGetStatusName(status), call, file, line);
}

// cuSOLVER and cuFFT have no function for the names.
inline const char* name_of(cusolverStatus_t status) {
    switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
        return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
        return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
        return "CUSOLVER_STATUS_EXECUTION_FAILED";
    default:
        return "another status of cuSOLVER";
    }
}
inline const char* name_of(cufftResult status) {
    switch (status) {
    case CUFFT_INVALID_PLAN:
        return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
        return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
        return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
        return "CUFFT_INVALID_VALUE";
    case CUFFT_EXEC_FAILED:
        return "CUFFT_EXEC_FAILED";
    case CUFFT_INVALID_SIZE:
        return "CUFFT_INVALID_SIZE";
    default:
        return "another status of cuFFT";
    }
}
inline void library_check(cusolverStatus_t status, const char* call, const char* file, int line) {
    if (status != CUSOLVER_STATUS_SUCCESS) throw LibraryError(name_of(status), call, file, line);
}
inline void library_check(cufftResult status, const char* call, const char* file, int line) {
    if (status != CUFFT_SUCCESS) throw LibraryError(name_of(status), call, file, line);
}

// Device memory for `count` elements, freed at the end of its scope. It is allocated and freed in
// the order of a stream: neither waits for the device.
template <class T>
class Scratch {
public:
    Scratch(size_t count, cudaStream_t stream) : stream_(stream) {
        void* data = nullptr;
        CUDA_CHECK(cudaMallocAsync(&data, count * sizeof(T), stream));
        data_ = static_cast<T*>(data);
    }
    ~Scratch() { cudaFreeAsync(data_, stream_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    T* get() { return data_; }

private:
    T* data_;
    cudaStream_t stream_;
};
