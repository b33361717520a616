// Unusual: The value is read back: a copy to the CPU waits for the kernel and reports its faults.
// SPDX-License-Identifier: MIT
// Lesson 00, hello device: a first kernel, what can go wrong with a launch, and which card this is.
// Start with README.md in this directory; `make 00` checks this file.
#include "hello_device.h"

// One thread runs this, on the device.
__global__ void hello_kernel(int* out, int value) {
    out[0] = value;
}

void hello(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);  // 1 block of 1 thread
    CUDA_CHECK(cudaGetLastError());
}

void check([[maybe_unused]] cudaError_t error, [[maybe_unused]] const char* call) {
    if (error == cudaSuccess) return;
    throw CudaFailure(error,
                      std::string(call) + ": " + cudaGetErrorName(error) + ", " +
                          cudaGetErrorString(error));
}

void hello_and_wait(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);
    CHECK_CALL(cudaGetLastError());
    int seen = 0;
    CHECK_CALL(cudaMemcpy(&seen, d_out, sizeof seen, cudaMemcpyDeviceToHost));
}

DeviceFacts describe_device() {
    DeviceFacts facts;
    int device = 0;
    CHECK_CALL(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    CHECK_CALL(cudaGetDeviceProperties(&properties, device));
    facts.name = properties.name;
    facts.compute_major = properties.major;
    facts.compute_minor = properties.minor;
    facts.multiprocessors = properties.multiProcessorCount;
    facts.warp_size = properties.warpSize;
    facts.max_threads_per_block = properties.maxThreadsPerBlock;
    facts.shared_bytes_per_block = properties.sharedMemPerBlock;
    facts.memory_bytes = properties.totalGlobalMem;
    return facts;
}
