// SPDX-License-Identifier: MIT
// What graphs refuse: children with memory nodes, unless they are moved, and to be destroyed during
// a capture into them. Exits with 1 and the line at the first thing that is not as documented.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define EXPECT(x)                                                                                  \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            std::printf("%d: failed: %s\n", __LINE__, #x);                                         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
#define CHECK(x) EXPECT((x) == cudaSuccess)

__global__ void add(int* p, int v) {
    p[threadIdx.x] += v;
}

// A graph that allocates, fills and frees.
static cudaGraph_t with_memory(cudaGraphNode_t& fill) {
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams memory{};
    memory.bytesize = 128;
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
    cudaGraphNode_t made, freed;
    CHECK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &memory));
    cudaMemsetParams set{};
    set.dst = memory.dptr;
    set.elementSize = 4;
    set.width = 32;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, &made, 1, &set));
    CHECK(cudaGraphAddMemFreeNode(&freed, graph, &fill, 1, memory.dptr));
    EXPECT(cudaGraphDestroyNode(freed) == cudaErrorNotSupported);
    EXPECT(cudaGraphRemoveDependencies(graph, &fill, &freed, nullptr, 1) == cudaErrorNotSupported);
    return graph;
}

static void children() {
    cudaGraphNode_t fill, node;
    cudaGraph_t parent, other, child = with_memory(fill), copy = nullptr;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphCreate(&other, 0));
    EXPECT(cudaGraphClone(&copy, child) == cudaErrorNotSupported);
    EXPECT(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child) == cudaErrorNotSupported);
    cudaGraphNodeParams given{};
    given.type = cudaGraphNodeTypeGraph;
    given.graph.graph = child;
    EXPECT(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &given) == cudaErrorNotSupported);
    size_t count = 1;
    CHECK(cudaGraphGetNodes(parent, nullptr, &count));
    EXPECT(count == 0);
    given.graph.ownership = cudaGraphChildGraphOwnershipMove;
    CHECK(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &given));
    cudaGraph_t inner;
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &inner));
    EXPECT(inner == child);
    // It is the parent's from now on.
    cudaGraphExec_t exec;
    EXPECT(cudaGraphDestroy(child) == cudaErrorInvalidValue);
    EXPECT(cudaGraphInstantiate(&exec, child, 0) == cudaErrorNotSupported);
    EXPECT(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &given) == cudaErrorNotSupported);
    cudaMemAllocNodeParams memory{};
    memory.bytesize = 128;
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
    EXPECT(cudaGraphAddMemAllocNode(&node, child, nullptr, 0, &memory) == cudaErrorNotSupported);
    CHECK(cudaGraphInstantiate(&exec, parent, 0));
    for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaGraphDestroy(other));
    // A clone in a node is the node's too.
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &inner));
    EXPECT(inner != child && cudaGraphDestroy(inner) == cudaErrorInvalidValue);
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(parent));
}

static void captures() {
    cudaStream_t stream, second;
    cudaEvent_t event;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreate(&event));
    int* data;
    CHECK(cudaMalloc(&data, 128));
    CHECK(cudaMemset(data, 0, 128));
    CHECK(cudaDeviceSynchronize());
    for (const int loss : {0, 1, 2}) {  // own graph, the capture's graph, a node
        cudaGraph_t graph = nullptr, result = nullptr;
        if (loss == 1) {
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        } else {
            CHECK(cudaGraphCreate(&graph, 0));
            CHECK(cudaStreamBeginCaptureToGraph(
                stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
        }
        add<<<1, 32, 0, stream>>>(data, 1);
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaStreamWaitEvent(second, event, 0));
        add<<<1, 32, 0, second>>>(data, 1);
        cudaStreamCaptureStatus status;
        const cudaGraphNode_t* last = nullptr;
        size_t count = 0;
        CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count));
        EXPECT(status == cudaStreamCaptureStatusActive && count == 1);
        EXPECT((loss == 2 ? cudaGraphDestroyNode(last[0]) : cudaGraphDestroy(graph)) ==
               cudaErrorIllegalState);
        EXPECT(cudaGetLastError() == cudaErrorIllegalState);
        // The capture goes on.
        CHECK(cudaStreamIsCapturing(stream, &status));
        EXPECT(status == cudaStreamCaptureStatusActive);
        add<<<1, 32, 0, stream>>>(data, 1);
        CHECK(cudaEventRecord(event, second));
        CHECK(cudaStreamWaitEvent(stream, event, 0));
        CHECK(cudaStreamEndCapture(stream, &result));
        CHECK(cudaGraphGetNodes(result, nullptr, &count));
        EXPECT(result == graph && count == 3);
        for (const cudaStream_t each : {stream, second}) {
            CHECK(cudaStreamIsCapturing(each, &status));
            EXPECT(status == cudaStreamCaptureStatusNone);
        }
        CHECK(cudaGraphDestroy(graph));
    }
    // Afterwards it may be destroyed.
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, stream>>>(data, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));
    add<<<1, 32, 0, stream>>>(data, 1);
    int host[32];
    CHECK(cudaMemcpy(host, data, 128, cudaMemcpyDeviceToHost));
    EXPECT(host[31] == 1);
    CHECK(cudaFree(data));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaStreamDestroy(stream));
}

int main() {
    children();
    captures();
    cudaGetLastError();
    std::puts("ok");
}
