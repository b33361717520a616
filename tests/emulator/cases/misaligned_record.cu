// SPDX-License-Identifier: MIT
// Parts of a record at odd offsets.
#include <cstring>
#include <cuda_runtime.h>

__global__ void parse(const unsigned char* packet, int* out) {
    // twin: misaligned
    int length;
    memcpy(&length, packet + 1, sizeof length);  // right: bytes
    out[0] = length;
    out[1] = *reinterpret_cast<const int*>(packet + 5);  // expect: misaligned
}

int main() {
    unsigned char* packet;
    int* out;
    cudaMalloc(&packet, 64);
    cudaMalloc(&out, 8);
    cudaMemset(packet, 0, 64);
    parse<<<1, 1>>>(packet, out);
    cudaDeviceSynchronize();
    cudaFree(packet);
    cudaFree(out);
}
