// SPDX-License-Identifier: MIT
// Loops around a compare-and-swap that begin with a plain load, as the programming guide has them,
// in global and in shared memory; tests before an update; and toolkit functions that are such
// loops. nvcc: -arch=compute_80 also: -arch=compute_80 -G
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

// twin: race-global, race-shared
__device__ double add(double* address, double value) {
    unsigned long long* word = (unsigned long long*)address;
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

// Those with less do not come to the compare-and-swap at all.
// twin: race-global, race-shared
__device__ void raise(float* address, float value) {
    int* word = (int*)address;
    int old = *word;
    while (__int_as_float(old) < value) {
        const int assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}

struct Node {
    int value;
    Node* next;
};

// A stack without a lock: the plain load is the first guess at its top.
// twin: race-global
__device__ void push(Node** top, Node* node) {
    Node* seen = *top;
    do {
        node->next = seen;
        __threadfence();
        Node* const found = (Node*)atomicCAS(
            (unsigned long long*)top, (unsigned long long)seen, (unsigned long long)node);
        if (found == seen) return;
        seen = found;
    } while (true);
}

__global__ void all(double* sum, float* most, int* least, Node** top, Node* nodes,
                    __nv_bfloat16* halves) {
    __shared__ double block_sum;
    __shared__ float block_most;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        block_sum = 0;
        block_most = -1;
    }
    __syncthreads();
    add(&block_sum, 1.0);
    raise(&block_most, float(i * 37 % 256));
    __syncthreads();
    if (threadIdx.x == 0) {
        add(sum, block_sum);
        raise(most, block_most);
    }
    const int mine = 1000 - i * 37 % 256;
    // twin: race-global
    if (mine < *least) atomicMin(least, mine);
    nodes[i].value = i;
    push(top, nodes + i);
    // twin: race-global
    atomicAdd(halves + 1, __float2bfloat16(1.0f));
}

int main() {
    const int n = 256;
    double* sum;
    float* most;
    int *least, begin = 5000;
    Node **top, *nodes, host[n];
    __nv_bfloat16* halves;
    cudaMalloc(&sum, sizeof *sum);
    cudaMalloc(&most, sizeof *most);
    cudaMalloc(&least, sizeof *least);
    cudaMalloc(&top, sizeof *top);
    cudaMalloc(&nodes, sizeof host);
    cudaMalloc(&halves, 2 * sizeof *halves);
    cudaMemset(sum, 0, sizeof *sum);
    cudaMemset(most, 0, sizeof *most);
    cudaMemset(top, 0, sizeof *top);
    cudaMemset(halves, 0, 2 * sizeof *halves);
    cudaMemcpy(least, &begin, sizeof begin, cudaMemcpyHostToDevice);
    all<<<4, 64>>>(sum, most, least, top, nodes, halves);
    double total;
    float highest;
    int lowest, count = 0;
    Node* first;
    __nv_bfloat16 half[2];
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    cudaMemcpy(&highest, most, sizeof highest, cudaMemcpyDeviceToHost);
    cudaMemcpy(&lowest, least, sizeof lowest, cudaMemcpyDeviceToHost);
    cudaMemcpy(&first, top, sizeof first, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, nodes, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(half, halves, sizeof half, cudaMemcpyDeviceToHost);
    for (Node* node = first; node; node = host[node - nodes].next) ++count;
    printf("%g %g %d %d %g\n", total, highest, lowest, count, __bfloat162float(half[1]));
    cudaFree(sum);
    cudaFree(most);
    cudaFree(least);
    cudaFree(top);
    cudaFree(nodes);
    cudaFree(halves);
    return total == n && highest == 255 && lowest == 745 && count == n &&
                   __bfloat162float(half[1]) == n
               ? 0
               : 1;
}
