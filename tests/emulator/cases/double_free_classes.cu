// SPDX-License-Identifier: MIT
// Freed twice: a copied owner, a moved-from one done right, with the wrong function, on two
// streams.
#include <cuda_runtime.h>
#include <utility>

template <typename T>
class Owner {
public:
    explicit Owner(int n) { cudaMalloc(&data_, n * sizeof(T)); }
    Owner(Owner&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Owner(const Owner& other) = default;
    ~Owner() {
        cudaFree(data_);  // expect: double-free
    }

private:
    T* data_ = nullptr;
};

void by_value(Owner<float>) {}

int main() {
    {
        Owner<float> a(10);
        // twin: double-free
        by_value(std::move(a));
        Owner<float> b(10);
        by_value(b);
    }
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int* data;
    cudaMallocAsync(&data, 64, stream);
    cudaFreeAsync(data, stream);
    cudaFreeAsync(data, stream);  // expect: double-free
    cudaStreamSynchronize(stream);
    int* pinned;
    cudaMallocHost(&pinned, 64);
    cudaFreeHost(pinned);
    cudaFreeHost(pinned);  // expect: double-free
    int* managed;
    cudaMallocManaged(&managed, 64);
    cudaFree(managed);
    cudaFree(managed);  // expect: double-free
    // twin: double-free
    cudaFree(nullptr);
    cudaFreeHost(nullptr);
    cudaStreamDestroy(stream);
}
