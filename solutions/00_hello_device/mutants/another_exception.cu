// Mutant: the error is thrown as a std::runtime_error, and its code is lost.
// verdict: fails "task 2: every error"
// SPDX-License-Identifier: MIT
// Lesson 00, hello device: a first kernel, what goes wrong with launches, and which card this is.
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
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(error) + ", " +
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
