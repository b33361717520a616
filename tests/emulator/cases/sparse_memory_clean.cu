// SPDX-License-Identifier: MIT
// Rows of a matrix of 48 GB, 2^31 floats apart and more: only the pages that are touched take
// memory and time.
// apart: arrays of other cases' modules take memory of the device
// env: EMULATOR_MEMORY=64G
#include <cstdio>
#include <vector>

__global__ void touch_rows(float* data, int rows, size_t pitch, int columns) {
    const int row = blockIdx.x, column = threadIdx.x;
    if (row < rows && column < columns) data[row * pitch + column] += float(row + column);
}

int main() {
    const size_t pitch = size_t(1) << 31;
    const int rows = 6, columns = 64;
    float* data = nullptr;
    if (cudaMalloc(&data, rows * pitch * sizeof(float)) != cudaSuccess) return 1;
    // The whole array is zero then, and still takes no memory.
    if (cudaMemset(data, 0, rows * pitch * sizeof(float)) != cudaSuccess) return 2;
    // twin: out-of-bounds-global, uninitialized-global, race-global
    touch_rows<<<rows, columns>>>(data, rows, pitch, columns);
    std::vector<float> last(columns);
    const float* from = data + (rows - 1) * pitch;
    if (cudaMemcpy(last.data(), from, columns * sizeof(float), cudaMemcpyDeviceToHost) !=
        cudaSuccess)
        return 3;
    for (int column = 0; column < columns; ++column)
        if (last[column] != float(rows - 1 + column)) return 4;
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    if (total != size_t(64) << 30 || free_bytes != total - rows * pitch * sizeof(float)) return 5;
    // A card of 64 GiB has no room for another one.
    float* second = nullptr;
    if (cudaMalloc(&second, rows * pitch * sizeof(float)) != cudaErrorMemoryAllocation) return 6;
    cudaGetLastError();
    return cudaFree(data) == cudaSuccess ? 0 : 7;
}
