// SPDX-License-Identifier: MIT
// A list that points back to itself.
#include <cuda_runtime.h>

struct Node {
    int value;
    Node* next;
};

__global__ void link(Node* nodes, int n) {
    int i = threadIdx.x;
    if (i < n) nodes[i] = {i, &nodes[(i + 1) % n]};
}

__device__ int length(const Node* at) {
    int n = 0;
    for (; at; at = at->next) ++n;  // expect: hang
    return n;
}

__global__ void measure(const Node* first, int* out) {
    *out = length(first);
}

int main() {
    Node* nodes;
    int* out;
    cudaMalloc(&nodes, 8 * sizeof(Node));
    cudaMalloc(&out, sizeof(int));
    link<<<1, 32>>>(nodes, 8);
    measure<<<1, 1>>>(nodes, out);
    cudaDeviceSynchronize();
    cudaFree(nodes);
    cudaFree(out);
}
