// SPDX-License-Identifier: MIT
// Freed in one stream while another still uses it; a vector that grew; a pool that was destroyed.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>

__global__ void add_one(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += 1;  // expect: use-after-free
}

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

    thrust::device_vector<int> list(10, 1), sum(1, 0);
    const int* first = thrust::raw_pointer_cast(list.data());
    for (int i = 0; i < 100; ++i) list.push_back(i);
    read_all<<<1, 32>>>(first, 10, thrust::raw_pointer_cast(sum.data()));
    cudaDeviceSynchronize();
    cudaEventDestroy(ready);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}
