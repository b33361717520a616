// SPDX-License-Identifier: MIT
// Calls that fail, and programs that look: at once, later, in a function of their own, or all in
// all.
// also: -Xcompiler -O2
#include <cstdio>
#include <cuda_runtime.h>

static bool failed(cudaError_t error) {
    return error != cudaSuccess;
}

static cudaError_t passed_on(void** data) {
    return cudaMalloc(data, size_t(1) << 60);
}

int main() {
    void* data = nullptr;
    int bad = 0;
    if (cudaMalloc(&data, size_t(1) << 60) == cudaSuccess) ++bad;
    cudaError_t error = cudaSetDevice(7);
    std::puts("between");
    bad += error == cudaSuccess;
    // twin: unchecked-error
    bad += !failed(cudaSetDevice(9));
    bad += passed_on(&data) == cudaSuccess;
    // twin: unchecked-error
    switch (cudaFree(&bad)) {  // expect: double-free
    case cudaErrorInvalidValue:
        break;
    default:
        ++bad;
    }
    const cudaError_t all[] = {cudaSetDevice(3), cudaMalloc(&data, size_t(1) << 61)};
    for (cudaError_t one : all) bad += one == cudaSuccess;
    cudaSetDevice(5);
    bad += cudaGetLastError() != cudaErrorInvalidDevice;  // the one before is looked at here
    cudaStreamQuery(nullptr);
    return bad;
}
