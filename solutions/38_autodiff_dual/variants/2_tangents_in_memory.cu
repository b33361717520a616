// Variant: both derivatives by one evaluation, in loops that keep the tangents in local memory.
// verdict: efficient "efficient: one evaluation gives the value and both derivatives"
// verdict: efficient "efficient: a point stays in registers for all steps"
// verdict: efficient "efficient: tangents stay in registers"
// SPDX-License-Identifier: MIT
// Lesson 38, dual numbers: a type whose arithmetic computes derivatives, and four kernels that use
// it.
// Start with README.md in this directory; `make 38` checks this file.
#include "autodiff_dual.h"

constexpr int kThreads = 256;

// The host compiler does not know this pragma.
#ifdef __CUDA_ARCH__
#define NOT_UNROLLED _Pragma("unroll 1")
#else
#define NOT_UNROLLED
#endif

template <int N, class T>
__host__ __device__ Dual<T, N> variable(const T& value, [[maybe_unused]] int k) {
    Dual<T, N> result = 0.0f;
    result.value = value;
    result.tangent[k] = 1.0f;
    return result;
}

// Finished, as a model for the next two.
template <class T, int N>
__host__ __device__ Dual<T, N> operator+(const Dual<T, N>& a, const Dual<T, N>& b) {
    Dual<T, N> sum;
    sum.value = a.value + b.value;
    NOT_UNROLLED
    for (int k = 0; k < N; ++k) sum.tangent[k] = a.tangent[k] + b.tangent[k];
    return sum;
}

template <class T, int N>
__host__ __device__ Dual<T, N> operator-(const Dual<T, N>& a, const Dual<T, N>& b) {
    Dual<T, N> difference;
    difference.value = a.value - b.value;
    NOT_UNROLLED
    for (int k = 0; k < N; ++k) difference.tangent[k] = a.tangent[k] - b.tangent[k];
    return difference;
}

template <class T, int N>
__host__ __device__ Dual<T, N> operator*(const Dual<T, N>& a, const Dual<T, N>& b) {
    Dual<T, N> product;
    product.value = a.value * b.value;
    NOT_UNROLLED
    for (int k = 0; k < N; ++k) {
        product.tangent[k] = a.value * b.tangent[k] + a.tangent[k] * b.value;
    }
    return product;
}

template <class T, int N>
__host__ __device__ Dual<T, N> operator/(const Dual<T, N>& a, const Dual<T, N>& b) {
    Dual<T, N> quotient;
    quotient.value = a.value / b.value;
    NOT_UNROLLED
    for (int k = 0; k < N; ++k) {
        quotient.tangent[k] = (a.tangent[k] - quotient.value * b.tangent[k]) / b.value;
    }
    return quotient;
}

// The chain rule: the dual number of f(a), given f and the derivative of f at the value of a.
template <class T, int N>
__host__ __device__ Dual<T, N> chain(const T& value, const T& slope, const Dual<T, N>& a) {
    Dual<T, N> result;
    result.value = value;
    NOT_UNROLLED
    for (int k = 0; k < N; ++k) result.tangent[k] = slope * a.tangent[k];
    return result;
}

// Finished, as a model: the derivative of exp is exp.
template <class T, int N>
__host__ __device__ Dual<T, N> exp(const Dual<T, N>& a) {
    const T power = exp(a.value);
    return chain(power, power, a);
}

template <class T, int N>
__host__ __device__ Dual<T, N> sqrt(const Dual<T, N>& a) {
    const T root = sqrt(a.value);
    return chain(root, 0.5f / root, a);
}

template <class T, int N>
__host__ __device__ Dual<T, N> sin(const Dual<T, N>& a) {
    return chain(sin(a.value), cos(a.value), a);
}

template <class T, int N>
__host__ __device__ Dual<T, N> cos(const Dual<T, N>& a) {
    return chain(cos(a.value), -sin(a.value), a);
}

template <class T, int N>
__host__ __device__ Dual<T, N> tanh(const Dual<T, N>& a) {
    const T t = tanh(a.value);
    return chain(t, 1.0f - t * t, a);
}

template <class T, int N>
__host__ __device__ Dual<T, N> pow(const Dual<T, N>& a, float exponent) {
    if (exponent == 0) return 1.0f;  // the formula has 0 * infinity at a = 0
    return chain(pow(a.value, exponent), exponent * pow(a.value, exponent - 1), a);
}

