// Unusual: A switch in place of an if, a pointer in place of an index, and a stream that is waited
// for.
// SPDX-License-Identifier: MIT
// Lesson 00, hello device: a first kernel, what can go wrong with a launch, and which card this is.
// Start with README.md in this directory; `make 00` checks this file.
#include "hello_device.h"

#include <sstream>

// One thread runs this, on the device.
__global__ void hello_kernel(int* out, int value) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = value;
}

void hello(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);  // 1 block of 1 thread
    CUDA_CHECK(cudaGetLastError());
}

void check([[maybe_unused]] cudaError_t error, [[maybe_unused]] const char* call) {
    switch (error) {
    case cudaSuccess:
        return;
    default:
        std::ostringstream text;
        text << cudaGetErrorString(error) << " (" << cudaGetErrorName(error) << ") in " << call;
        throw CudaFailure{error, text.str()};
    }
}

void hello_and_wait(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);
    CHECK_CALL(cudaGetLastError());
    CHECK_CALL(cudaStreamSynchronize(nullptr));
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
