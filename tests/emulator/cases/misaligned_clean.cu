// SPDX-License-Identifier: MIT
// Rows padded to the width of the vector; bytes put together by memcpy; doubles before ints.
#include <cstring>

#include <cuda_runtime.h>

// twin: misaligned
__global__ void copy_row(const float* in, float4* out, int row, int pitch) {
    const float4* line = reinterpret_cast<const float4*>(in + row * pitch);
    out[threadIdx.x] = line[threadIdx.x];
}

// twin: misaligned
__global__ void parse(const unsigned char* stream, double* out) {
    double value;
    memcpy(&value, stream + 1 + 9 * threadIdx.x, sizeof value);
    out[threadIdx.x] = value;
}

// twin: misaligned
__global__ void carve(double* out) {
    extern __shared__ double values[];
    int* numbers = reinterpret_cast<int*>(values + 8);
    values[threadIdx.x] = threadIdx.x;
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[7 - threadIdx.x] + numbers[7 - threadIdx.x];
}

int main() {
    float* in;
    float4* rows;
    double* out;
    unsigned char* stream;
    cudaMalloc(&in, 36 * 10 * sizeof(float));
    cudaMalloc(&rows, 8 * sizeof(float4));
    cudaMalloc(&out, 8 * sizeof(double));
    cudaMalloc(&stream, 100);
    cudaMemset(in, 0, 36 * 10 * sizeof(float));
    cudaMemset(stream, 0, 100);
    copy_row<<<1, 8>>>(in, rows, 3, 36);
    parse<<<1, 8>>>(stream, out);
    carve<<<1, 8, 8 * (sizeof(double) + sizeof(int))>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(rows);
    cudaFree(out);
    cudaFree(stream);
    return error != cudaSuccess;
}
