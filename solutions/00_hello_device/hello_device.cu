// SPDX-License-Identifier: MIT
// Lesson 00, hello device: a first kernel, what can go wrong with a launch, and which card this is.
// Start with README.md in this directory; `make 00` checks this file.
#include "hello_device.h"

// One thread runs this, on the device.
__global__ void hello_kernel(int* out, int value) {
    // TODO 1 (1 line): store `value` in out[0].
    out[0] = value;
    // END 1
}

void hello(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);  // 1 block of 1 thread
    CUDA_CHECK(cudaGetLastError());
}

void check([[maybe_unused]] cudaError_t error, [[maybe_unused]] const char* call) {
    // TODO 2 (about 4 lines): when `error` is not cudaSuccess, throw a CudaFailure. Its text
    // contains the call, cudaGetErrorName(error) and cudaGetErrorString(error).
    if (error == cudaSuccess) return;
    throw CudaFailure(error,
                      std::string(call) + ": " + cudaGetErrorName(error) + ", " +
                          cudaGetErrorString(error));
    // END 2
}

void hello_and_wait(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);
    // TODO 3 (2 lines): check whether the launch was refused, then wait for the kernel and check
    // whether it finished without an error.
    CHECK_CALL(cudaGetLastError());
    CHECK_CALL(cudaDeviceSynchronize());
    // END 3
}

DeviceFacts describe_device() {
    DeviceFacts facts;
    // TODO 4 (about 12 lines): find out which device is current, get its properties, and fill in
    // every field. Check each call.
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
    // END 4
    return facts;
}
