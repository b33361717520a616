// SPDX-License-Identifier: MIT
// Lesson 12, divergence: lanes that leave a loop at different times, and what the warp pays for it.
// Start with README.md in this directory; `make 12` checks this file.
#include "divergence_mandelbrot.h"

template <class T>
__host__ __device__ int escape_time(T cr, T ci) {
    // TODO 1 (about 9 lines): take up to kMostSteps steps z = z * z + c, and return the number of
    // the first one after which |z|^2 > 4. (x + iy)^2 = (x^2 - y^2) + i 2xy.
    return cr + ci < 0 ? 1 : 2;  // placeholder
    // END 1
}

// Element `index` of `count` values that run from `first` to `last` in equal steps.
template <class T>
__device__ T spaced(T first, T last, int index, int count) {
    return count == 1 ? first : first + index * ((last - first) / (count - 1));
}

template <class T>
__global__ void mandelbrot_kernel(int* pixels, int height, int width, int pitch) {
    // TODO 2 (about 5 lines): find this thread's row and column, guard both axes, get c from
    // `spaced`, and store the escape time. Neighbouring lanes must have neighbouring columns.
    // END 2
}

template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch) {
    const dim3 block(32, 8);
    // TODO 3 (1 line): launch enough blocks for the whole picture, along x and along y.
    const dim3 grid(1, 1);  // placeholder
    // END 3
    mandelbrot_kernel<T><<<grid, block>>>(d_pixels, height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
}

double simt_efficiency(const int* trips, long long n) {
    double wanted = 0, paid = 0;
    // TODO 4 (about 8 lines): for each warp, add the trips of its lanes to `wanted`, and kWarp
    // times the trips of its slowest lane to `paid`.
    paid = n > 0 ? kWarp * (1.0 + trips[0]) : 0;  // placeholder
    // END 4
    return paid > 0 ? wanted / paid : 1;
}

// The test is compiled separately and cannot see these templates, so both versions are made here.
template int escape_time(float, float);
template int escape_time(double, double);
template void mandelbrot<float>(int*, int, int, int);
template void mandelbrot<double>(int*, int, int, int);
