// SPDX-License-Identifier: MIT
// The address of a device variable used on the host, which copies into it with its own function.
#include <cstring>
#include <cuda_runtime.h>

__device__ float table[64];

int main() {
    float host[64] = {};
    void* address;
    cudaGetSymbolAddress(&address, table);
    std::memcpy(address, host, sizeof host);  // expect: host-dereference
}
