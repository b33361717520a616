// SPDX-License-Identifier: MIT
// Freeing null is allowed; a moved-from owner holds null.
#include <utility>

#include <cuda_runtime.h>

struct Buffer {
    Buffer() { cudaMalloc(&data, 64); }
    Buffer(Buffer&& other) : data(std::exchange(other.data, nullptr)) {}
    ~Buffer() { cudaFree(data); }
    void* data = nullptr;
};

int main() {
    Buffer first;
    // twin: double-free
    Buffer second = std::move(first);
    // twin: double-free
    cudaFree(nullptr);
    cudaFreeHost(nullptr);
    void *a, *b;
    cudaMalloc(&a, 64);
    cudaFree(a);
    // twin: double-free
    cudaMalloc(&b, 64);  // perhaps where `a` was
    cudaFree(b);
    return second.data == nullptr;
}
