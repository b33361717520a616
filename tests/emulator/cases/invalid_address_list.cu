// SPDX-License-Identifier: MIT
// The end of a linked list is not looked for.
#include <cuda_runtime.h>

struct Node {
    int value;
    Node* next;
};

__device__ Node nodes[4];

__global__ void link() {
    for (int i = 0; i < 4; ++i) nodes[i] = Node{i, i < 3 ? &nodes[i + 1] : nullptr};
}

__global__ void walk(int steps, int* out) {
    const Node* node = &nodes[0];
    for (int i = 0; i < steps; ++i) node = node->next;
    *out = node->value;  // expect: invalid-address "null pointer"
}

int main() {
    int* out;
    cudaMalloc(&out, sizeof(int));
    link<<<1, 1>>>();
    walk<<<1, 1>>>(4, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
