// SPDX-License-Identifier: MIT
// Pairs of halves and groups of four bytes, for a number of elements that is not a multiple.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void axpy(const __half* x, __half* y, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i < n) {
        const __half2* x2 = reinterpret_cast<const __half2*>(x);
        __half2* y2 = reinterpret_cast<__half2*>(y);
        y2[i] = __hfma2(__half2half2(a), x2[i], y2[i]);  // expect: out-of-bounds-global
    }
}

// twin: out-of-bounds-global
__global__ void axpy_right(const __half* x, __half* y, __half a, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        auto* y2 = reinterpret_cast<__half2*>(y + i);
        *y2 = __hfma2(__half2half2(a), *reinterpret_cast<const __half2*>(x + i), *y2);
    } else if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}

__global__ void invert(uchar4* pixels, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (bytes + 3) / 4) return;
    uchar4 p = pixels[i];  // expect: out-of-bounds-global
    // expect: out-of-bounds-global
    pixels[i] = make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, 255 - p.w);
}

int main() {
    const int n = 333;
    __half *x, *y;
    uchar4* image;
    cudaMalloc(&x, n * sizeof(__half));
    cudaMalloc(&y, n * sizeof(__half));
    cudaMalloc(&image, 1022);
    cudaMemset(x, 0, n * sizeof(__half));
    cudaMemset(y, 0, n * sizeof(__half));
    cudaMemset(image, 0, 1022);
    axpy_right<<<2, 128>>>(x, y, __float2half(2.0f), n);
    axpy<<<2, 128>>>(x, y, __float2half(2.0f), n);
    invert<<<1, 256>>>(image, 1022);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    cudaFree(image);
}
