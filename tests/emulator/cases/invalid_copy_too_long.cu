// SPDX-License-Identifier: MIT
// More bytes than the array on the device has.
#include <vector>

#include <cuda_runtime.h>

int main() {
    std::vector<double> host(100);
    double* data;
    cudaMalloc(&data, 100 * sizeof(float));
    // expect: invalid-copy
    cudaMemcpy(data, host.data(), 100 * sizeof(double), cudaMemcpyHostToDevice);
    // expect: invalid-copy
    cudaMemset(data, 0, 100 * sizeof(double));
    // expect: invalid-copy
    cudaMemcpy(host.data(), data + 40, 20 * sizeof(double), cudaMemcpyDeviceToHost);
    cudaFree(data);
}
