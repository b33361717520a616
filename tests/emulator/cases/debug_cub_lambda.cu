// SPDX-License-Identifier: MIT
// Unoptimised: a lambda in a CUB device algorithm goes out of bounds and races.
// nvcc: -G --extended-lambda
#include <cub/device/device_for.cuh>

int main() {
    int *in, *sum;
    cudaMalloc(&in, 100 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(in, 0, 100 * sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    auto op = [=] __device__(int i) {
        int v = in[i + 1];  // expect: out-of-bounds-global
        *sum = *sum + v;    // expect: race-global
    };
    cub::DeviceFor::Bulk(100, op);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(sum);
}
