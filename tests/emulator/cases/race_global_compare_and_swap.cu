// SPDX-License-Identifier: MIT
// A plain load in front of a loop of compare-and-swap, which checks what it brought: no race. One
// whose value goes elsewhere is.
// also: -G
#include <cuda_runtime.h>

// As the programming guide adds doubles.
__device__ double add(double* address, double value) {
    unsigned long long* word = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

// twin: race-global
__global__ void sum(const double* in, double* total) {
    add(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

__device__ void raise(float* highest, float value) {
    int* word = reinterpret_cast<int*>(highest);
    int old = *word;
    while (value > __int_as_float(old)) {
        const int seen = atomicCAS(word, old, __float_as_int(value));
        if (seen == old) break;
        old = seen;
    }
}

// twin: race-global
__global__ void maximum(const float* in, float* highest) {
    raise(highest, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// twin: race-shared
__global__ void maximum_of_block(const float* in, float* out) {
    __shared__ float highest;
    if (threadIdx.x == 0) highest = in[0];
    __syncthreads();
    raise(&highest, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = highest;
}

// A stack of nodes: only the exchange of its head decides.
// twin: race-global
__global__ void push(int* head, int* next) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    int old = *head, seen;
    do {
        next[me] = old;
        seen = old;
        old = atomicCAS(head, seen, me);
    } while (old != seen);
}

// The value that was read is used, whatever the exchange says.
__global__ void claim(int* owner, int* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const int before = *owner;
    atomicCAS(owner, -1, me);  // expect: warning race-global "`owner[0]`"
    out[me] = before;
}

int main() {
    const int n = 128;
    double* doubles;
    float* floats;
    int* ints;
    cudaMalloc(&doubles, (n + 1) * sizeof(double));
    cudaMalloc(&floats, (n + 1) * sizeof(float));
    cudaMalloc(&ints, (n + 2) * sizeof(int));
    cudaMemset(doubles, 0, (n + 1) * sizeof(double));
    cudaMemset(floats, 0, (n + 1) * sizeof(float));
    cudaMemset(ints, 0xff, (n + 2) * sizeof(int));
    sum<<<2, 64>>>(doubles, doubles + n);
    maximum<<<2, 64>>>(floats, floats + n);
    maximum_of_block<<<1, 64>>>(floats, floats + n);
    push<<<2, 64>>>(ints + n, ints);
    claim<<<2, 64>>>(ints + n + 1, ints);
    cudaDeviceSynchronize();
    cudaFree(doubles);
    cudaFree(floats);
    cudaFree(ints);
}
