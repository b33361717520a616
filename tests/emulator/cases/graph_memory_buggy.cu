// SPDX-License-Identifier: MIT
// Memory that a graph allocates is used after it was freed behind the graph, and that of another
// graph is not freed at all.
#include <cuda_runtime.h>

__global__ void fill(int* data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: error use-after-free
    if (i < n) data[i] = value;
}

int* allocate(cudaGraph_t graph, size_t bytes) {
    cudaMemAllocNodeParams given{};
    given.bytesize = bytes;
    given.poolProps.allocType = cudaMemAllocationTypePinned;
    given.poolProps.location.type = cudaMemLocationTypeDevice;
    cudaGraphNode_t node;
    // expect: warning leak "400 bytes"
    cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &given);
    return static_cast<int*>(given.dptr);
}

int main() {
    const int n = 1000;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaGraph_t graph, leaking, unused;
    cudaGraphExec_t exec, leaking_exec, unused_exec;
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&leaking, 0);
    cudaGraphCreate(&unused, 0);
    int* data = allocate(graph, n * sizeof(int));
    allocate(leaking, 400);
    allocate(unused, 200);  // never launched: nothing to free
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphInstantiate(&leaking_exec, leaking, 0);
    cudaGraphInstantiate(&unused_exec, unused, 0);
    cudaGraphLaunch(leaking_exec, s);
    cudaGraphLaunch(exec, s);
    fill<<<4, 256, 0, s>>>(data, n, 1);
    cudaFreeAsync(data, s);
    cudaGraphLaunch(exec, s);
    fill<<<4, 256, 0, s>>>(data, n, 2);
    cudaFreeAsync(data, s);
    fill<<<4, 256, 0, s>>>(data, n, 3);
    cudaStreamSynchronize(s);
    return 0;
}
