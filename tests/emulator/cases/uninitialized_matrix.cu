// SPDX-License-Identifier: MIT
// A fragment that is stored without ever having been filled.
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void store(float* c, const half* a, int products) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums, filled;
    wmma::fill_fragment(filled, 0.0f);
    for (int i = 0; i < products; ++i) {
        wmma::load_matrix_sync(left, a, 16);
        wmma::load_matrix_sync(right, a, 16);
        wmma::mma_sync(filled, left, right, filled);
        wmma::mma_sync(sums, left, right, sums);
    }
    // twin: uninitialized-local
    wmma::store_matrix_sync(c, filled, 16, wmma::mem_row_major);
    // expect: uninitialized-local
    wmma::store_matrix_sync(c + 256, sums, 16, wmma::mem_row_major);
}

int main() {
    float* c;
    half* a;
    cudaMalloc(&c, 2048);
    cudaMalloc(&a, 512);
    cudaMemset(a, 0, 512);
    store<<<1, 32>>>(c, a, 0);
    cudaDeviceSynchronize();
    cudaFree(c);
    cudaFree(a);
}
