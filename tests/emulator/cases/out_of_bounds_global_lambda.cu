// SPDX-License-Identifier: MIT
// A grid-stride loop over a lambda.
// nvcc: --extended-lambda
#include <cuda_runtime.h>

template <typename F>
__global__ void for_each_index(int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

template <typename F>
void parallel_for(int n, F f) {
    for_each_index<<<4, 64>>>(n, f);
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    parallel_for(n, [=] __device__(int i) { x[i] = i; });
    parallel_for(n, [=] __device__(int i) {
        y[i] = x[i + 1] - x[i];  // expect: out-of-bounds-global
    });
    // twin: out-of-bounds-global
    parallel_for(n - 1, [=] __device__(int i) { y[i] = x[i + 1] - x[i]; });
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
}
