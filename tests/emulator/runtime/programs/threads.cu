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

// Everything that is not in work(): memory of the other kinds, graphs, questions, errors.
static void more_work(int which, cudaEvent_t begin) {
    constexpr int n = 300;
    OK(cudaSetDevice(0));
    int *managed = nullptr, *pinned = nullptr, *values = nullptr;
    OK(cudaMallocManaged(&managed, n * sizeof(int)));
    OK(cudaMallocHost(&pinned, n * sizeof(int)));
    OK(cudaMalloc(&values, n * sizeof(int)));
    for (int i = 0; i < n; ++i) managed[i] = pinned[i] = i;
    cudaStream_t stream = nullptr;
    // Not a blocking one: while that is captured, nobody may use the legacy default stream.
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamWaitEvent(stream, begin, 0));
    add<<<2, 256, 0, stream>>>(managed, n, which);

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemcpyAsync(values, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    add<<<2, 256, 0, stream>>>(values, n, which);
    OK(cudaMemcpyAsync(pinned, values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; ++round) OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i) wrong += managed[i] != i + which || pinned[i] != i + 3 * which;

    cudaFuncAttributes attributes{};
    cudaDeviceProp properties{};
    int blocks = 0;
    size_t free_bytes = 0, total_bytes = 0;
    void* place = nullptr;
    OK(cudaFuncGetAttributes(&attributes, add));
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    OK(cudaGetSymbolAddress(&place, total));
    wrong += blocks == 0 || !place;
    // The last error is each thread's own.
    void* never = nullptr;
    if (which % 2 == 0) wrong += cudaMalloc(&never, size_t(1) << 60) != cudaErrorMemoryAllocation;
    wrong += cudaGetLastError() != (which % 2 ? cudaSuccess : cudaErrorMemoryAllocation);

    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(values));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
}

// Each thread overruns an array of its own.
static void overrun(int) {
    int* values = nullptr;
    OK(cudaMalloc(&values, 100 * sizeof(int)));
    OK(cudaMemset(values, 0, 100 * sizeof(int)));
    add<<<1, 128>>>(values, 101, 1);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(values));
}

int main(int argc, char**) {
    constexpr int threads = 6;
    OK(cudaFree(nullptr));
    std::vector<std::thread> all;
    if (argc > 1) {
        for (int which = 0; which < threads; ++which) all.emplace_back(overrun, which);
        for (std::thread& one : all) one.join();
        std::printf("wrong: %d\n", wrong.load());
        return wrong != 0;
    }
    cudaEvent_t begin = nullptr;
    OK(cudaEventCreate(&begin));
    OK(cudaEventRecord(begin, nullptr));
    for (int which = 0; which < threads; ++which) {
        all.emplace_back(work, which);
        all.emplace_back(more_work, which, begin);
    }
    for (std::thread& one : all) one.join();
    OK(cudaEventDestroy(begin));
    int sum = 0;
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    wrong += sum != threads * 10 * 32;
    std::printf("wrong: %d\n", wrong.load());
    return wrong != 0;
}
