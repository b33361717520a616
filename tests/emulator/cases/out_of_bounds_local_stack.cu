// SPDX-License-Identifier: MIT
// A stack for a tree traversal that is too small for a tree that is a list.
#include <cuda_runtime.h>

struct Node {
    int left, right, value;
};

template <int kDepth>
class Stack {
public:
    __device__ void push(int v) { items_[size_++] = v; }  // expect: out-of-bounds-local
    __device__ int pop() { return items_[--size_]; }      // expect: out-of-bounds-local
    __device__ bool empty() const { return size_ == 0; }

private:
    int items_[kDepth];
    int size_ = 0;
};

template <int kDepth>
__global__ void total(const Node* nodes, const int* roots, int* out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    Stack<kDepth> stack;
    stack.push(roots[t]);
    int sum = 0;
    for (int steps = 0; steps < 100 && !stack.empty(); ++steps) {
        Node node = nodes[unsigned(stack.pop()) % 41];
        sum += node.value;
        if (node.left >= 0) stack.push(node.left);
        if (node.right >= 0) stack.push(node.right);
    }
    out[t] = sum;
}

int main() {
    const int depth = 20;
    Node host[2 * depth + 1];
    for (int i = 0; i < depth; ++i) {
        host[2 * i] = {2 * i + 1, 2 * i + 2, 1};  // the left one is a leaf, the right one goes on
        host[2 * i + 1] = {-1, -1, 1};
        if (i % 2) host[2 * i] = {2 * i + 1, 2 * i + 2, 1};
    }
    host[2 * depth] = {-1, -1, 1};
    // Going on first, so that leaves pile up on the stack.
    Node piled[2 * depth + 1];
    for (int i = 0; i <= 2 * depth; ++i) piled[i] = host[i];
    for (int i = 0; i < depth; ++i) piled[2 * i] = {2 * i + 1, 2 * i + 2, 1};
    int roots[64], *d_roots, *out;
    for (int& r : roots) r = 0;
    Node* nodes;
    cudaMalloc(&nodes, sizeof piled);
    cudaMalloc(&d_roots, sizeof roots);
    cudaMalloc(&out, sizeof roots);
    cudaMemcpy(nodes, piled, sizeof piled, cudaMemcpyHostToDevice);
    cudaMemcpy(d_roots, roots, sizeof roots, cudaMemcpyHostToDevice);
    // twin: out-of-bounds-local
    total<32><<<1, 64>>>(nodes, d_roots, out, 64);
    total<8><<<1, 64>>>(nodes, d_roots, out, 64);
    for (int i = 0; i < depth; ++i) piled[2 * i] = {2 * i + 1, 2 * i + 2, 1};
    cudaMemcpy(nodes, piled, sizeof piled, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    cudaFree(nodes);
    cudaFree(d_roots);
    cudaFree(out);
}
