// Unusual: The number under the root with one rounding more of the product b b, and a select
// without a branch.
// SPDX-License-Identifier: MIT
// Lesson 09, kernel fusion: nine passes over memory become one, and then the result is made
// accurate. Start with README.md in this directory; `make 09` checks this file.
#include "kernel_fusion.h"

constexpr int kThreads = 256;

static unsigned blocks_for(int n) {
    return (unsigned(n) + kThreads - 1) / kThreads;
}

__device__ int thread_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// One kernel for each operation, as an array library has them.
template <class T>
__global__ void negative(const T* x, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = -x[i];
}
template <class T>
__global__ void square_root(const T* x, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = sqrt(x[i]);
}
template <class T>
__global__ void squared(const T* x, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = x[i] * x[i];
}
template <class T>
__global__ void scaled(T factor, const T* x, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = factor * x[i];
}
template <class T>
__global__ void product(const T* x, const T* y, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = x[i] * y[i];
}
template <class T>
__global__ void sum(const T* x, const T* y, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = x[i] + y[i];
}
template <class T>
__global__ void difference(const T* x, const T* y, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = x[i] - y[i];
}
template <class T>
__global__ void quotient(const T* x, const T* y, T* out, int n) {
    if (const int i = thread_index(); i < n) out[i] = x[i] / y[i];
}

// What `(-b + sqrt(b*b - 4*a*c)) / (2*a)` does when b, a and c are arrays.
template <class T>
void roots_unfused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n) {
    if (n == 0) return;
    T* d_temporaries;
    CUDA_CHECK(cudaMalloc(&d_temporaries, 8 * size_t(n) * sizeof(T)));
    const auto temporary = [&](int k) { return d_temporaries + size_t(k) * n; };
    T *d_minus_b = temporary(0), *d_b_b = temporary(1), *d_4a = temporary(2), *d_4ac = temporary(3),
      *d_inside = temporary(4), *d_sqrt = temporary(5), *d_over = temporary(6),
      *d_2a = temporary(7);
    const unsigned blocks = blocks_for(n);
    negative<<<blocks, kThreads>>>(d_b, d_minus_b, n);
    squared<<<blocks, kThreads>>>(d_b, d_b_b, n);
    scaled<<<blocks, kThreads>>>(T(4), d_a, d_4a, n);
    product<T><<<blocks, kThreads>>>(d_4a, d_c, d_4ac, n);
    difference<T><<<blocks, kThreads>>>(d_b_b, d_4ac, d_inside, n);
    square_root<T><<<blocks, kThreads>>>(d_inside, d_sqrt, n);
    sum<T><<<blocks, kThreads>>>(d_minus_b, d_sqrt, d_over, n);
    scaled<<<blocks, kThreads>>>(T(2), d_a, d_2a, n);
    quotient<T><<<blocks, kThreads>>>(d_over, d_2a, d_root, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaFree(d_temporaries));
}

template <class T>
__global__ void fused_kernel(const T* a_values, const T* b_values, const T* c_values, T* root,
                             int n) {
    const int i = thread_index();
    if (i >= n) return;
    const T a = a_values[i], b = b_values[i], c = c_values[i];
    root[i] = (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
}

template <class T>
void roots_fused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n) {
    if (n == 0) return;
    fused_kernel<<<blocks_for(n), kThreads>>>(d_a, d_b, d_c, d_root, n);
    CUDA_CHECK(cudaGetLastError());
}

// The root of a x^2 + b x + c, in T, without subtracting numbers that are nearly equal.
template <class T>
__device__ T stable_root(T a, T b, T c) {
    const T ac = -4 * a * c, s = sqrt(fma(b, b, ac));
    const T over = b > 0 ? 2 * c : s - b, under = b > 0 ? -b - s : 2 * a;
    return over / under;
}

template <class T>
__global__ void stable_kernel(const T* a, const T* b, const T* c, T* root, int n) {
    if (const int i = thread_index(); i < n) root[i] = stable_root(a[i], b[i], c[i]);
}

template <class T>
void roots_stable(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n) {
    if (n == 0) return;
    stable_kernel<<<blocks_for(n), kThreads>>>(d_a, d_b, d_c, d_root, n);
    CUDA_CHECK(cudaGetLastError());
}

// The test is compiled separately and cannot see these templates, so both versions are made here.
template void roots_unfused(const float*, const float*, const float*, float*, int);
template void roots_unfused(const double*, const double*, const double*, double*, int);
template void roots_fused(const float*, const float*, const float*, float*, int);
template void roots_fused(const double*, const double*, const double*, double*, int);
template void roots_stable(const float*, const float*, const float*, float*, int);
template void roots_stable(const double*, const double*, const double*, double*, int);
