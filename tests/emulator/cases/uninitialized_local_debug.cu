// SPDX-License-Identifier: MIT
// What only a -G build shows: with optimisation, the compiler has given these any value it likes.
// nvcc: -G
#include <cuda_runtime.h>

__global__ void one_branch(int* out) {
    int x;
    if (threadIdx.x & 1) x = 5;
    out[threadIdx.x] = x;  // expect: uninitialized-local "a local variable"
}

__device__ int twice(int v) {
    return 2 * v;  // expect: uninitialized-local
}

__global__ void argument(int* out, int n) {
    int v;
    if (n > 100) v = n;
    out[threadIdx.x] = twice(v);
}

struct Range {
    int first, last;
};

__device__ Range make(int first) {
    Range r;
    r.first = first;
    return r;
}

__global__ void member(int* out) {
    Range r = make(threadIdx.x);
    if (r.last > 3)  // expect: uninitialized-local
        out[threadIdx.x] = r.first;
}

// The value goes through shared memory before anybody needs it.
__global__ void shared(int* out, int n) {
    __shared__ int tile[32];
    int t = threadIdx.x, v;
    if (t < n) v = t;
    tile[t] = v;  // expect: uninitialized-local
    __syncthreads();
    out[t] = tile[31 - t] + 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    one_branch<<<1, 32>>>(out);
    argument<<<1, 32>>>(out, 7);
    member<<<1, 32>>>(out);
    shared<<<1, 32>>>(out, 20);
    cudaDeviceSynchronize();
    cudaFree(out);
}
