// SPDX-License-Identifier: MIT
// The benchmark's work as plain C++ loops on one core, compiled with g++ -O2: what the emulated
// device is compared with. Arrays are the caller's; sizes are elements.
#pragma once

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__
#else
#define BENCH_BOTH
#endif

// Iterations until point (x, y) of a width by height picture escapes, at most 100.
BENCH_BOTH inline int escape_time(int x, int y, int width, int height) {
    const float real = -2.0f + 3.0f * float(x) / float(width);
    const float imaginary = -1.5f + 3.0f * float(y) / float(height);
    float a = 0, b = 0;
    int steps = 0;
    while (steps < 100 && a * a + b * b <= 4.0f) {
        const float next = a * a - b * b + real;
        b = 2.0f * a * b + imaginary;
        a = next;
        ++steps;
    }
    return steps;
}

void host_saxpy(const float* x, float* y, float a, int n);
float host_sum(const float* in, int n);
void host_histogram(const unsigned* keys, unsigned* bins, int n);
void host_gather(const float* in, const unsigned* keys, float* out, int n);
void host_mandelbrot(int* out, int width, int height);
void host_matmul(const float* a, const float* b, float* c, int side);
