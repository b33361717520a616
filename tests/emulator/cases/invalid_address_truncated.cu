// SPDX-License-Identifier: MIT
// A pointer that went through an int has lost its upper half.
#include <cuda_runtime.h>

__global__ void store(unsigned int address) {
    int* target =
        reinterpret_cast<int*>(static_cast<unsigned long long>(address) | 0x500000000000ull);
    *target = 1;  // expect: invalid-address
}

int main() {
    int* data;
    cudaMalloc(&data, 256);
    store<<<1, 1>>>(static_cast<unsigned int>(reinterpret_cast<unsigned long long>(data)) |
                    0x40000000u);
    cudaDeviceSynchronize();
    cudaFree(data);
}
