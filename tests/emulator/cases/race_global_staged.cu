// SPDX-License-Identifier: MIT
// Copies and fills of the default stream that go on after their call, beside a stream that does not
// wait for it.
#include <cuda_runtime.h>

#include <vector>

__device__ int table[256];

__global__ void add(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];  // expect: race-global "is read while another thread"
}

__global__ void add_rows(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];  // expect: race-global "is read while another thread"
}

__global__ void add_table(int* out) {
    out[threadIdx.x] += table[threadIdx.x];  // expect: race-global "is read while another thread"
}

__global__ void add_filled(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];  // expect: race-global "is read while another thread"
}

__global__ void add_copied(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];  // expect: race-global "is read while another thread"
}

// twin: race-global
__global__ void add_in_order(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x] + table[threadIdx.x];
}

int main() {
    const size_t bytes = 256 * sizeof(int);
    std::vector<int> host(256, 1);
    int *x, *y, *out, *pinned;
    cudaStream_t own, blocking;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&out, bytes);
    cudaMallocHost(&pinned, bytes);
    for (int i = 0; i < 256; ++i) pinned[i] = i;
    cudaMemset(out, 0, bytes);
    cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(table, host.data(), bytes);
    cudaDeviceSynchronize();

    // Ordered: by blocking streams, by a wait, by a copy back, by an event, by pinned memory.
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    add_in_order<<<1, 256>>>(x, out);
    add_in_order<<<1, 256, 0, blocking>>>(x, out);
    cudaDeviceSynchronize();
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaStreamSynchronize(nullptr);
    add_in_order<<<1, 256, 0, own>>>(x, out);
    cudaStreamSynchronize(own);
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(host.data(), y, bytes, cudaMemcpyDeviceToHost);
    add_in_order<<<1, 256, 0, own>>>(x, out);
    cudaStreamSynchronize(own);
    cudaMemcpyToSymbol(table, host.data(), bytes);
    cudaEvent_t copied;
    cudaEventCreate(&copied);
    cudaEventRecord(copied);
    cudaStreamWaitEvent(own, copied, 0);
    add_in_order<<<1, 256, 0, own>>>(x, out);
    cudaStreamSynchronize(own);
    cudaMemcpy(x, pinned, bytes, cudaMemcpyHostToDevice);
    add_in_order<<<1, 256, 0, own>>>(x, out);
    cudaStreamSynchronize(own);
    cudaMemcpyAsync(x, host.data(), bytes, cudaMemcpyHostToDevice, own);
    add_in_order<<<1, 256, 0, own>>>(x, out);
    cudaDeviceSynchronize();

    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    add<<<1, 256, 0, own>>>(x, out);
    cudaDeviceSynchronize();
    cudaMemcpy2D(x, 128, host.data(), 256, 64, 4, cudaMemcpyHostToDevice);
    add_rows<<<1, 16, 0, own>>>(x, out);
    cudaDeviceSynchronize();
    cudaMemcpyToSymbol(table, host.data(), bytes);
    add_table<<<1, 256, 0, own>>>(out);
    cudaDeviceSynchronize();
    cudaMemset(x, 0, bytes);
    add_filled<<<1, 256, 0, own>>>(x, out);
    cudaDeviceSynchronize();
    cudaMemcpy(x, y, bytes, cudaMemcpyDeviceToDevice);
    add_copied<<<1, 256, 0, own>>>(x, out);
    cudaDeviceSynchronize();

    cudaEventDestroy(copied);
    cudaStreamDestroy(own);
    cudaStreamDestroy(blocking);
    cudaFree(x);
    cudaFree(y);
    cudaFree(out);
    cudaFreeHost(pinned);
}
