// SPDX-License-Identifier: MIT
// Clean: graphs with copy, set and kernel nodes with all edges, captured over two streams and
// explicit.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(float* data, int n, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= f;
}

__global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

int main() {
    const int n = 1000, bytes = n * sizeof(float);
    float *pinned, *a, *b, *c;
    cudaMallocHost(&pinned, bytes);
    for (int i = 0; i < n; ++i) pinned[i] = i;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaStream_t s, t;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    // twin: race-global
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, s);
    scale<<<4, 256, 0, s>>>(a, n, 2.0f);
    cudaMemcpyAsync(b, pinned, bytes, cudaMemcpyHostToDevice, t);
    scale<<<4, 256, 0, t>>>(b, n, 3.0f);
    cudaEventRecord(join, t);
    cudaStreamWaitEvent(s, join, 0);
    add<<<4, 256, 0, s>>>(a, b, c, n);
    cudaMemcpyAsync(pinned, c, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    bool right = pinned[3] == 75.0f;
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFreeHost(pinned);
    std::printf("%d\n", right);
    return right ? 0 : 1;
}
