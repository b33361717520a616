// Unusual: It waits by an event, and lets the clean-up go unchecked, as a destructor would.
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
    if (error != cudaSuccess)
        throw CudaFailure(error,
                          std::string(call) + ": " + cudaGetErrorName(error) + ", " +
                              cudaGetErrorString(error));
}

void hello_and_wait(int* d_out, int value) {
    hello_kernel<<<1, 1>>>(d_out, value);
    CHECK_CALL(cudaGetLastError());
    cudaEvent_t e;
    CHECK_CALL(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    cudaError_t r = cudaEventRecord(e);
    if (r == cudaSuccess) r = cudaEventSynchronize(e);
    cudaEventDestroy(e);
    check(r, "event");
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
