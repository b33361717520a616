// Mutant: hello launches 32 threads, which all store the same value: one is enough.
// verdict: efficient "one launch of one thread"
// SPDX-License-Identifier: MIT
// Lesson 00, hello device: a first kernel, what goes wrong with launches, and which card this is.
// Start with README.md in this directory; `make 00` checks this file.
#include "hello_device.h"

// One thread runs this, on the device.
__global__ void hello_kernel(int* out, int value) {
    out[0] = value;
}

void hello(int* d_out, int value) {
    hello_kernel<<<1, 32>>>(d_out, value);  // 1 block of 1 thread
    CUDA_CHECK(cudaGetLastError());
}

void check([[maybe_unused]] cudaError_t error, [[maybe_unused]] const char* call) {
    if (error != cudaSuccess)
        throw CudaFailure(error,
                          std::string(call) + ": " + cudaGetErrorName(error) + ", " +
                              cudaGetErrorString(error));
}

void hello_and_wait(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);
    CHECK_CALL(cudaGetLastError());
    CHECK_CALL(cudaDeviceSynchronize());
}

DeviceFacts describe_device() {
    DeviceFacts facts;
    int device = 0;
    CHECK_CALL(cudaGetDevice(&device));
    cudaDeviceProp p;
    CHECK_CALL(cudaGetDeviceProperties(&p, device));
    facts.name = p.name;
    facts.compute_major = p.major;
    facts.compute_minor = p.minor;
    facts.multiprocessors = p.multiProcessorCount;
    facts.warp_size = p.warpSize;
    facts.max_threads_per_block = p.maxThreadsPerBlock;
    facts.shared_bytes_per_block = p.sharedMemPerBlock;
    facts.memory_bytes = p.totalGlobalMem;
    return facts;
}
