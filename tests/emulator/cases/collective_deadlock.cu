// SPDX-License-Identifier: MIT
// Ranks that wait in a collective for others that never come: nothing hangs, and it is said who.

// links: nccl
// env: EMULATOR_DEVICES=4
#include <cuda_runtime.h>
#include <nccl.h>
#include <thread>

constexpr int kRanks = 3;

struct Clique {
    Clique() {
        ncclCommInitAll(comm, kRanks, nullptr);
        for (int rank = 0; rank < kRanks; ++rank) {
            cudaSetDevice(rank);
            cudaMalloc(&x[rank], sizeof(float));
            cudaMemset(x[rank], 0, sizeof(float));
        }
    }
    ~Clique() {
        for (int rank = 0; rank < kRanks; ++rank) {
            cudaFree(x[rank]);
            ncclCommDestroy(comm[rank]);
        }
    }
    ncclResult_t add(int rank) {
        return ncclAllReduce(x[rank], x[rank], 1, ncclFloat, ncclSum, comm[rank], nullptr);
    }
    ncclComm_t comm[kRanks];
    float* x[kRanks];
};

void without_a_group() {
    Clique all;
    for (int rank = 0; rank < kRanks; ++rank)
        // expect: error collective-deadlock "ranks 1 and 2 never call it: the thread"
        if (ncclBroadcast(all.x[rank], all.x[rank], 1, ncclFloat, 0, all.comm[rank], nullptr))
            break;
}

void one_rank_too_few() {
    Clique all;
    ncclGroupStart();
    for (int rank = 0; rank < kRanks - 1; ++rank)
        // expect: collective-deadlock "ranks 0 and 1 wait in `ncclAllReduce`, and rank 2"
        ncclAllReduce(all.x[rank], all.x[rank], 1, ncclFloat, ncclSum, all.comm[rank], nullptr);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
}

// A count of 0 joins nobody, and which rank had nothing to add is said.
void one_rank_with_nothing() {
    Clique all;
    ncclGroupStart();
    for (int rank = 0; rank < kRanks; ++rank)
        // expect: collective-deadlock "rank 2 called `ncclAllReduce` with a count of 0"
        ncclAllReduce(all.x[rank],
                      all.x[rank],
                      rank == 2 ? 0 : 1,
                      ncclFloat,
                      ncclSum,
                      all.comm[rank],
                      nullptr);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
}

// Rank 1 answers to the wrong rank.
void a_message_to_nobody() {
    Clique all;
    ncclGroupStart();
    // expect: collective-deadlock "rank 1 never calls `ncclRecv` from rank 0"
    ncclSend(all.x[0], 1, ncclFloat, 1, all.comm[0], nullptr);
    ncclRecv(all.x[1], 1, ncclFloat, 2, all.comm[1], nullptr);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
}

void alone_in_init_rank() {
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclComm_t comm[2];
    for (int rank = 0; rank < 2; ++rank) {
        cudaSetDevice(rank);
        // expect: collective-deadlock "rank 0 waits in `ncclCommInitRank`"
        if (ncclCommInitRank(&comm[rank], 2, id, rank)) break;
    }
}

// The thread of rank 2 returns early.
void a_thread_that_leaves() {
    Clique all;
    std::thread threads[kRanks];
    for (int rank = 0; rank < kRanks; ++rank)
        threads[rank] = std::thread([&all, rank] {
            if (rank == 2) return;
            // expect: collective-deadlock "ranks 0 and 1 wait in `ncclReduce`"
            ncclReduce(all.x[rank], all.x[rank], 1, ncclFloat, ncclSum, 0, all.comm[rank], nullptr);
        });
    for (std::thread& thread : threads) thread.join();
}

int main() {
    without_a_group();
    one_rank_too_few();
    one_rank_with_nothing();
    a_message_to_nobody();
    alone_in_init_rank();
    a_thread_that_leaves();
}
