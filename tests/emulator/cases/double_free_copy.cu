// SPDX-License-Identifier: MIT
// Two objects believe that they own the array.
#include <cuda_runtime.h>

struct Buffer {
    Buffer() { cudaMalloc(&data, 64); }
    ~Buffer() {
        cudaFree(data);  // expect: double-free
    }
    void* data = nullptr;
};

int main() {
    Buffer first;
    Buffer second = first;
    return second.data == nullptr;
}
