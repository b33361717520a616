// SPDX-License-Identifier: MIT
// Starts itself as several processes, which work on the first one's buffers in turn. With `open` as
// its argument they leave the memory open.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr int kProcesses = 2, kCount = 1 << 20;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if (const cudaError_t error_ = (call)) {                                                   \
            std::printf("%d: %s\n", __LINE__, cudaGetErrorName(error_));                           \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

struct Shared {
    cudaIpcMemHandle_t memory[kProcesses];
    cudaIpcEventHandle_t event[kProcesses];
    std::atomic<int> begun, arrived;
};

Shared* map(int file) {
    return static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
}

// All processes have come here `times` times.
void meet(Shared* shared, int times) {
    ++shared->arrived;
    while (shared->arrived < times * kProcesses) sched_yield();
}

__global__ void add(unsigned char* data, int n, int value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = static_cast<unsigned char>(data[i] + value);
}

void work(int rank, Shared* shared, bool closes) {
    cudaStream_t stream;
    unsigned char* data[kProcesses];
    cudaEvent_t ready[kProcesses];
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k < kProcesses; ++k) {
        CHECK(cudaIpcOpenMemHandle(  // BLAME opened
            (void**)&data[k],
            shared->memory[k],
            cudaIpcMemLazyEnablePeerAccess));
        CHECK(cudaIpcOpenEventHandle(&ready[k], shared->event[k]));
    }
    for (int step = 0; step < kProcesses; ++step) {
        const int k = (rank + step) % kProcesses;
        CHECK(cudaStreamWaitEvent(stream, ready[k], 0));
        add<<<2, 128, 0, stream>>>(data[k], kCount, rank + 1);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(ready[k], stream));
        meet(shared, step + 1);
    }
    // Its own buffer, when all are ready.
    std::vector<unsigned char> own(kCount);
    CHECK(cudaStreamWaitEvent(stream, ready[rank], 0));
    CHECK(cudaMemcpyAsync(own.data(), data[rank], kCount, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (const unsigned char value : own)
        if (value != 7 + 1 + 2) std::exit(2);
    for (int k = 0; k < kProcesses; ++k) {
        if (closes) CHECK(cudaIpcCloseMemHandle(data[k]));
        CHECK(cudaEventDestroy(ready[k]));
    }
    CHECK(cudaStreamDestroy(stream));
}

int main(int count, char** arguments) {
    if (count > 3) {
        work(std::atoi(arguments[1]), map(std::atoi(arguments[2])), *arguments[3] == 'c');
        return 0;
    }
    const char* const mode = count > 1 ? arguments[1] : "close";
    const int file = memfd_create("handles", 0);
    if (ftruncate(file, sizeof(Shared)) != 0) return 1;
    Shared* const shared = map(file);
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrIpcEventSupport, 0));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    if (!supported || !properties.ipcEventSupported) return 1;
    void* data[kProcesses];
    cudaEvent_t ready[kProcesses];
    for (int k = 0; k < kProcesses; ++k) {
        CHECK(cudaMalloc(&data[k], kCount));
        CHECK(cudaMemset(data[k], 7, kCount));
        CHECK(cudaIpcGetMemHandle(&shared->memory[k], data[k]));
        CHECK(cudaEventCreateWithFlags(&ready[k], cudaEventDisableTiming | cudaEventInterprocess));
        CHECK(cudaIpcGetEventHandle(&shared->event[k], ready[k]));
    }
    for (int rank = 0; rank < kProcesses; ++rank) {
        const std::string number = std::to_string(rank), handles = std::to_string(file);
        if (fork() == 0) {
            execl("/proc/self/exe", "ipc", number.c_str(), handles.c_str(), mode, nullptr);
            _exit(127);
        }
    }
    bool good = true;
    for (int rank = 0, status = 0; rank < kProcesses; ++rank)
        good &= wait(&status) > 0 && status == 0;
    for (int k = 0; k < kProcesses; ++k) {
        CHECK(cudaEventSynchronize(ready[k]));
        CHECK(cudaEventDestroy(ready[k]));
        CHECK(cudaFree(data[k]));
    }
    std::puts(good ? "ok" : "a process has failed");
}
