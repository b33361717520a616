// SPDX-License-Identifier: MIT
// What the first call of the runtime API leaves for the driver API: prints whether cuDeviceGet
// works, also in another thread, whether a context is current, and whether the device's primary
// context is in use. The argument chooses the call.
#include <cstdio>
#include <cstring>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>

int main(int, char** arguments) {
    const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
    int number = 0;
    void* pointer = nullptr;
    cudaDeviceProp properties;
    cudaError_t error = cudaSuccess;
    if (is("cudaGetDevice")) error = cudaGetDevice(&number);
    if (is("cudaGetDeviceCount")) error = cudaGetDeviceCount(&number);
    if (is("cudaGetDeviceProperties")) error = cudaGetDeviceProperties(&properties, 0);
    if (is("cudaDeviceGetAttribute"))
        error = cudaDeviceGetAttribute(&number, cudaDevAttrComputeCapabilityMajor, 0);
    if (is("cudaInitDevice")) error = cudaInitDevice(0, 0, 0);
    if (is("cudaSetDevice")) error = cudaSetDevice(0);
    if (is("cudaFree")) error = cudaFree(nullptr);
    if (is("cudaMalloc")) error = cudaMalloc(&pointer, 64);
    if (is("cudaDeviceSynchronize")) error = cudaDeviceSynchronize();
    if (is("cudaRuntimeGetVersion")) error = cudaRuntimeGetVersion(&number);
    if (is("cudaDriverGetVersion")) error = cudaDriverGetVersion(&number);
    if (is("cudaGetErrorString") && !cudaGetErrorString(cudaSuccess)) return 1;
    if (error != cudaSuccess) return 1;
    CUdevice device = -1, other = -1;
    CUcontext current = nullptr;
    unsigned flags = 0;
    int active = 0;
    const CUresult found = cuDeviceGet(&device, 0);
    CUresult elsewhere = CUDA_ERROR_UNKNOWN;
    std::thread([&] { elsewhere = cuDeviceGet(&other, 0); }).join();
    cuCtxGetCurrent(&current);
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    std::printf("%d %d %d %d\n", int(found), int(elsewhere), current != nullptr, active);
    if (pointer) cudaFree(pointer);
}
