// Unusual: The runtime is asked fact by fact, and the launch goes through the runtime's function.
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
    void* arguments[] = {&d_out, &value};
    const cudaError_t launched = cudaLaunchKernel(hello_kernel, dim3(1), dim3(1), arguments);
    // The call returns the error of the launch, and leaves it for cudaGetLastError as well.
    if (launched != cudaSuccess) check(cudaGetLastError(), "cudaLaunchKernel");
    CHECK_CALL(cudaDeviceSynchronize());
}

DeviceFacts describe_device() {
    DeviceFacts facts;
    int device = 0;
    CHECK_CALL(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    CHECK_CALL(cudaGetDeviceProperties(&properties, device));
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        CHECK_CALL(cudaDeviceGetAttribute(&value, which, device));
        return value;
    };
    facts.name = properties.name;
    facts.compute_major = attribute(cudaDevAttrComputeCapabilityMajor);
    facts.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor);
    facts.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    facts.warp_size = attribute(cudaDevAttrWarpSize);
    facts.max_threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock);
    facts.shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    facts.memory_bytes = properties.totalGlobalMem;
    return facts;
}
