// SPDX-License-Identifier: MIT
// Errors that nobody looks at: an async copy, a failed launch with a check that comes too early,
// mallocs in a helper.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <stdexcept>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t e_ = (x);                                                                      \
        if (e_ != cudaSuccess) {                                                                   \
            std::printf("%s\n", cudaGetErrorString(e_));                                           \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

int failures = 0;

struct Checker {
    void operator=(cudaError_t e) const {
        if (e != cudaSuccess) ++failures;
    }
};
const Checker checked;

template <typename T>
T* allocate(size_t n) {
    T* p = nullptr;
    // twin: unchecked-error
    cudaMalloc(&p, n * sizeof(T));  // looked at with cudaGetLastError, later
    return p;
}

void must(cudaError_t e) {
    if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorName(e));
}

__global__ void kernel(int* out) {
    out[threadIdx.x] = 1;
}

int main() {
    int* p = allocate<int>(size_t(1) << 50);
    if (!p) std::printf("none\n");
    void* q = nullptr;
    // twin: unchecked-error
    CHECK(cudaMalloc(&q, size_t(1) << 50));
    // twin: unchecked-error
    checked = cudaSetDevice(9);
    // twin: unchecked-error
    try {
        must(cudaSetDevice(8));
    } catch (const std::exception&) {
        ++failures;
    }
    cudaGetLastError();
    cudaSetDevice(5);  // expect: unchecked-error
    cudaError_t last = cudaDeviceSynchronize();
    return failures == 3 && last == cudaSuccess ? 0 : 1;
}
