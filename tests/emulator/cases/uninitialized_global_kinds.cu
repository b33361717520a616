// SPDX-License-Identifier: MIT
// Memory that nobody wrote: partial sums of blocks that did nothing, a struct's member, pool
// memory, managed memory.
#include <cuda_runtime.h>

__global__ void partial_sums(const float* in, float* partial, int n) {
    __shared__ float s[64];
    int first = blockIdx.x * 64;
    if (first >= n) return;  // this block's sum stays as it was
    s[threadIdx.x] = first + threadIdx.x < n ? in[first + threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 64; ++i) sum += s[i];
        partial[blockIdx.x] = sum;
    }
}

__global__ void total(const float* partial, float* out, int blocks) {
    float sum = 0;
    for (int b = 0; b < blocks; ++b) sum += partial[b];  // expect: uninitialized-global
    *out = sum;
}

struct Body {
    float3 position, velocity;
    float mass;
    int alive;
};

__global__ void create(Body* bodies, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    bodies[i].position = {float(i), 0, 0};
    bodies[i].velocity = {0, 0, 0};
    bodies[i].mass = 1;
}

__global__ void step(Body* bodies, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    // expect: uninitialized-global
    if (bodies[i].alive) bodies[i].position.x += bodies[i].velocity.x;
}

__global__ void count(const unsigned short* words, int* bins, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&bins[words[i] & 7], 1);  // expect: uninitialized-global
}

template <typename T>
__global__ void accumulate(const T* in, T* out) {
    out[threadIdx.x] += in[threadIdx.x];  // expect: uninitialized-global
}

int main() {
    const int n = 200;
    float *in, *partial, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&partial, 8 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    partial_sums<<<8, 64>>>(in, partial, n);
    total<<<1, 1>>>(partial, out, 8);

    Body* bodies;
    cudaMallocManaged(&bodies, 10 * sizeof(Body));
    create<<<1, 32>>>(bodies, 10);
    step<<<1, 32>>>(bodies, 10);

    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int* bins;
    unsigned short* words;
    cudaMallocAsync(&bins, 8 * sizeof(int), stream);
    cudaMallocAsync(&words, 100 * sizeof(short), stream);
    cudaMemsetAsync(words, 1, 100 * sizeof(short), stream);
    count<<<1, 32, 0, stream>>>(words, bins, 100);
    cudaFreeAsync(bins, stream);
    cudaFreeAsync(words, stream);

    double* wide;
    cudaMalloc(&wide, 64 * sizeof(double));
    cudaMemset(wide, 0, 32 * sizeof(double));
    accumulate<<<1, 32>>>(wide, wide + 32);
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(partial);
    cudaFree(out);
    cudaFree(bodies);
    cudaFree(wide);
}
