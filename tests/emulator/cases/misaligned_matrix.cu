// SPDX-License-Identifier: MIT
// Matrices for tensor cores at addresses that 32 does not divide, in rows that lie no multiple of
// 16 bytes apart, and at another place for each lane.
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void shifted(const half* a, const half* b, float* c, int from) {
    A x;
    B y;
    Sum z;
    wmma::fill_fragment(z, 0.0f);
    // expect: misaligned "from `a[8]` on, but its address is no multiple of 32 bytes"
    wmma::load_matrix_sync(x, a + from, 16);
    // twin: misaligned
    wmma::load_matrix_sync(y, b + 2 * from, 24);
    wmma::mma_sync(z, x, y, z);
    // expect: misaligned "from `c[4]` on, but its address is no multiple of 32 bytes"
    wmma::store_matrix_sync(c + from / 2, z, 16, wmma::mem_row_major);
}

__global__ void narrow(const half* a, const half* b, float* c, int apart) {
    A x;
    B y;
    Sum z;
    wmma::fill_fragment(z, 0.0f);
    // expect: misaligned "rows begin 36 bytes apart, which is no multiple of 16"
    wmma::load_matrix_sync(x, a, apart);
    // expect: misaligned "but its columns begin 36 bytes apart"
    wmma::load_matrix_sync(y, b, apart);
    wmma::mma_sync(z, x, y, z);
    // expect: misaligned "but its rows begin 72 bytes apart"
    wmma::store_matrix_sync(c, z, apart, wmma::mem_row_major);
}

// The lanes of a warp must agree.
__global__ void by_lane(const half* a, const half* b, float* c, int apart) {
    const int lane = threadIdx.x;
    A x;
    B y;
    Sum z;
    wmma::fill_fragment(z, 0.0f);
    // expect: misaligned "from `a[16]` on, but lane 1 gives another address than lane 0"
    wmma::load_matrix_sync(x, a + apart * lane, 16);
    // expect: misaligned "but lane 16 gives another leading dimension than lane 0: all lanes must"
    wmma::load_matrix_sync(y, b, lane < 16 ? 16 : 16 + apart);
    wmma::mma_sync(z, x, y, z);
    // expect: misaligned "but lane 31 gives another address than lane 0: all lanes must"
    wmma::store_matrix_sync(lane < 31 ? c + apart : c, z, 16, wmma::mem_row_major);
}

int main() {
    half *a, *b;
    float* c;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMalloc(&c, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    // twin: misaligned
    shifted<<<1, 32>>>(a, b, c, 16);
    // twin: misaligned
    narrow<<<1, 32>>>(a, b, c, 24);
    // twin: misaligned
    by_lane<<<1, 32>>>(a, b, c, 0);
    shifted<<<1, 32>>>(a, b, c, 8);
    narrow<<<1, 32>>>(a, b, c, 18);
    by_lane<<<1, 32>>>(a, b, c, 16);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
