// Unusual: Blocks of one dimension over the whole picture, with a complex number as a struct.
// SPDX-License-Identifier: MIT
// Lesson 12, divergence: lanes that leave a loop at different times, and what the warp pays for it.
// Start with README.md in this directory; `make 12` checks this file.
#include "divergence_mandelbrot.h"

template <class T>
__host__ __device__ int escape_time(T cr, T ci) {
    struct C {
        T re, im;
    } z{cr, ci};
    auto square = [](C a) { return C{a.re * a.re - a.im * a.im, 2 * a.re * a.im}; };
    int k = 0;
    while (k < kMostSteps) {
        C s = square(z);
        z = C{s.re + cr, s.im + ci};
        if (z.re * z.re + z.im * z.im > T(4)) break;
        ++k;
    }
    return k;
}

// Element `index` of `count` values that run from `first` to `last` in equal steps.
template <class T>
__device__ T spaced(T first, T last, int index, int count) {
    return count == 1 ? first : first + index * ((last - first) / (count - 1));
}

template <class T>
__global__ void mandelbrot_kernel(int* pixels, int height, int width, int pitch) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= 1ll * width * height) return;
    int column = i % width, row = i / width;
    T cr = spaced(T(-1.5), T(0), column, width);
    T ci = spaced(T(-1), T(0), row, height);
    pixels[1ll * row * pitch + column] = escape_time(cr, ci);
}

template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch) {
    const dim3 block(256);
    const dim3 grid(unsigned((1ll * width * height + 255) / 256));
    mandelbrot_kernel<T><<<grid, block>>>(d_pixels, height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
}

double simt_efficiency(const int* trips, long long n) {
    double wanted = 0, paid = 0;
    for (long long w = 0; w < n; w += kWarp) {
        int slowest = 0;
        for (long long i = w; i < w + kWarp && i < n; ++i) {
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
