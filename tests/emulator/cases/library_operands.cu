// SPDX-License-Identifier: MIT
// What a library's functions are given: memory that is too short, freed, not written, the host's,
// or still being written in another stream.

// links: cublas
#include <cstdio>
#include <cublas_v2.h>

constexpr int kN = 16;
constexpr int kBytes = kN * kN * sizeof(float);

__global__ void fill(float* x, float value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

float* filled() {
    float* x;
    cudaMalloc(&x, kBytes);
    fill<<<kN, kN>>>(x, 1);
    return x;
}

cublasStatus_t product(cublasHandle_t handle, const float* a, const float* b, float* c) {
    const float one = 1, zero = 0;
    const auto N = CUBLAS_OP_N;
    // expect: out-of-bounds-global "as `C` into", use-after-free, uninitialized-global
    return cublasSgemm(handle, N, N, kN, kN, kN, &one, a, kN, b, kN, &zero, c, kN);
}

int main() {
    cublasHandle_t handle;
    if (cublasCreate(&handle)) return 1;
    float *a = filled(), *b = filled(), *c, *gone = filled(), *fresh, *tight;
    cudaMalloc(&c, kBytes);
    cudaMalloc(&fresh, kBytes);
    cudaMalloc(&tight, kBytes - 4);
    if (product(handle, a, b, c)) return 1;
    if (!product(handle, a, b, tight)) return 1;
    cudaFree(gone);
    if (!product(handle, a, gone, c)) return 1;
    if (product(handle, fresh, b, c)) return 1;

    float host[4] = {};
    const float two = 2;
    // expect: invalid-address "writes `x` to 0x"
    if (!cublasSscal(handle, 4, &two, host, 1)) return 1;

    // The kernel runs in another stream, which the handle's does not wait for.
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<<<kN, kN, 0, stream>>>(a, 2);
    // expect: race-global "is read by `cublasSscal`"
    if (cublasSscal(handle, kN, &two, a, 1)) return 1;
    cudaDeviceSynchronize();

    cublasDestroy(handle);
    cudaStreamDestroy(stream);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(fresh), cudaFree(tight);
}
