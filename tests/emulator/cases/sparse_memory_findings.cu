// SPDX-License-Identifier: MIT
// Every checker is exact in an array of 40 GB of which a few pages are touched.
// env: EMULATOR_MEMORY=64G
#include <cstdio>

constexpr size_t kPitch = size_t(5) << 28;  // floats: 5 GB
constexpr int kRows = 8;
constexpr size_t kFloats = kRows * kPitch - 100;  // ends within a page

__global__ void int_index(float* data, int rows, int pitch) {
    const int row = blockIdx.x, column = threadIdx.x;
    if (row < rows) data[row * pitch + column] = 1;  // expect: out-of-bounds-global
}

__global__ void past_the_end(float* data) {
    data[kFloats - 31 + threadIdx.x] = 1;  // expect: out-of-bounds-global
}

__global__ void unwritten(const float* data, float* out) {
    const float far = data[7 * kPitch + 4096 + threadIdx.x];  // expect: uninitialized-global
    if (far > 0) out[threadIdx.x] = 1;
}

__global__ void all_blocks_one_place(float* data) {
    data[6 * kPitch + threadIdx.x] = float(blockIdx.x);  // expect: race-global
}

int main() {
    float *data = nullptr, *out = nullptr;
    if (cudaMalloc(&data, kFloats * sizeof(float)) != cudaSuccess) return 1;
    if (cudaMalloc(&out, 32 * sizeof(float)) != cudaSuccess) return 1;
    past_the_end<<<1, 32>>>(data);
    unwritten<<<1, 32>>>(data, out);
    all_blocks_one_place<<<4, 32>>>(data);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    // Row 2 begins at element 2^31 and more: the index is negative, and no page is there.
    int_index<<<3, 32>>>(data, 3, int(kPitch));
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) return 3;
    cudaFree(out);
    cudaFree(data);
    return 0;
}
