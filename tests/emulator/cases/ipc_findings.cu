// SPDX-License-Identifier: MIT
// Mistakes with memory of another process, each found in the process that makes it.
#include "expect.h"
#include "processes.h"

constexpr int kCount = 1000;

__global__ void copy(const int* in, int* out, int n) {
    int i = threadIdx.x;
    if (i < n)
        out[i] = in[i];  // expect: error out-of-bounds-global "`in[1000]` is read, but `in` has
                         // 1000 elements"
}

__global__ void clear(int* data) {
    data[threadIdx.x] = 0;  // expect: error use-after-free "but `data` has been closed"
}

void read_too_much(const Peer& parent) {
    const auto handle = parent.receive<cudaIpcMemHandle_t>();
    int *data, *own;
    CHECK(cudaIpcOpenMemHandle((void**)&data, handle, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaMalloc(&own, 1024 * sizeof(int)));
    copy<<<1, 1024>>>(data, own, 1024);
    CHECK(cudaDeviceSynchronize());
    EXPECT(cudaFree(data) ==
           cudaErrorInvalidValue);  // expect: double-free "gets memory of another process of 4000
                                    // bytes, but it frees memory of cudaMalloc"
    CHECK(cudaFree(own));
    CHECK(cudaIpcCloseMemHandle(data));
    EXPECT(cudaIpcCloseMemHandle(data) ==
           cudaErrorInvalidValue);  // expect: double-free "has already been closed"
    clear<<<1, 32>>>(data);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

void close_never(const Peer& parent) {
    const auto handle = parent.receive<cudaIpcMemHandle_t>();
    void* data;
    CHECK(cudaIpcOpenMemHandle(
        &data, handle, cudaIpcMemLazyEnablePeerAccess));  // expect: warning leak "4000 bytes of
                                                          // another process, opened here, are never
                                                          // closed with `cudaIpcCloseMemHandle`"
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
    CHECK(cudaFree(data));  // expect: error use-after-free "an allocation of 4000 bytes that
                            // another process has opened and not yet closed"
    keeper.tell();
    keeper.ends();
}
