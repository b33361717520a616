// SPDX-License-Identifier: MIT
// The host fills the device's array in a loop.
#include <cuda_runtime.h>

static void fill(float* values, int n) {
    for (int i = 0; i < n; ++i) values[i] = 1.0f;  // expect: host-dereference
}

int main() {
    float* data;
    cudaMalloc(&data, 100 * sizeof(float));
    fill(data, 100);
    cudaFree(data);
}
