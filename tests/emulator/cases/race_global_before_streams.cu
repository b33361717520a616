// SPDX-License-Identifier: MIT
// A copy before the first stream is created: that stream does not wait for it.
#include <cuda_runtime.h>

#include <vector>

__global__ void add(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];  // expect: race-global "is read while another thread"
}

// twin: race-global
__global__ void add_later(const int* x, int* out) {
    out[threadIdx.x] += x[threadIdx.x];
}

int main() {
    const size_t bytes = 256 * sizeof(int);
    std::vector<int> host(256, 1);
    int *x, *out;
    cudaMalloc(&x, bytes);
    cudaMalloc(&out, bytes);
    cudaMemset(out, 0, bytes);
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    add<<<1, 256, 0, own>>>(x, out);
    cudaDeviceSynchronize();
    add_later<<<1, 256, 0, own>>>(x, out);
    cudaStreamSynchronize(own);
    cudaStreamDestroy(own);
    cudaFree(x);
    cudaFree(out);
}
