// SPDX-License-Identifier: MIT
// A buffer for every step, none is given back; and one that is lost by overwriting the pointer.
#include <cuda_runtime.h>

static int* buffer(int bytes) {
    int* data = nullptr;
    cudaMalloc(&data, bytes);  // expect: leak "600 bytes"
    return data;
}

int main() {
    for (int step = 0; step < 6; ++step) buffer(100);
    int* data;
    cudaMalloc(&data, 64);  // expect: leak "64 bytes"
    cudaMalloc(&data, 128);
    cudaFree(data);
}