template <class F>
__global__ void gradients_kernel(F f, const float* x, const float* y, float* values, float* dx,
                                 float* dy, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Dual2 result = f(variable<2>(x[i], 0), variable<2>(y[i], 1));
    values[i] = result.value;
    dx[i] = result.tangent[0];
    dy[i] = result.tangent[1];
}

template <class F>
__global__ void descend_kernel(F f, float* xs, float* ys, int n, float rate) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = xs[i], y = ys[i];
    const Dual2 result = f(variable<2>(x, 0), variable<2>(y, 1));
    xs[i] = x - rate * result.tangent[0];
    ys[i] = y - rate * result.tangent[1];
}

template <class F>
__global__ void second_derivatives_kernel(F f, const float* x, const float* y, float* xx, float* xy,
                                          float* yy, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Second2 result =
        f(variable<2>(variable<2>(x[i], 0), 0), variable<2>(variable<2>(y[i], 1), 1));
    xx[i] = result.tangent[0].tangent[0];
    xy[i] = result.tangent[0].tangent[1];
    yy[i] = result.tangent[1].tangent[1];
}

__global__ void residuals_kernel(Net net, const float* x, float* residual, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Dual1 at = variable<1>(x[i], 0);
    Dual1 sum = net.c;
    for (int j = 0; j < net.units; ++j) {
        sum = sum + net.d_w[j] * tanh(net.d_a[j] * at + net.d_b[j]);
    }
    residual[i] = sum.tangent[0] + sum.value;
}

static unsigned blocks_for(int n) {
    return (unsigned(n) + kThreads - 1) / kThreads;
}

template <class F>
void gradients(F f, const float* d_x, const float* d_y, float* d_f, float* d_dx, float* d_dy,
               int n) {
    if (n == 0) return;
    gradients_kernel<<<blocks_for(n), kThreads>>>(f, d_x, d_y, d_f, d_dx, d_dy, n);
    CUDA_CHECK(cudaGetLastError());
}

template <class F>
void descend(F f, float* d_x, float* d_y, int n, int steps, float rate) {
    if (n == 0) return;
    for (int step = 0; step < steps; ++step) {
        descend_kernel<<<blocks_for(n), kThreads>>>(f, d_x, d_y, n, rate);
    }
    CUDA_CHECK(cudaGetLastError());
}

template <class F>
void second_derivatives(F f, const float* d_x, const float* d_y, float* d_xx, float* d_xy,
                        float* d_yy, int n) {
    if (n == 0) return;
    second_derivatives_kernel<<<blocks_for(n), kThreads>>>(f, d_x, d_y, d_xx, d_xy, d_yy, n);
    CUDA_CHECK(cudaGetLastError());
}

void residuals(Net net, const float* d_x, float* d_residual, int n) {
    if (n == 0) return;
    residuals_kernel<<<blocks_for(n), kThreads>>>(net, d_x, d_residual, n);
    CUDA_CHECK(cudaGetLastError());
}

// The test is compiled separately and does not see these templates, so they are instantiated here.
#define MADE_FOR(D)                                                                                \
    template D operator+(const D&, const D&);                                                      \
    template D operator-(const D&, const D&);                                                      \
    template D operator*(const D&, const D&);                                                      \
    template D operator/(const D&, const D&);                                                      \
    template D exp(const D&);                                                                      \
    template D sqrt(const D&);                                                                     \
    template D sin(const D&);                                                                      \
    template D cos(const D&);                                                                      \
    template D tanh(const D&);                                                                     \
    template D pow(const D&, float);
MADE_FOR(Dual1)
MADE_FOR(Dual2)
MADE_FOR(Second2)
template Dual1 variable<1>(const float&, int);
template Dual2 variable<2>(const float&, int);
template Second2 variable<2>(const Dual2&, int);
template Dual<float, 5> variable<5>(const float&, int);

#define MADE_WITH(F)                                                                               \
    template void gradients(F, const float*, const float*, float*, float*, float*, int);           \
    template void descend(F, float*, float*, int, int, float);                                     \
    template void second_derivatives(F, const float*, const float*, float*, float*, float*, int);
MADE_WITH(Quadratic)
MADE_WITH(Rosenbrock)
MADE_WITH(Waves)
MADE_WITH(Ripples)
