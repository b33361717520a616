// SPDX-License-Identifier: MIT
// Graphs: those of the runtime API, with the driver's spellings of parameters.
#include <cstring>
#include <vector>

#include "driver/frame.h"

using namespace driver;

namespace {

cudaKernelNodeParams kernel_of(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
    cudaKernelNodeParams out{};
    out.func = p.func ? reinterpret_cast<void*>(p.func) : reinterpret_cast<void*>(p.kern);
    out.gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ};
    out.blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ};
    out.sharedMemBytes = p.sharedMemBytes;
    out.kernelParams = p.kernelParams;
    out.extra = p.extra;
    return out;
}
cudaMemsetParams fill_of(const CUDA_MEMSET_NODE_PARAMS& p) {
    cudaMemsetParams out{};
    out.dst = pointer(p.dst);
    out.pitch = p.pitch;
    out.value = p.value;
    out.elementSize = p.elementSize;
    out.width = p.width;
    out.height = p.height;
    return out;
}
cudaHostNodeParams host_of(const CUDA_HOST_NODE_PARAMS& p) {
    cudaHostNodeParams out{};
    out.fn = p.fn;
    out.userData = p.userData;
    return out;
}
// Linear memory only: positions in arrays count elements in the runtime API.
bool copy_of(const CUDA_MEMCPY3D& p, cudaMemcpy3DParms& out) {
    const auto end = [](CUmemorytype type, const void* host, CUdeviceptr device) {
        return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer(device);
    };
    if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY || p.dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return false;
    std::memset(&out, 0, sizeof out);
    out.srcPtr = {end(p.srcMemoryType, p.srcHost, p.srcDevice),
                  p.srcPitch ? p.srcPitch : p.WidthInBytes,
                  p.WidthInBytes,
                  p.srcHeight ? p.srcHeight : p.Height};
    out.dstPtr = {end(p.dstMemoryType, p.dstHost, p.dstDevice),
                  p.dstPitch ? p.dstPitch : p.WidthInBytes,
                  p.WidthInBytes,
                  p.dstHeight ? p.dstHeight : p.Height};
    out.srcPos = {p.srcXInBytes, p.srcY, p.srcZ};
    out.dstPos = {p.dstXInBytes, p.dstY, p.dstZ};
    out.extent = {p.WidthInBytes, p.Height, p.Depth};
    out.kind = cudaMemcpyDefault;
    return true;
}

// Runs a function of the runtime API with parameters in its spelling. `converted`: the conversion
// of what the program gave.
template <class Given, class Converted, class F>
CUresult run_with(const char* name, const Given* given, Converted&& converted, F&& body) {
    return run(name, [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const auto params = converted(*given);
        return result_of(body(&params));
    });
}

}  // namespace

// Functions whose parameters are the same. NAME: without cu or cuda.
#define GRAPH_FUNCTION(NAME, NEEDS, PARAMETERS, ...)                                               \
    DRIVER_API CUresult cu##NAME PARAMETERS {                                                      \
        return run("cu" #NAME, Needs::NEEDS, [&] { return cuda##NAME(__VA_ARGS__); });             \
    }
// clang-format off
GRAPH_FUNCTION(GraphCreate, kInit, (CUgraph* graph, unsigned flags), graph, flags)
GRAPH_FUNCTION(GraphDestroy, kInit, (CUgraph graph), graph)
GRAPH_FUNCTION(GraphClone, kInit, (CUgraph* clone, CUgraph graph), clone, graph)
GRAPH_FUNCTION(GraphLaunch, kContext, (CUgraphExec exec, CUstream stream), exec, stream)
GRAPH_FUNCTION(GraphUpload, kContext, (CUgraphExec exec, CUstream stream), exec, stream)
GRAPH_FUNCTION(GraphExecDestroy, kInit, (CUgraphExec exec), exec)
GRAPH_FUNCTION(GraphGetNodes, kInit, (CUgraph graph, CUgraphNode* nodes, size_t* count),
    graph, nodes, count)
GRAPH_FUNCTION(GraphGetRootNodes, kInit, (CUgraph graph, CUgraphNode* nodes, size_t* count),
    graph, nodes, count)
GRAPH_FUNCTION(GraphNodeGetType, kInit, (CUgraphNode node, CUgraphNodeType* type),
    node, reinterpret_cast<cudaGraphNodeType*>(type))
GRAPH_FUNCTION(GraphDestroyNode, kInit, (CUgraphNode node), node)
GRAPH_FUNCTION(GraphAddEmptyNode, kContext,
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, size_t count),
    node, graph, needs, count)
GRAPH_FUNCTION(GraphAddChildGraphNode, kContext,
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, size_t count, CUgraph child),
    node, graph, needs, count, child)
GRAPH_FUNCTION(GraphAddEventRecordNode, kContext,
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, size_t count, CUevent event),
    node, graph, needs, count, event)
GRAPH_FUNCTION(GraphAddEventWaitNode, kContext,
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, size_t count, CUevent event),
    node, graph, needs, count, event)
// clang-format on

DRIVER_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                                unsigned long long flags) {
    return run("cuGraphInstantiate",
               [&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}
DRIVER_API CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* node,
                                          char* log, size_t bytes) {
    if (node) *node = nullptr;
    if (log && bytes) *log = 0;
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}
DRIVER_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                         CUgraphExecUpdateResultInfo* result) {
    return run("cuGraphExecUpdate", [&] {
        return cudaGraphExecUpdate(
            exec, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
    });
}
DRIVER_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* needs, size_t count,
                                            const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run_with("cuGraphAddKernelNode", given, kernel_of, [&](auto* params) {
        return cudaGraphAddKernelNode(node, graph, needs, count, params);
    });
}
DRIVER_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run_with("cuGraphKernelNodeSetParams", given, kernel_of, [&](auto* params) {
        return cudaGraphKernelNodeSetParams(node, params);
    });
}
DRIVER_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run_with("cuGraphExecKernelNodeSetParams", given, kernel_of, [&](auto* params) {
        return cudaGraphExecKernelNodeSetParams(exec, node, params);
    });
}
DRIVER_API CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                         size_t count, const CUDA_MEMSET_NODE_PARAMS* given,
                                         CUcontext) {
    return run_with("cuGraphAddMemsetNode", given, fill_of, [&](auto* params) {
        return cudaGraphAddMemsetNode(node, graph, needs, count, params);
    });
}
DRIVER_API CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                         size_t count, const CUDA_MEMCPY3D* given, CUcontext) {
    return run("cuGraphAddMemcpyNode", [&]() -> CUresult {
        cudaMemcpy3DParms params;
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        if (!copy_of(*given, params)) return CUDA_ERROR_NOT_SUPPORTED;
        return result_of(cudaGraphAddMemcpyNode(node, graph, needs, count, &params));
    });
}
DRIVER_API CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                       size_t count, const CUDA_HOST_NODE_PARAMS* given) {
    return run_with("cuGraphAddHostNode", given, host_of, [&](auto* params) {
        return cudaGraphAddHostNode(node, graph, needs, count, params);
    });
}
