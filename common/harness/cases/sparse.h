// SPDX-License-Identifier: MIT
// Matrices of many gigabytes of which a test touches a few pages: for indexes that need more than
// 31 bits.
#pragma once

#include "lesson_test.h"

namespace wb {
namespace {

// A matrix in device memory whose rows begin `pitch` elements apart. On the emulator only what is
// touched takes memory; a card must have it all.
template <class T>
class SparseMatrix {
public:
    // `values`: rows * width elements. `width` may include some of the padding.
    SparseMatrix(size_t rows, size_t width, size_t pitch, const std::vector<T>& values)
        : rows_(rows), width_(width), pitch_(pitch) {
        // More than any test asks for, and than a program could occupy before.
        const auto set = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, "emulatorMemorySet");
        if (set) REQUIRE(set(uint64_t(1) << 40) == 0);
        const size_t elements = rows * pitch;
        const cudaError_t error = cudaMalloc(&data_, elements * sizeof(T));
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            data_ = nullptr;
            return;
        }
        CUDA_CHECK(error);
        // Costs no memory there, and a wrong index is reported for its place only.
        CUDA_CHECK(cudaMemset(data_, 0, elements * sizeof(T)));
        upload(values);
    }
    ~SparseMatrix() { cudaFree(data_); }
    SparseMatrix(const SparseMatrix&) = delete;
    SparseMatrix& operator=(const SparseMatrix&) = delete;

    // False where there is not that much memory.
    explicit operator bool() const { return data_ != nullptr; }
    T* get() { return data_; }

    // All rows, one after the other.
    std::vector<T> download() const {
        std::vector<T> host(rows_ * width_);
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaMemcpy2D(host.data(),
                                width_ * sizeof(T),
                                data_,
                                pitch_ * sizeof(T),
                                width_ * sizeof(T),
                                rows_,
                                cudaMemcpyDeviceToHost));
        return host;
    }

private:
    void upload(const std::vector<T>& host) {
        CUDA_CHECK(cudaMemcpy2D(data_,
                                pitch_ * sizeof(T),
                                host.data(),
                                width_ * sizeof(T),
                                width_ * sizeof(T),
                                rows_,
                                cudaMemcpyHostToDevice));
    }
    size_t rows_, width_, pitch_;
    T* data_ = nullptr;
};

}  // namespace
}  // namespace wb

// Ends a test case where a card, or the address space of a process, is too small.
#define NEED_MEMORY(matrix)                                                                        \
    if (!(matrix)) {                                                                               \
        WARN("this device has too little memory: graded where there is more");                     \
        return;                                                                                    \
    }
