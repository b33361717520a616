// Unusual: Every operation is rounded by itself, as with -fmad=false: no pixel changes.
// SPDX-License-Identifier: MIT
// Lesson 12, divergence: lanes that leave a loop at different times, and what the warp pays for it.
// Start with README.md in this directory; `make 12` checks this file.
#include "divergence_mandelbrot.h"

// One product or sum, rounded by itself.
__host__ __device__ double times(double a, double b) {
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}
__host__ __device__ float times(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
__host__ __device__ double plus(double a, double b) {
#ifdef __CUDA_ARCH__
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
}
__host__ __device__ float plus(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

template <class T>
__host__ __device__ int escape_time(T cr, T ci) {
    T x = cr, y = ci;
    for (int k = 0; k < kMostSteps; ++k) {
        const T old = x;
        x = plus(plus(times(x, x), -times(y, y)), cr);
        y = plus(times(times(T(2), old), y), ci);
        if (plus(times(x, x), times(y, y)) > 4) return k;
    }
    return kMostSteps;
}

// Element `index` of `count` values that run from `first` to `last` in equal steps.
template <class T>
__device__ T spaced(T first, T last, int index, int count) {
    return count == 1 ? first : first + index * ((last - first) / (count - 1));
}

template <class T>
__global__ void mandelbrot_kernel(int* pixels, int height, int width, int pitch) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || column >= width) return;
    const T cr = spaced(T(-1.5), T(0), column, width), ci = spaced(T(-1), T(0), row, height);
    pixels[size_t(row) * pitch + column] = escape_time(cr, ci);
}

template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch) {
    const dim3 block(32, 8);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    mandelbrot_kernel<T><<<grid, block>>>(d_pixels, height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
}

double simt_efficiency(const int* trips, long long n) {
    double wanted = 0, paid = 0;
    for (long long warp = 0; warp < n; warp += kWarp) {
        int slowest = 0;
        for (long long i = warp; i < warp + kWarp && i < n; ++i) {
            wanted += trips[i];
            if (trips[i] > slowest) slowest = trips[i];
        }
        paid += double(kWarp) * slowest;
    }
    return paid > 0 ? wanted / paid : 1;
}

// The test is compiled separately and cannot see these templates, so both versions are made here.
template int escape_time(float, float);
template int escape_time(double, double);
template void mandelbrot<float>(int*, int, int, int);
template void mandelbrot<double>(int*, int, int, int);
