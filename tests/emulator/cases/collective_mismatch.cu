// SPDX-License-Identifier: MIT
// Calls of the ranks that do not belong together: on a card they hang, or give wrong numbers.

// links: nccl
// env: EMULATOR_DEVICES=2
#include <cuda_runtime.h>
#include <nccl.h>

struct Pair {
    Pair() {
        ncclCommInitAll(comm, 2, nullptr);
        for (int rank = 0; rank < 2; ++rank) {
            cudaSetDevice(rank);
            cudaMalloc(&x[rank], 8 * sizeof(float));
            cudaMemset(x[rank], 0, 8 * sizeof(float));
        }
        ncclGroupStart();
    }
    ~Pair() {
        if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
        for (int rank = 0; rank < 2; ++rank) {
            cudaFree(x[rank]);
            ncclCommDestroy(comm[rank]);
        }
    }
    ncclComm_t comm[2];
    float* x[2];
};

void different_counts() {
    Pair two;
    for (int rank = 0; rank < 2; ++rank)
        // expect: error collective-mismatch "different counts: 8 from rank 0 and 7"
        ncclAllReduce(
            two.x[rank], two.x[rank], 8 - rank, ncclFloat, ncclSum, two.comm[rank], nullptr);
}

void different_types() {
    Pair two;
    ncclAllReduce(two.x[0], two.x[0], 4, ncclFloat, ncclSum, two.comm[0], nullptr);
    // expect: collective-mismatch "data types: ncclFloat32 from rank 0 and ncclInt32 from rank 1"
    ncclAllReduce(two.x[1], two.x[1], 4, ncclInt, ncclSum, two.comm[1], nullptr);
}

void different_operators() {
    Pair two;
    ncclAllReduce(two.x[0], two.x[0], 4, ncclFloat, ncclSum, two.comm[0], nullptr);
    // expect: collective-mismatch "operators: ncclSum from rank 0 and ncclMax from rank 1"
    ncclAllReduce(two.x[1], two.x[1], 4, ncclFloat, ncclMax, two.comm[1], nullptr);
}

// Each rank takes itself for the root.
void different_roots() {
    Pair two;
    for (int rank = 0; rank < 2; ++rank)
        // expect: collective-mismatch "roots: 0 from rank 0 and 1 from rank 1"
        ncclBcast(two.x[rank], 4, ncclFloat, rank, two.comm[rank], nullptr);
}

void different_calls() {
    Pair two;
    ncclBcast(two.x[0], 4, ncclFloat, 0, two.comm[0], nullptr);
    // expect: collective-mismatch "collectives: `ncclBcast` from rank 0 and `ncclReduce`"
    ncclReduce(two.x[1], two.x[1], 4, ncclFloat, ncclSum, 0, two.comm[1], nullptr);
}

void a_message_of_another_length() {
    Pair two;
    ncclSend(two.x[0], 4, ncclFloat, 1, two.comm[0], nullptr);
    // expect: collective-mismatch "counts: 4 from rank 0 and 8 from rank 1"
    ncclRecv(two.x[1], 8, ncclFloat, 0, two.comm[1], nullptr);
}

int main() {
    different_counts();
    different_types();
    different_operators();
    different_roots();
    different_calls();
    a_message_of_another_length();
}
