// SPDX-License-Identifier: MIT
// Doubles behind an odd number of floats in dynamic shared memory.
#include <cuda_runtime.h>

template <typename A, typename B>
__global__ void two_arrays(int n, double* out) {
    extern __shared__ __align__(16) char raw[];
    A* first = reinterpret_cast<A*>(raw);
    B* second = reinterpret_cast<B*>(first + n);
    if (threadIdx.x < n) first[threadIdx.x] = 1;
    second[threadIdx.x] = 2;  // expect: misaligned
    __syncthreads();
    out[threadIdx.x] = second[31 - threadIdx.x];  // expect: misaligned
}

int main() {
    double* out;
    cudaMalloc(&out, 32 * sizeof(double));
    // twin: misaligned
    two_arrays<float, double><<<1, 32, 1024>>>(10, out);
    // twin: misaligned
    two_arrays<double, float><<<1, 32, 1024>>>(11, out);
    two_arrays<float, double><<<1, 32, 1024>>>(11, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
