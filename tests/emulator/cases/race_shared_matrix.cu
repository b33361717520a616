// SPDX-License-Identifier: MIT
// A tensor core tile between two warps without a barrier, and one that is too short.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void no_barrier(const half* in, float* out) {
    __shared__ float tile[256];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    if (threadIdx.x < 32) wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
    out[threadIdx.x] = tile[threadIdx.x];  // expect: race-shared "tile["
}

__global__ void too_short(const half* in, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::load_matrix_sync(left, in, 24);  // expect: out-of-bounds-global "in["
    out[threadIdx.x] = __half2float(left.x[0]);
}

int main() {
    half* in;
    float* out;
    cudaMalloc(&in, 256 * sizeof(half));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(half));
    no_barrier<<<1, 64>>>(in, out);
    too_short<<<1, 32>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
