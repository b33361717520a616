// SPDX-License-Identifier: MIT
// Bitonic sorts in place, and the scan of Hillis and Steele with two buffers and with one.
#include <cuda_runtime.h>

template <typename T>
__device__ void order(T& a, T& b, bool up) {
    if ((a > b) == up) {
        T c = a;
        a = b;
        b = c;
    }
}

// twin: race-shared
template <typename T>
__global__ void bitonic(T* data) {
    __shared__ T s[256];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) order(s[t], s[other], (t & k) == 0);
            __syncthreads();
        }
    }
    data[t] = s[t];
}

template <int kBuffers>
__global__ void hillis_steele(const int* in, int* out) {
    __shared__ int s[kBuffers][128];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int to = (from + 1) % kBuffers;
        s[to][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];  // expect: race-shared
        from = to;
        __syncthreads();
    }
    out[t] = s[from][t];
}

// twin: race-global
__global__ void global_bitonic(float* data, int j, int k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i) order(data[i], data[other], (i & k) == 0);
}

int main() {
    double* a;
    int* b;
    float* c;
    cudaMalloc(&a, 256 * sizeof(double));
    cudaMalloc(&b, 256 * sizeof(int));
    cudaMalloc(&c, 1024 * sizeof(float));
    float host[1024];
    for (int i = 0; i < 1024; ++i) host[i] = i * 37 % 1024;
    double first[256];
    for (int i = 0; i < 256; ++i) first[i] = i * 37 % 256;
    cudaMemcpy(a, first, sizeof first, cudaMemcpyHostToDevice);
    cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, 256 * sizeof(int));
    bitonic<double><<<1, 256>>>(a);
    // twin: race-shared
    hillis_steele<2><<<1, 128>>>(b, b + 128);
    for (int k = 2; k <= 1024; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) global_bitonic<<<4, 256>>>(c, j, k);
    hillis_steele<1><<<1, 128>>>(b, b + 128);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
