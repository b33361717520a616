// SPDX-License-Identifier: MIT
// cuSOLVER's handle, the frame of its functions, and the calls of LAPACK in place of its kernels.
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "cusolverDn.h"
#include "stand_in.h"

struct cusolverDnParams {};  // there is no choice of algorithms

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};

namespace solver {

using stand_in::matrix_of;
using stand_in::num;
using stand_in::Operand;
using stand_in::Real;
using stand_in::updated;
using stand_in::vector_of;
using stand_in::written;

stand_in::Handles<cusolverDnContext>& handles();
cusolverStatus_t finish(const char* name, cusolverStatus_t status);

template <class F>
cusolverStatus_t function(const char* name, cusolverDnHandle_t handle, F&& body) {
    if (!handles().has(handle)) return finish(name, CUSOLVER_STATUS_NOT_INITIALIZED);
    try {
        return finish(name, body(*handle));
    } catch (const std::bad_alloc&) {
        return finish(name, CUSOLVER_STATUS_ALLOC_FAILED);
    }
}

// Runs a kernel in the handle's stream. `waits`: it returns a result to the host.
cusolverStatus_t run(const cusolverDnContext& context, const char* name,
                     std::vector<Operand> operands,
                     std::function<void(std::byte* const* at)> compute, bool waits = false);

// Whether the program's workspace has the size, in elements, that the function's _bufferSize
// returns; a smaller one is a finding. Its contents are not used.
bool large_enough(const char* name, int given, int wanted);

// Stores the number of elements that a workspace needs.
cusolverStatus_t size(const char* name, cusolverDnHandle_t handle, bool valid, int elements,
                      int* to);

inline bool is_matrix(int64_t rows, int64_t columns, int64_t leading) {
    return rows >= 0 && columns >= 0 && leading >= std::max<int64_t>(1, rows);
}
inline bool is_fill(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER;
}

// The stand-in needs no workspace; it requires the size that a blocked algorithm would.
inline int panel(int n) {
    constexpr int kBlock = 32;
    return std::max(1, n) * kBlock;
}

// Of a problem in 64-bit numbers: LAPACK's sizes, and the elements of a workspace, are ints.
inline constexpr int64_t kMostRows = 30000;

inline size_t bytes_of(cudaDataType type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_C_64F ? 16 : 8;
}

Operand triangle(const char* name, const void* a, uint64_t bytes, int n, int lda,
                 cublasFillMode_t fill);

template <class T>
T* as(std::byte* at) {
    return reinterpret_cast<T*>(at);
}

// Stores devInfo or info: 0, -i for an invalid argument i, or LAPACK's number.
inline void store_info(std::byte* at, int info) {
    std::memcpy(at, &info, sizeof info);
}

}  // namespace solver
