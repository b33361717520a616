// SPDX-License-Identifier: MIT
// Several host threads use the runtime and the driver API at once: streams, events, allocations,
// launches, copies, pools and modules of their own. Prints how many results are wrong.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

__global__ void add(int* values, int n, int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += k;
}
__device__ int total;
__global__ void count() {
    atomicAdd(&total, 1);
}

static std::atomic<int> wrong{0};

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (const int result = int(call)) {                                                        \
            std::printf("line %d: %d\n", __LINE__, result);                                        \
            ++wrong;                                                                               \
        }                                                                                          \
    } while (0)

static void work(int which) {
    constexpr int n = 1000, rounds = 10;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    int* values = nullptr;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaMallocAsync(&values, n * sizeof(int), stream));
    OK(cudaMemsetAsync(values, 0, n * sizeof(int), stream));
    for (int round = 0; round < rounds; ++round) {
        add<<<(n + 127) / 128, 128, 0, stream>>>(values, n, which);
        count<<<1, 32, 0, stream>>>();
        OK(cudaGetLastError());
        OK(cudaEventRecord(event, stream));
    }
    OK(cudaEventSynchronize(event));
    std::vector<int> back(n);
    OK(cudaMemcpyAsync(back.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(
        stream, [](void*) {}, nullptr));
    OK(cudaStreamSynchronize(stream));
    for (const int value : back) wrong += value != which * rounds;
    OK(cudaFreeAsync(values, stream));

    // A module of this thread's own.
    const std::string text = ".version 7.0\n.target sm_75\n.address_size 64\n"
                             ".visible .global .align 4 .u32 mine;\n"
                             ".visible .entry one() { red.global.add.u32 [mine], 1; ret; }\n";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr mine = 0;
    unsigned got = 0;
    OK(cuModuleLoadData(&module, text.c_str()));
    OK(cuModuleGetFunction(&function, module, "one"));
    OK(cuModuleGetGlobal(&mine, nullptr, module, "mine"));
    OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(&got, mine, sizeof got));
    wrong += got != 64;
    OK(cuModuleUnload(module));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

int main() {
    constexpr int threads = 6;
    OK(cudaFree(nullptr));
    std::vector<std::thread> all;
    for (int which = 0; which < threads; ++which) all.emplace_back(work, which);
    for (std::thread& one : all) one.join();
    int sum = 0;
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    wrong += sum != threads * 10 * 32;
    std::printf("wrong: %d\n", wrong.load());
    return wrong != 0;
}
