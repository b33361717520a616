// SPDX-License-Identifier: MIT
// Variables of a thread's own that never get a value, of those shapes that optimisation leaves.
// also: -G
#include <cuda_runtime.h>

__global__ void sum(const float* in, float* out, int n) {
    float total;
    for (int i = 0; i < n; ++i)
        total += in[i];  // expect: error uninitialized-local "a local variable is used"
    *out = total;
}

// The loop stops one short.
__global__ void table(const int* in, int* out, int n) {
    int squares[8];
    for (int i = 0; i < n - 1; ++i) squares[i] = in[i] * in[i];
    out[threadIdx.x] = squares[threadIdx.x % n];  // expect: uninitialized-local "element or member"
}

// Only some buckets are cleared, all are added up.
__global__ void buckets(const int* in, int* out, int n) {
    int count[4];
    for (int i = 0; i < 3; ++i) count[in[i] & 3] = 0;
    for (int i = 0; i < n; ++i) ++count[in[i] & 3];  // expect: uninitialized-local
    out[threadIdx.x] = count[threadIdx.x & 3];
}

// An index that was never set.
__global__ void indirect(const int* in, int* out) {
    int where[4];
    where[in[0] & 3] = 1;
    int at = where[(in[0] + threadIdx.x) & 3];  // expect: uninitialized-local
    if (at >= 0 && at < 32) out[at] = 1;
}

int main() {
    int data[32], *in, *out;
    float* values;
    for (int i = 0; i < 32; ++i) data[i] = i * 5 + 3;
    cudaMalloc(&in, sizeof data);
    cudaMalloc(&out, sizeof data);
    cudaMalloc(&values, 33 * sizeof(float));
    cudaMemcpy(in, data, sizeof data, cudaMemcpyHostToDevice);
    cudaMemset(values, 0, 32 * sizeof(float));
    sum<<<1, 1>>>(values, values + 32, 32);
    table<<<1, 8>>>(in, out, 8);
    buckets<<<1, 4>>>(in, out, 16);
    indirect<<<1, 2>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(values);
}
