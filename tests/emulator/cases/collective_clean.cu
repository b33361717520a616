// SPDX-License-Identifier: MIT
// Collectives as they should be: groups, a thread for each rank, two cliques, streams.

// links: nccl
// env: EMULATOR_DEVICES=3
#include <cuda_runtime.h>
#include <nccl.h>
#include <thread>
#include <vector>

constexpr int kRanks = 3, kCount = 1000;

#define NEED(call)                                                                                 \
    if ((call) != 0) std::exit(1)

__global__ void fill(float* x, int count, float value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] = value;
}

struct Rank {
    explicit Rank(int number) : number(number) {
        NEED(cudaSetDevice(number));
        NEED(cudaStreamCreate(&stream));
        NEED(cudaMalloc(&x, kCount * sizeof(float)));
        NEED(cudaMalloc(&y, kRanks * kCount * sizeof(float)));
    }
    ~Rank() {
        cudaSetDevice(number);
        cudaFree(x);
        cudaFree(y);
        cudaStreamDestroy(stream);
    }
    void begin() {
        NEED(cudaSetDevice(number));
        fill<<<4, 256, 0, stream>>>(x, kCount, float(number + 1));
        NEED(cudaGetLastError());
    }
    float last_of_y(int count) {
        float value = 0;
        NEED(cudaSetDevice(number));
        NEED(cudaMemcpyAsync(&value, y + count - 1, sizeof value, cudaMemcpyDeviceToHost, stream));
        NEED(cudaStreamSynchronize(stream));
        return value;
    }
    int number;
    cudaStream_t stream;
    float *x, *y;
};

int main() {
    Rank ranks[] = {Rank(0), Rank(1), Rank(2)};
    ncclComm_t comm[kRanks], second[kRanks];
    NEED(ncclCommInitAll(comm, kRanks, nullptr));
    NEED(ncclCommInitAll(second, kRanks, nullptr));

    // twin: collective-deadlock, collective-mismatch
    NEED(ncclGroupStart());
    for (Rank& r : ranks) {
        r.begin();
        NEED(ncclAllReduce(r.x, r.y, kCount, ncclFloat, ncclSum, comm[r.number], r.stream));
    }
    NEED(ncclGroupEnd());
    for (Rank& r : ranks)
        if (r.last_of_y(kCount) != 6) return 2;

    // The ranks come in another order, and the cliques too.
    // twin: collective-deadlock, collective-mismatch
    NEED(ncclGroupStart());
    for (int i = kRanks; i-- > 0;) {
        Rank& r = ranks[i];
        NEED(ncclAllGather(r.x, r.y, kCount, ncclFloat, second[i], r.stream));
        NEED(ncclReduce(
            r.x, i == 1 ? r.x : nullptr, kCount, ncclFloat, ncclMax, 1, comm[i], r.stream));
    }
    NEED(ncclGroupEnd());
    for (Rank& r : ranks)
        if (r.last_of_y(kRanks * kCount) != 3) return 3;

    // A thread for each rank: no group. One comes late.
    // twin: collective-deadlock
    std::thread threads[kRanks];
    for (int i = 0; i < kRanks; ++i)
        threads[i] = std::thread([&, i] {
            Rank& r = ranks[i];
            r.begin();
            if (i == 2) std::this_thread::sleep_for(std::chrono::milliseconds(200));
            NEED(ncclAllReduce(r.x, r.y, kCount, ncclFloat, ncclMin, comm[i], r.stream));
            NEED(ncclAllReduce(r.x, r.y, kCount, ncclFloat, ncclMax, comm[i], r.stream));
        });
    for (std::thread& thread : threads) thread.join();
    for (Rank& r : ranks)
        if (r.last_of_y(kCount) != 3) return 4;

    // Messages of different lengths in two directions.
    // twin: collective-mismatch
    NEED(ncclGroupStart());
    NEED(ncclSend(ranks[0].x, kCount, ncclFloat, 1, comm[0], ranks[0].stream));
    NEED(ncclRecv(ranks[0].y, 10, ncclFloat, 1, comm[0], ranks[0].stream));
    NEED(ncclRecv(ranks[1].y, kCount, ncclFloat, 0, comm[1], ranks[1].stream));
    NEED(ncclSend(ranks[1].x, 10, ncclFloat, 0, comm[1], ranks[1].stream));
    NEED(ncclGroupEnd());
    if (ranks[0].last_of_y(10) != 2 || ranks[1].last_of_y(kCount) != 1) return 5;
    for (int i = 0; i < kRanks; ++i) {
        NEED(ncclCommDestroy(comm[i]));
        NEED(ncclCommDestroy(second[i]));
    }
}
