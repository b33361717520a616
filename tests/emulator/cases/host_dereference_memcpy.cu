// SPDX-License-Identifier: MIT
// The host's memcpy is not cudaMemcpy.
#include <cstring>

#include <cuda_runtime.h>

int main() {
    char host[64] = {};
    char* data;
    cudaMalloc(&data, sizeof host);
    volatile size_t count = sizeof host;
    std::memcpy(data, host, count);  // expect: host-dereference
    cudaFree(data);
}
