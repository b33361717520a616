// SPDX-License-Identifier: MIT
// A padded tile, two arrays carved out of one dynamic buffer, a halo with room on both sides.
#include <cuda_runtime.h>

constexpr int kTile = 32, kBlock = 64;

// twin: out-of-bounds-shared
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[kTile][kTile + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * kTile + x];
    __syncthreads();
    out[y * kTile + x] = tile[x][y];
}

// twin: out-of-bounds-shared
__global__ void carve(double* sums, int* counts) {
    extern __shared__ double raw[];
    double* values = raw;
    int* numbers = reinterpret_cast<int*>(raw + kBlock);
    int t = threadIdx.x;
    values[t] = t;
    numbers[t] = t;
    __syncthreads();
    sums[t] = values[kBlock - 1 - t];
    counts[t] = numbers[kBlock - 1 - t];
}

// twin: out-of-bounds-shared
__global__ void smooth(const float* in, float* out, int n) {
    __shared__ float cells[kBlock + 2];
    int t = threadIdx.x, i = blockIdx.x * kBlock + t;
    cells[t + 1] = in[i];
    if (t == 0) cells[0] = i > 0 ? in[i - 1] : 0.0f;
    if (t == kBlock - 1) cells[t + 2] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    out[i] = cells[t] + cells[t + 1] + cells[t + 2];
}

int main() {
    float *in, *out;
    double* sums;
    int* counts;
    cudaMalloc(&in, kTile * kTile * sizeof(float));
    cudaMalloc(&out, kTile * kTile * sizeof(float));
    cudaMalloc(&sums, kBlock * sizeof(double));
    cudaMalloc(&counts, kBlock * sizeof(int));
    cudaMemset(in, 0, kTile * kTile * sizeof(float));
    transpose<<<1, dim3(kTile, kTile)>>>(in, out);
    carve<<<1, kBlock, kBlock*(sizeof(double) + sizeof(int))>>>(sums, counts);
    smooth<<<4, kBlock>>>(in, out, 4 * kBlock);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(sums);
    cudaFree(counts);
    return error != cudaSuccess;
}
