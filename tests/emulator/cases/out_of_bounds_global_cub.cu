// SPDX-License-Identifier: MIT
// CUB is told that there are more items than there are, and given too little scratch memory.
#include <cub/device/device_reduce.cuh>

int main() {
    const int n = 5000;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    void* scratch = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
    cudaMalloc(&scratch, bytes);
    // twin: out-of-bounds-global
    cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
    // expect: out-of-bounds-global
    cub::DeviceReduce::Sum(scratch, bytes, in, out, n + 24);
    cudaDeviceSynchronize();
    cudaFree(scratch);
    cudaFree(in);
    cudaFree(out);
}
