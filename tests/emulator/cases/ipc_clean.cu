// SPDX-License-Identifier: MIT
// Several processes work on one another's buffers in turn, ordered by events and a barrier.
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

#include "expect.h"
#include "processes.h"

constexpr int kProcesses = 3, kCount = 5000;

struct Handles {
    cudaIpcMemHandle_t memory[kProcesses];
    cudaIpcEventHandle_t event[kProcesses];
};

__global__ void begin(int* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kCount) data[i] = i;
}

__global__ void add(int* data, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kCount) data[i] += value;
}

__global__ void vote(int* votes) {
    atomicAdd(votes, 1);
}

void work(int rank, pthread_barrier_t* barrier, const Peer& parent) {
    const auto handles = parent.receive<Handles>();
    int* data[kProcesses];
    cudaEvent_t ready[kProcesses];
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k < kProcesses; ++k) {
        CHECK(cudaIpcOpenMemHandle(
            (void**)&data[k], handles.memory[k], cudaIpcMemLazyEnablePeerAccess));
        CHECK(cudaIpcOpenEventHandle(&ready[k], handles.event[k]));
    }
    for (int step = 0; step < kProcesses; ++step) {
        const int k = (rank + step) % kProcesses;
        CHECK(cudaStreamWaitEvent(stream, ready[k], 0));
        // twin: uninitialized-global, race-global
        if (step == 0)
            begin<<<(kCount + 255) / 256, 256, 0, stream>>>(data[k]);
        else
            add<<<(kCount + 255) / 256, 256, 0, stream>>>(data[k], 100 * (rank + 1));
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(ready[k], stream));
        pthread_barrier_wait(barrier);
    }
    vote<<<10, 32, 0, stream>>>(data[0] + kCount);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    for (int k = 0; k < kProcesses; ++k) {
        // twin: leak, double-free
        CHECK(cudaIpcCloseMemHandle(data[k]));
        CHECK(cudaEventDestroy(ready[k]));
    }
}

int main() {
    auto* const barrier = static_cast<pthread_barrier_t*>(mmap(nullptr,
                                                               sizeof(pthread_barrier_t),
                                                               PROT_READ | PROT_WRITE,
                                                               MAP_SHARED | MAP_ANONYMOUS,
                                                               -1,
                                                               0));
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier, &shared, kProcesses);
    std::vector<Child> children;
    for (int rank = 0; rank < kProcesses; ++rank)
        children.push_back(start([=](const Peer& parent) { work(rank, barrier, parent); }));

    Handles handles;
    int* data[kProcesses];
    cudaEvent_t ready[kProcesses];
    for (int k = 0; k < kProcesses; ++k) {
        CHECK(cudaMalloc(&data[k], (kCount + 1) * sizeof(int)));
        CHECK(cudaMemset(data[k] + kCount, 0, sizeof(int)));
        CHECK(cudaEventCreateWithFlags(&ready[k], cudaEventDisableTiming | cudaEventInterprocess));
        CHECK(cudaIpcGetMemHandle(&handles.memory[k], data[k]));
        CHECK(cudaIpcGetEventHandle(&handles.event[k], ready[k]));
    }
    for (const Child& child : children) child.send(handles);
    for (const Child& child : children) EXPECT(child.ends());
    for (int k = 0; k < kProcesses; ++k) {
        // twin: uninitialized-global
        std::vector<int> back(kCount + 1);
        CHECK(cudaMemcpy(back.data(), data[k], (kCount + 1) * sizeof(int), cudaMemcpyDeviceToHost));
        int sum = 0;
        for (int rank = 0; rank < kProcesses; ++rank)
            if (rank != k) sum += 100 * (rank + 1);
        for (int i = 0; i < kCount; ++i) EXPECT(back[i] == i + sum);
        EXPECT(back[kCount] == (k == 0 ? 320 * kProcesses : 0));
        CHECK(cudaEventDestroy(ready[k]));
        // twin: use-after-free
        CHECK(cudaFree(data[k]));
    }
}
