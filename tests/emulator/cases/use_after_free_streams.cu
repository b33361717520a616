// SPDX-License-Identifier: MIT
// Freed in one stream while another still uses it; a vector that grew; a pool that was destroyed.
#include <cuda_runtime.h>

__global__ void add_one(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += 1;  // expect: use-after-free
}

// A list that grows: whoever kept its old place reads freed memory.
template <typename T>
class List {
public:
    explicit List(int capacity) : capacity_(capacity) { cudaMalloc(&data_, capacity * sizeof(T)); }
    ~List() { cudaFree(data_); }
    void reserve(int capacity) {
        T* more;
        cudaMalloc(&more, capacity * sizeof(T));
        cudaMemcpy(more, data_, capacity_ * sizeof(T), cudaMemcpyDeviceToDevice);
        cudaFree(data_);
        data_ = more;
        capacity_ = capacity;
    }
    T* data() const { return data_; }

private:
    T* data_;
    int capacity_;
};

__global__ void read_all(const int* data, int n, int* out) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data[i];  // expect: use-after-free
    atomicAdd(out, sum);
}

int main() {
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    const int n = 256;
    int* data;
    cudaMallocAsync(&data, n * sizeof(int), a);
    cudaMemsetAsync(data, 0, n * sizeof(int), a);
    cudaEvent_t ready;
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventRecord(ready, a);
    cudaStreamWaitEvent(b, ready, 0);
    // twin: use-after-free
    add_one<<<2, 128, 0, b>>>(data, n);
    cudaStreamSynchronize(b);
    cudaFreeAsync(data, a);
    add_one<<<2, 128, 0, a>>>(data, n);
    cudaDeviceSynchronize();

    List<int> list(10), sum(1);
    cudaMemset(list.data(), 0, 10 * sizeof(int));
    cudaMemset(sum.data(), 0, sizeof(int));
    const int* first = list.data();
    list.reserve(20);
    read_all<<<1, 32>>>(list.data(), 10, sum.data());
    read_all<<<1, 32>>>(first, 10, sum.data());
    cudaDeviceSynchronize();
    cudaEventDestroy(ready);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}
