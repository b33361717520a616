// SPDX-License-Identifier: MIT
// Compiled with and without `--default-stream per-thread`: prints which stream 0 is in two threads
// and after a host function, and copies too many bytes in stream 0.
#include <cstdio>
#include <thread>

#include <cuda_runtime.h>

static unsigned long long id_of(cudaStream_t stream) {
    unsigned long long id = 0;
    cudaStreamGetId(stream, &id);
    return id;
}

static const char* kind_of_stream_0() {
    const unsigned long long id = id_of(nullptr);
    return id == id_of(cudaStreamPerThread) ? "per thread"
           : id == id_of(cudaStreamLegacy)  ? "legacy"
                                            : "?";
}

__global__ void store(int* out) {
    *out = 7;
}

int main() {
    std::printf("first: %s\n", kind_of_stream_0());
    const unsigned long long first = id_of(nullptr);
    std::thread([&] {
        std::printf("second: %s, %s\n",
                    kind_of_stream_0(),
                    id_of(nullptr) == first ? "the same" : "its own");
    }).join();

    int *device = nullptr, host[2] = {};
    cudaMalloc(&device, sizeof *device);
    store<<<1, 1>>>(device);
    cudaMemcpyAsync(host, device, sizeof *device, cudaMemcpyDeviceToHost);
    cudaLaunchHostFunc(
        nullptr, [](void*) { std::printf("host function\n"); }, nullptr);
    cudaStreamSynchronize(nullptr);
    std::printf("value: %d, after: %s\n", host[0], kind_of_stream_0());
    cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost);  // BLAME invalid-copy
    cudaFree(device);
}
