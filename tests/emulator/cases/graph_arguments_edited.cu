// SPDX-License-Identifier: MIT
// The list of arguments that a kernel node gives away belongs to the node: what programs change
// there in place is found when the node or its graph is used next, and once for each node.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int* out, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

struct Recorded {
    explicit Recorded(int* out) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        fill<<<1, 32, 0, stream>>>(out, 32, 1);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaStreamDestroy(stream);
        size_t one = 1;
        cudaGraphGetNodes(graph, &node, &one);
        cudaGraphKernelNodeGetParams(node, &params);
    }
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaKernelNodeParams params{};
};

int main() {
    int *out, host = 0, two = 2;
    cudaMalloc(&out, 32 * sizeof(int));
    const auto run = [&](Recorded& r) {
        cudaGraphLaunch(r.exec, nullptr);
        cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
        return host;
    };
    int sum = 0;
    {
        Recorded r(out);
        *static_cast<int*>(r.params.kernelParams[2]) = 2;
        // expect: library-misuse "the value at `kernelParams[2]` was changed"
        cudaGraphExecKernelNodeSetParams(r.exec, r.node, &r.params);
        sum += run(r);
        cudaGraphExecDestroy(r.exec);
        cudaGraphDestroy(r.graph);
    }
    {
        Recorded r(out);
        r.params.kernelParams[2] = &two;
        // expect: library-misuse "`kernelParams[2]` was replaced in the list"
        cudaGraphKernelNodeSetParams(r.node, &r.params);
        cudaGraphExecDestroy(r.exec);
        cudaGraphDestroy(r.graph);
    }
    {
        Recorded r(out);
        *static_cast<int*>(r.params.kernelParams[1]) = 16;
        cudaGraphExecDestroy(r.exec);
        // expect: library-misuse "the value at `kernelParams[1]` was changed"
        cudaGraphDestroy(r.graph);
    }
    {
        Recorded r(out);
        // twin: library-misuse
        void* own[] = {r.params.kernelParams[0], r.params.kernelParams[1], &two};
        r.params.kernelParams = own;
        cudaGraphExecKernelNodeSetParams(r.exec, r.node, &r.params);
        sum += run(r);
        cudaGraphExecDestroy(r.exec);
        // twin: library-misuse
        cudaGraph_t copy;
        cudaGraphClone(&copy, r.graph);
        cudaGraphNode_t node;
        cudaGraphNodeFindInClone(&node, r.node, copy);
        cudaGraphKernelNodeSetParams(node, &r.params);
        cudaGraphInstantiate(&r.exec, copy, 0);
        sum += run(r);
        cudaGraphExecDestroy(r.exec);
        cudaGraphDestroy(copy);
        cudaGraphDestroy(r.graph);
    }
    {
        Recorded r(out);
        // twin: library-misuse
        cudaGraphKernelNodeSetParams(r.node, &r.params);
        cudaGraphKernelNodeGetParams(r.node, &r.params);
        cudaGraphExecDestroy(r.exec);
        cudaGraphDestroy(r.graph);
    }
    cudaFree(out);
    std::printf("%d\n", sum);
    return sum == 6 ? 0 : 1;
}
