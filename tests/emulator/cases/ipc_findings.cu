// SPDX-License-Identifier: MIT
// Mistakes with memory of another process, each found in the process that makes it.
#include "expect.h"
#include "processes.h"

constexpr int kCount = 1000;

__global__ void copy(const int* in, int* out, int n) {
    int i = threadIdx.x;
    // expect: error out-of-bounds-global "`in` has 1000 elements (0 to 999)"
    if (i < n) out[i] = in[i];
}

__global__ void clear(int* data) {
    data[threadIdx.x] = 0;  // expect: error use-after-free "but `data` has been closed"
}

int* open(const cudaIpcMemHandle_t& handle) {
    void* data;
    // expect: warning leak "4000 bytes of another process, opened here, are never closed"
    CHECK(cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess));
    return static_cast<int*>(data);
}

void read_too_much(const Peer& parent) {
    int* const data = open(parent.receive<cudaIpcMemHandle_t>());
    int* own;
    CHECK(cudaMalloc(&own, 1024 * sizeof(int)));
    copy<<<1, 1024>>>(data, own, 1024);
    CHECK(cudaDeviceSynchronize());
    // expect: double-free "gets memory of another process of 4000 bytes, but it frees memory"
    EXPECT(cudaFree(data) == cudaErrorInvalidValue);
    CHECK(cudaFree(own));
    CHECK(cudaIpcCloseMemHandle(data));
    // expect: double-free "has already been closed"
    EXPECT(cudaIpcCloseMemHandle(data) != cudaSuccess);
    clear<<<1, 32>>>(data);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

void close_never(const Peer& parent) {
    open(parent.receive<cudaIpcMemHandle_t>());
    parent.tell();
    parent.wait();
}

int main() {
    const Child reader = start(read_too_much), keeper = start(close_never);
    int* data;
    cudaIpcMemHandle_t handle;
    CHECK(cudaMalloc(&data, kCount * sizeof(int)));
    CHECK(cudaMemset(data, 0, kCount * sizeof(int)));
    CHECK(cudaIpcGetMemHandle(&handle, data));
    reader.send(handle);
    reader.ends();
    keeper.send(handle);
    keeper.wait();
    // expect: error use-after-free "that another process has opened and not yet closed"
    CHECK(cudaFree(data));
    keeper.tell();
    keeper.ends();
}
