// SPDX-License-Identifier: MIT
// Padding, unused vector lanes, memory that begins written, memory written in every possible way.
#include <vector>

#include <cuda_runtime.h>

struct Padded {
    char tag;
    double value;
    short count;
};

__device__ int zeros[64];
__managed__ int shared_with_host[64];

__global__ void make(Padded* out, float4* vectors, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i].tag = 'a';
    out[i].value = i;
    out[i].count = 3;
    vectors[i].x = 1;
    vectors[i].y = 2;
    vectors[i].z = 3;
}

// twin: uninitialized-global
__global__ void copy(const Padded* in, Padded* out, const float4* from, float4* to, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = in[i];
    to[i] = from[i];
}

// twin: uninitialized-global
__global__ void count(unsigned int* bins, int* locks) {
    zeros[threadIdx.x] += shared_with_host[threadIdx.x];
    atomicAdd(&bins[threadIdx.x % 8], 1u);
    atomicExch(&locks[threadIdx.x], 1);
}

int main() {
    const int n = 50;
    Padded *a, *b;
    float4 *u, *v;
    unsigned int* bins;
    int* locks;
    cudaMalloc(&a, n * sizeof(Padded));
    cudaMalloc(&b, n * sizeof(Padded));
    cudaMalloc(&u, n * sizeof(float4));
    cudaMalloc(&v, n * sizeof(float4));
    cudaMalloc(&bins, 8 * sizeof(unsigned int));
    cudaMalloc(&locks, 64 * sizeof(int));
    cudaMemset(bins, 0, 8 * sizeof(unsigned int));
    make<<<1, 64>>>(a, u, n);
    copy<<<1, 64>>>(a, b, u, v, n);
    count<<<1, 64>>>(bins, locks);
    std::vector<char> bytes(n * sizeof(Padded));
    cudaMemcpy(bytes.data(), b, bytes.size(), cudaMemcpyDeviceToHost);
    const cudaError_t error = cudaDeviceSynchronize();
    for (void* pointer : {(void*)a, (void*)b, (void*)u, (void*)v, (void*)bins, (void*)locks})
        cudaFree(pointer);
    return error != cudaSuccess;
}
