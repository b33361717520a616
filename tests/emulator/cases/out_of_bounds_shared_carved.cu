// SPDX-License-Identifier: MIT
// Dynamic shared memory carved up by hand: the launch forgets one of the three parts.
#include <cuda_runtime.h>

__global__ void window_sums(const float* in, float* out, int n) {
    extern __shared__ char raw[];
    float* tile = reinterpret_cast<float*>(raw);
    double* sums = reinterpret_cast<double*>(tile + blockDim.x);
    int* counts = reinterpret_cast<int*>(sums + blockDim.x);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    double sum = tile[t];
    int count = 1;
    if (t > 0) sum += tile[t - 1], ++count;
    sums[t] = sum;
    counts[t] = count;  // expect: out-of-bounds-shared
    __syncthreads();
    if (i < n) out[i] = float(sums[t] / counts[t]);  // expect: out-of-bounds-shared
}

int main() {
    const int n = 512, block = 128;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    // twin: out-of-bounds-shared
    window_sums<<<n / block, block, block*(sizeof(float) + sizeof(double) + sizeof(int))>>>(
        in, out, n);
    window_sums<<<n / block, block, block*(sizeof(float) + sizeof(double))>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
