// SPDX-License-Identifier: MIT
// The doubles begin behind an odd number of ints in one dynamic buffer.
#include <cuda_runtime.h>

__global__ void carve(int ints, double* out) {
    extern __shared__ int raw[];
    double* values = reinterpret_cast<double*>(raw + ints);
    // expect: misaligned "8 bytes are written at once from `raw[3]`"
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = raw[ints];
}

int main() {
    double* out;
    cudaMalloc(&out, 8 * sizeof(double));
    carve<<<1, 8, 3 * sizeof(int) + 8 * sizeof(double)>>>(3, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
