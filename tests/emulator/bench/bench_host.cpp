// SPDX-License-Identifier: MIT
// The benchmark's loops for the host; see bench_host.h. In a file of their own, so that the
// compiler knows nothing of their callers.
#include "bench_host.h"

void host_saxpy(const float* x, float* y, float a, int n) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

float host_sum(const float* in, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

void host_histogram(const unsigned* keys, unsigned* bins, int n) {
    for (int i = 0; i < n; ++i) ++bins[keys[i] >> 24];
}

void host_gather(const float* in, const unsigned* keys, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = in[keys[i] % unsigned(n)];
}

void host_mandelbrot(int* out, int width, int height) {
    for (int i = 0; i < width * height; ++i)
        out[i] = escape_time(i % width, i / width, width, height);
}

void host_matmul(const float* a, const float* b, float* c, int side) {
    for (int row = 0; row < side; ++row)
        for (int column = 0; column < side; ++column) {
            float sum = 0;
            for (int k = 0; k < side; ++k) sum += a[row * side + k] * b[k * side + column];
            c[row * side + column] = sum;
        }
}
