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
    Buffer second = std::move(first);
    cudaFree(nullptr);
    cudaFreeHost(nullptr);
    void *a, *b;
    cudaMalloc(&a, 64);
    cudaFree(a);
    cudaMalloc(&b, 64);  // perhaps where `a` was
    cudaFree(b);
    return second.data == nullptr;
}
