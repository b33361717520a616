// SPDX-License-Identifier: MIT
// Pointers that cudaFree never gave out: the host's, and one into the middle.
#include <cstdlib>

#include <cuda_runtime.h>

int main() {
    int* host = static_cast<int*>(std::malloc(64));
    int* data;
    cudaMalloc(&data, 64);
    cudaFree(host);      // expect: double-free
    cudaFree(data + 4);  // expect: double-free
    cudaFree(data);
    std::free(host);
}
