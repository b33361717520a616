// SPDX-License-Identifier: MIT
// Copies and kernels in two streams: overlapped without an event, and with one; in a graph, too.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(float* data, int n, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= f;  // expect: race-global
}

__global__ void scale2(float* data, int n, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= f;  // expect: race-global
}

int main() {
    const int n = 1024, bytes = n * sizeof(float);
    float *pinned, *data;
    cudaMallocHost(&pinned, bytes);
    for (int i = 0; i < n; ++i) pinned[i] = i;
    cudaMalloc(&data, bytes);
    cudaStream_t copies, work;
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaEvent_t arrived, done;
    cudaEventCreate(&arrived);
    cudaEventCreate(&done);

    // twin: race-global
    // right
    cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, copies);
    cudaEventRecord(arrived, copies);
    cudaStreamWaitEvent(work, arrived, 0);
    scale<<<4, 256, 0, work>>>(data, n, 2.0f);
    cudaEventRecord(done, work);
    cudaStreamWaitEvent(copies, done, 0);
    cudaMemcpyAsync(pinned, data, bytes, cudaMemcpyDeviceToHost, copies);
    cudaStreamSynchronize(copies);

    // the event is recorded before the copy
    cudaEventRecord(arrived, copies);
    cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, copies);
    cudaStreamWaitEvent(work, arrived, 0);
    scale<<<4, 256, 0, work>>>(data, n, 2.0f);
    cudaDeviceSynchronize();

    // a graph that forgets one edge
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t copy, kernel;
    cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, data, pinned, bytes, cudaMemcpyHostToDevice);
    float f = 2.0f;
    int count = n;
    void* arguments[] = {&data, &count, &f};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(scale2);
    params.gridDim = dim3(4);
    params.blockDim = dim3(256);
    params.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, work);
    cudaStreamSynchronize(work);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(arrived);
    cudaEventDestroy(done);
    cudaStreamDestroy(copies);
    cudaStreamDestroy(work);
    cudaFree(data);
    cudaFreeHost(pinned);
}
