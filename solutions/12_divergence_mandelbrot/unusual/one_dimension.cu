// Unusual: A flat grid over all pixels; row and column by division; the coordinates as a weighted
// mean of the ends.
// SPDX-License-Identifier: MIT
// Lesson 12, divergence: lanes that leave a loop at different times, and what the warp pays for it.
// Start with README.md in this directory; `make 12` checks this file.
#include "divergence_mandelbrot.h"

template <class T>
__host__ __device__ int escape_time(T cr, T ci) {
    T x = cr, y = ci;
    for (int k = 0; k < kMostSteps; ++k) {
        const T next_x = x * x - y * y + cr;  // y needs the old x
        y = 2 * x * y + ci;
        x = next_x;
        if (x * x + y * y > 4) return k;
    }
    return kMostSteps;
}

// Element `index` of `count` values that run from `first` to `last` in equal steps.
template <class T>
__device__ T spaced(T first, T last, int index, int count) {
    const int steps = count > 1 ? count - 1 : 1;
    return (first * (steps - index) + last * index) / steps;
}

template <class T>
__global__ void mandelbrot_kernel(int* pixels, int height, int width, int pitch) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int row = int(i / width), column = int(i % width);
    if (row >= height || column >= width) return;
    const T cr = spaced(T(-1.5), T(0), column, width), ci = spaced(T(-1), T(0), row, height);
    pixels[size_t(row) * pitch + column] = escape_time(cr, ci);
}

template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch) {
    const unsigned block = 128;
    const unsigned grid = unsigned((size_t(height) * width + block - 1) / block);
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
