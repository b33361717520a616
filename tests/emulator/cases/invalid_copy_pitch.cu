// SPDX-License-Identifier: MIT
// Rows that are longer than the distance between them.
#include <cuda_runtime.h>
#include <vector>

int main() {
    const size_t width = 100 * sizeof(float), rows = 10;
    float* data;
    size_t pitch;
    cudaMallocPitch(&data, &pitch, width, rows);
    std::vector<float> host(100 * rows);
    bool good = true;
    // expect: invalid-copy "writes rows of 400 bytes"
    good &= cudaMemcpy2D(data, 100, host.data(), width, width, rows, cudaMemcpyHostToDevice) ==
            cudaSuccess;
    // expect: invalid-copy "reads rows"
    good &= cudaMemcpy2D(data, pitch, host.data(), 100, width, rows, cudaMemcpyHostToDevice) ==
            cudaSuccess;
    // expect: invalid-copy "fills rows"
    good &= cudaMemset2D(data, 100, 0, width, rows) == cudaSuccess;
    cudaFree(data);
    return good;
}
