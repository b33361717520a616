// SPDX-License-Identifier: MIT
// Device memory goes back by cudaFree. With optimisation `give_back` ends in a jump to free, and so
// is not on the stack any more when free reads in front of the memory.

// nvcc: -O2 -Xcompiler -fno-inline
// alone: AddressSanitizer has a free() of its own
#include <cstdlib>

#include <cuda_runtime.h>

void give_back(char* data) {
    std::free(data);  // expect: host-dereference "`free`"
}

int main() {
    char* data;
    cudaMalloc(&data, 64);
    give_back(data);
    return 0;
}
