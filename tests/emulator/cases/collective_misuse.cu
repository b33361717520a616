// SPDX-License-Identifier: MIT
// Mistakes with communicators, groups and buffers, each of one rank.

// links: nccl
// env: EMULATOR_DEVICES=2
#include <cuda_runtime.h>
#include <nccl.h>

float* array_on(int device, int count, bool written) {
    float* x = nullptr;
    cudaSetDevice(device);
    cudaMalloc(&x, count * sizeof *x);
    if (written) cudaMemset(x, 0, count * sizeof *x);
    return x;
}

void both_ranks_on_one_device() {
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclComm_t comm[2];
    cudaSetDevice(0);
    ncclGroupStart();
    for (int rank = 0; rank < 2; ++rank)
        // expect: library-misuse "ranks 0 and 1 both use device 0"
        ncclCommInitRank(&comm[rank], 2, id, rank);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
}

// `x` and `y` of rank 1 are on device 0.
void memory_of_the_other_device(ncclComm_t* comm) {
    float* x[] = {array_on(0, 4, true), array_on(0, 4, true)};
    ncclGroupStart();
    for (int rank = 0; rank < 2; ++rank)
        // expect: error invalid-address "`sendbuff` of rank 1 is memory of device 0"
        ncclAllReduce(x[rank], x[rank], 4, ncclFloat, ncclSum, comm[rank], nullptr);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
    for (float* one : x) cudaFree(one);
}

// ncclAllGather takes the count of one rank, and needs room for all.
void too_small_for_all(ncclComm_t* comm) {
    float* x[] = {array_on(0, 4, true), array_on(1, 4, true)};
    float* y[] = {array_on(0, 4, false), array_on(1, 8, false)};
    ncclGroupStart();
    for (int rank = 0; rank < 2; ++rank)
        // expect: out-of-bounds-global "recvbuff"
        ncclAllGather(x[rank], y[rank], 4, ncclFloat, comm[rank], nullptr);
    if (ncclGroupEnd() == ncclSuccess) cudaDeviceReset();
    for (int rank = 0; rank < 2; ++rank) {
        cudaFree(x[rank]);
        cudaFree(y[rank]);
    }
}

void never_written(ncclComm_t* comm) {
    float* x[] = {array_on(0, 4, true), array_on(1, 4, false)};
    ncclGroupStart();
    for (int rank = 0; rank < 2; ++rank)
        // expect: uninitialized-global "sendbuff"
        ncclAllReduce(x[rank], x[rank], 4, ncclFloat, ncclSum, comm[rank], nullptr);
    ncclGroupEnd();
    for (float* one : x) cudaFree(one);
}

void buffers_that_overlap(ncclComm_t* comm) {
    float* x = array_on(0, 8, true);
    // expect: library-misuse "sendbuff and recvbuff overlap"
    if (ncclAllReduce(x, x + 1, 4, ncclFloat, ncclSum, comm[0], nullptr) == ncclSuccess)
        cudaDeviceReset();
    cudaFree(x);
}

__global__ void set(float* x) {
    x[threadIdx.x] = 1;
}

// Rank 0's kernel is in another stream than its collective.
void another_stream(ncclComm_t* comm) {
    float* x[] = {array_on(0, 4, true), array_on(1, 4, true)};
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaDeviceSynchronize();
    cudaStream_t kernels, collectives;
    cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&collectives, cudaStreamNonBlocking);
    set<<<1, 4, 0, kernels>>>(x[0]);
    ncclGroupStart();
    // expect: race-global "is read by `ncclAllReduce` while a kernel in another stream"
    ncclAllReduce(x[0], x[0], 4, ncclFloat, ncclSum, comm[0], collectives);
    ncclAllReduce(x[1], x[1], 4, ncclFloat, ncclSum, comm[1], nullptr);
    ncclGroupEnd();
    cudaDeviceSynchronize();
    cudaStreamDestroy(kernels);
    cudaStreamDestroy(collectives);
    for (float* one : x) cudaFree(one);
}

int main() {
    ncclComm_t comm[2], forgotten;
    both_ranks_on_one_device();
    ncclCommInitAll(comm, 2, nullptr);
    memory_of_the_other_device(comm);
    too_small_for_all(comm);
    never_written(comm);
    buffers_that_overlap(comm);
    another_stream(comm);
    for (ncclComm_t one : comm) ncclCommDestroy(one);
    // expect: library-misuse "the communicator of rank 0 of 1"
    ncclCommInitAll(&forgotten, 1, nullptr);
    // expect: library-misuse "`ncclGroupStart` has no `ncclGroupEnd`: a call after it"
    ncclGroupStart();
}
