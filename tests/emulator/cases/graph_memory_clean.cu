// SPDX-License-Identifier: MIT
// Clean: memory of a graph that is freed behind it, by a call or by another graph, and comes back
// at the same address with the next launch; and a second launch while it is there is refused.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int* data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}
__global__ void check(const int* data, int n, int value, int* wrong) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && data[i] != value) atomicAdd(wrong, 1);
}

int main() {
    const int n = 1000;
    int *wrong, *data = nullptr, *scratch = nullptr;
    cudaMallocManaged(&wrong, sizeof *wrong);
    *wrong = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);

    cudaGraph_t graph, frees;
    cudaGraphExec_t exec, free_exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&data, n * sizeof(int), s);
    cudaMallocAsync(&scratch, n * sizeof(int), s);
    fill<<<4, 256, 0, s>>>(scratch, n, 1);
    fill<<<4, 256, 0, s>>>(data, n, 7);
    cudaFreeAsync(scratch, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);

    cudaGraphNode_t node;
    cudaGraphCreate(&frees, 0);
    bool right = cudaGraphAddMemFreeNode(&node, frees, nullptr, 0, data) == cudaSuccess;
    cudaGraphInstantiate(&free_exec, frees, 0);
    cudaGraphDestroy(frees);

    // twin: use-after-free
    for (int how = 0; how < 4; ++how) {
        right &= cudaGraphLaunch(exec, s) == cudaSuccess;
        check<<<4, 256, 0, s>>>(data, n, 7, wrong);
        right &= cudaGraphLaunch(exec, s) == cudaErrorInvalidValue;
        cudaGetLastError();
        if (how == 0) cudaFreeAsync(data, s);
        if (how == 1) right &= cudaGraphLaunch(free_exec, s) == cudaSuccess;
        cudaStreamSynchronize(s);
        if (how >= 2) cudaFree(data);
    }
    right &= *wrong == 0;
    // twin: leak
    // `free_exec` and `exec` are left to the end of the process: all their memory is freed.
    cudaStreamDestroy(s);
    cudaFree(wrong);
    if (!right) std::printf("wrong: %d\n", *wrong);
    return right ? 0 : 1;
}
