// Variant: what all pixels share is divided once, on the host; a step takes seven operations.
// SPDX-License-Identifier: MIT
// Lesson 12, divergence: lanes that leave a loop at different times, and what the warp pays.
// Start with README.md in this directory; `make 12` checks this file.
#include "divergence_mandelbrot.h"

template <class T>
__host__ __device__ int escape_time(T cr, T ci) {
    T x = cr, y = ci, y_squared = y * y;
    for (int k = 0; k < kMostSteps; ++k) {
        const T next_x = x * x + (cr - y_squared);  // one fma; y needs the old x
        y = (x + x) * y + ci;
        x = next_x;
        y_squared = y * y;  // for the test and for the next step
        if (x * x + y_squared > 4) return k;
    }
    return kMostSteps;
}

// Values that run from `first` to `last` in equal steps. Made on the host: a division in double
// takes as long as three steps of the loop, and every pixel would do two.
template <class T>
struct Spaced {
    Spaced(T from, T to, int count)
        : first(from), step(count == 1 ? T(0) : (to - from) / (count - 1)) {}
    __device__ T operator[](int index) const { return first + index * step; }
    T first, step;
};

template <class T>
__global__ void mandelbrot_kernel(int* pixels, int height, int width, int pitch, Spaced<T> real,
                                  Spaced<T> imaginary) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || column >= width) return;
    pixels[size_t(row) * pitch + column] = escape_time(real[column], imaginary[row]);
}

template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch) {
    const dim3 block(32, 8);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    const Spaced<T> real(T(-1.5), T(0), width), imaginary(T(-1), T(0), height);
    mandelbrot_kernel<T><<<grid, block>>>(d_pixels, height, width, pitch, real, imaginary);
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
