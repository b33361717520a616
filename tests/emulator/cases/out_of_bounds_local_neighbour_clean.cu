// SPDX-License-Identifier: MIT
// Pointers into the middle of local arrays, that go all over their own array and no further.
// also: -G
#include <cuda_runtime.h>

// twin: out-of-bounds-local
__global__ void middle(int* out, int n) {
    int a[16], b[16];
    int* p = &a[4];
    for (int i = -4; i < 12; ++i) p[i] = i;
    for (int i = 4; i < 16; ++i) a[i] += out[i];
    for (int i = 0; i < 16; ++i) b[15 - i] = a[i];
    out[threadIdx.x] = a[n] + b[n] + p[n - 4];
}

// The two share memory, as they never live at the same time.
__global__ void one_after_the_other(int* out, int n) {
    {
        int a[64];
        for (int i = 0; i < 64; ++i) a[i] = out[i % 32] * i;
        for (int i = 0; i < n; ++i) out[i] = a[(out[i] + i) & 63];
    }
    __syncthreads();
    {
        int b[32], c[32];
        for (int i = 0; i < 32; ++i) {
            b[i] = out[i];
            c[i] = out[i] * 2;
        }
        for (int i = 0; i < n; ++i) out[i] = b[(out[i] + 1) & 31] + c[(out[i] + 2) & 31];
    }
}

__device__ __noinline__ int sum(const int* p, int n) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += p[i];
    return total;
}

// twin: out-of-bounds-local
__global__ void passed_on(int* out, int n) {
    int a[8], b[8], *ends[2] = {a, b};
    for (int i = 0; i < 8; ++i) ends[i & 1][i] = ends[1 - (i & 1)][i] = i;
    const int* chosen = n & 1 ? a : b;
    out[threadIdx.x] = sum(a, 8) + sum(b + 2, 6) + sum(chosen, 8) + chosen[n];
}

struct Grid {
    int rows, cells[4][4];
};

// twin: out-of-bounds-local
__global__ void inside_a_struct(int* out, int n) {
    Grid g, h;
    g.rows = n;
    for (int i = 0; i < 16; ++i) g.cells[i / 4][i % 4] = i;
    h = g;
    int* flat = &h.cells[0][0];
    for (int i = 0; i < 16; ++i) flat[i] += g.cells[3 - i / 4][i % 4];
    out[threadIdx.x] = h.rows + h.cells[n & 3][n % 4];
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    middle<<<1, 1>>>(out, 7);
    one_after_the_other<<<1, 1>>>(out, 32);
    passed_on<<<1, 1>>>(out, 3);
    inside_a_struct<<<1, 1>>>(out, 6);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    return good ? 0 : 1;
}
