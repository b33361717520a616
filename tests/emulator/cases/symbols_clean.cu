// SPDX-License-Identifier: MIT
// Constant, device and managed variables by name, and a table of device functions.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

__constant__ float coef[8];
__device__ int counter;
__device__ float buffer[64];
__managed__ int shared_value = 5;
struct P {
    int n;
    double scale;
};
__constant__ P params;
__global__ void poly(const float* x, float* y) {
    int i = threadIdx.x;
    float s = 0;
    for (int k = 7; k >= 0; --k) s = s * x[i] + coef[k];
    y[i] = float(s * params.scale);
    buffer[i] = y[i];
    atomicAdd(&counter, 1);
    if (i == 0) shared_value += params.n;
}
typedef float (*Fn)(float);
__device__ float sq(float x) {
    return x * x;
}
__device__ float neg(float x) {
    return -x;
}
__device__ Fn table[2] = {sq, neg};
__global__ void call(int which, float* x) {
    x[threadIdx.x] = table[which](x[threadIdx.x]);
}
int main() {
    float c[8] = {1, 1, 0, 0, 0, 0, 0, 0};
    CHECK(cudaMemcpyToSymbol(coef, c, sizeof c));
    float two = 2;
    CHECK(cudaMemcpyToSymbol(coef, &two, 4, 4));
    P p{3, 10};
    CHECK(cudaMemcpyToSymbol(params, &p, sizeof p));
    size_t size;
    void* at;
    CHECK(cudaGetSymbolSize(&size, buffer));
    EXPECT(size == 256);
    CHECK(cudaGetSymbolAddress(&at, counter));
    CHECK(cudaMemset(at, 0, 4));
    float *x, *y;
    CHECK(cudaMalloc(&x, 256));
    CHECK(cudaMalloc(&y, 256));
    std::vector<float> h(64, 3);
    CHECK(cudaMemcpy(x, h.data(), 256, cudaMemcpyHostToDevice));
    poly<<<1, 64>>>(x, y);
    CHECK(cudaDeviceSynchronize());
    EXPECT(shared_value == 8);
    int n;
    CHECK(cudaMemcpyFromSymbol(&n, counter, 4));
    EXPECT(n == 64);
    CHECK(cudaMemcpyFromSymbol(h.data(), buffer, 256));
    for (float v : h) EXPECT(v == 70);
    call<<<1, 64>>>(0, x);
    call<<<1, 64>>>(1, x);
    CHECK(cudaMemcpy(h.data(), x, 256, cudaMemcpyDeviceToHost));
    EXPECT(h[63] == -9);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    std::puts("ok");
}
