// SPDX-License-Identifier: MIT
// nvcc: -arch=compute_80
// Tensor core products of all types through shared memory, with an epilogue on the fragment's
// elements, and ldmatrix with mma by hand.
#include <type_traits>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// c = 2 * a * b + 1 for matrices of 32 x 32, a warp for each tile of c.
template <class T, class Stored, class Sum, int m, int n, int k>
__global__ void product(const Stored* a, const Stored* b, Sum* c) {
    __shared__ Stored tile_a[m * k], tile_b[k * n];
    const int row = blockIdx.y * m, column = blockIdx.x * n;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    for (int step = 0; step < 32; step += k) {
        for (int i = threadIdx.x; i < m * k; i += 32)
            tile_a[i] = a[(row + i / k) * 32 + step + i % k];
        for (int i = threadIdx.x; i < k * n; i += 32)
            tile_b[i] = b[(step + i / n) * 32 + column + i % n];
        __syncwarp();
        wmma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, m, n, k, T, wmma::row_major> right;
        wmma::load_matrix_sync(left, tile_a, k);
        wmma::load_matrix_sync(right, tile_b, n);
        wmma::mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * Sum(2) + Sum(1);
    wmma::store_matrix_sync(c + row * 32 + column, sum, 32, wmma::mem_row_major);
}

// The same by hand: fragments by ldmatrix, mma.m16n8k16.
__global__ void by_hand(const half* a, const half* b, float* c) {
    __shared__ alignas(16) half tile_a[16 * 16], tile_b[16 * 8];
    const int row = blockIdx.y * 16, column = blockIdx.x * 8, lane = threadIdx.x;
    float d[4] = {};
    for (int step = 0; step < 32; step += 16) {
        for (int i = lane; i < 256; i += 32) tile_a[i] = a[(row + i / 16) * 32 + step + i % 16];
        for (int i = lane; i < 128; i += 32) tile_b[i] = b[(step + i / 8) * 32 + column + i % 8];
        __syncwarp();
        unsigned x[4], y[2];
        const unsigned at_a =
            unsigned(__cvta_generic_to_shared(tile_a + lane % 16 * 16 + lane / 16 * 8));
        const unsigned at_b = unsigned(__cvta_generic_to_shared(tile_b + lane % 16 * 8));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at_a));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1])
                     : "r"(at_b));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; ++i)
        c[(row + lane / 4 + i / 2 * 8) * 32 + column + lane % 4 * 2 + i % 2] = 2 * d[i] + 1;
}

template <class Stored, class Sum, class Kernel>
int run(Kernel kernel, int m, int n) {
    std::vector<Stored> a(1024), b(1024);
    std::vector<Sum> c(1024);
    for (int i = 0; i < 1024; ++i) {
        a[i] = Stored(float(i * 7 % 9 - 4));
        b[i] = Stored(float(i * 5 % 11 - 5));
    }
    Stored *da, *db;
    Sum* dc;
    cudaMalloc(&da, sizeof(Stored) * 1024);
    cudaMalloc(&db, sizeof(Stored) * 1024);
    cudaMalloc(&dc, sizeof(Sum) * 1024);
    cudaMemcpy(da, a.data(), sizeof(Stored) * 1024, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), sizeof(Stored) * 1024, cudaMemcpyHostToDevice);
    kernel<<<dim3(32 / n, 32 / m), 32>>>(da, db, dc);
    int wrong = cudaDeviceSynchronize() != cudaSuccess;
    cudaMemcpy(c.data(), dc, sizeof(Sum) * 1024, cudaMemcpyDeviceToHost);
    for (int row = 0; row < 32; ++row)
        for (int column = 0; column < 32; ++column) {
            float sum = 0;
            for (int k = 0; k < 32; ++k) sum += float(a[row * 32 + k]) * float(b[k * 32 + column]);
            wrong += float(c[row * 32 + column]) != 2 * sum + 1;
        }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return wrong;
}

int main() {
    int wrong = 0;
    wrong += run<half, float>(product<half, half, float, 16, 16, 16>, 16, 16);
    wrong += run<half, half>(product<half, half, half, 16, 16, 16>, 16, 16);
    wrong += run<half, float>(product<half, half, float, 32, 8, 16>, 32, 8);
    wrong += run<half, float>(product<half, half, float, 8, 32, 16>, 8, 32);
    wrong +=
        run<__nv_bfloat16, float>(product<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>, 16, 16);
    wrong += run<float, float>(product<wmma::precision::tf32, float, float, 16, 16, 8>, 16, 16);
    wrong += run<signed char, int>(product<signed char, signed char, int, 16, 16, 16>, 16, 16);
    wrong += run<double, double>(product<double, double, double, 8, 8, 4>, 8, 8);
    wrong += run<half, float>(by_hand, 16, 8);
    return wrong != 0;
}
