// SPDX-License-Identifier: MIT
// Leaks of classes: a vector without a destructor, a pool allocation, an early return, an array,
// an exception.
#include <cuda_runtime.h>
#include <memory>
#include <stdexcept>

template <typename T>
class Buffer {
public:
    explicit Buffer(size_t n) {
        cudaMalloc(&data_, n * sizeof(T));  // expect: leak
    }
    T* data() const { return data_; }

private:
    T* data_ = nullptr;
};

// twin: leak
template <typename T>
struct Owner {
    explicit Owner(size_t n) { cudaMalloc(&data, n * sizeof(T)); }
    ~Owner() { cudaFree(data); }
    Owner(const Owner&) = delete;
    T* data = nullptr;
};

// twin: leak
struct CudaFree {
    void operator()(void* p) const { cudaFree(p); }
};

Owner<int>* at_exit;
Owner<float>& global() {
    static Owner<float> owner(100);  // freed after main
    return owner;
}

__global__ void touch(float* data) {
    data[threadIdx.x] = 1;
}

int work(int n) {
    float *a, *b;
    cudaMalloc(&a, 64 * sizeof(float));  // expect: leak
    if (cudaMalloc(&b, 64 * sizeof(float)) != cudaSuccess || n < 10) {
        cudaFree(b);
        return 1;
    }
    cudaFree(a);
    cudaFree(b);
    return 0;
}

void throws(bool now) {
    float* a;
    cudaMalloc(&a, 256);  // expect: leak
    if (now) throw std::runtime_error("no");
    cudaFree(a);
}

int main() {
    Buffer<double> buffer(12);
    Owner<int> owner(10);
    std::unique_ptr<void, CudaFree> held;
    void* raw;
    cudaMalloc(&raw, 100);
    held.reset(raw);
    touch<<<1, 32>>>(global().data);
    work(3);
    try {
        throws(true);
    } catch (const std::exception&) {
    }
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    void* pool;
    cudaMallocAsync(&pool, 333, stream);  // expect: leak
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 16, 16);  // expect: leak
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaDeviceSynchronize();
}
