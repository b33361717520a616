// SPDX-License-Identifier: MIT
// Graphs: those of the runtime API, with the driver's spellings of parameters.
#include <cstring>
#include <vector>

#include "driver/frame.h"

using namespace driver;

namespace {

const cudaGraphNode_t* nodes_of(const CUgraphNode* nodes) {
    return reinterpret_cast<const cudaGraphNode_t*>(nodes);
}

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

}  // namespace

DRIVER_API CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
    return run("cuGraphCreate", Needs::kInit, [&] { return cudaGraphCreate(graph, flags); });
}
DRIVER_API CUresult cuGraphDestroy(CUgraph graph) {
    return run("cuGraphDestroy", Needs::kInit, [&] { return cudaGraphDestroy(graph); });
}
DRIVER_API CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
    return run("cuGraphClone", Needs::kInit, [&] { return cudaGraphClone(clone, graph); });
}
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
DRIVER_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    return run("cuGraphLaunch", [&] { return cudaGraphLaunch(exec, stream); });
}
DRIVER_API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    return run("cuGraphUpload", [&] { return cudaGraphUpload(exec, stream); });
}
DRIVER_API CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return run("cuGraphExecDestroy", Needs::kInit, [&] { return cudaGraphExecDestroy(exec); });
}
DRIVER_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                         CUgraphExecUpdateResultInfo* result) {
    return run("cuGraphExecUpdate", [&] {
        return cudaGraphExecUpdate(
            exec, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
    });
}
DRIVER_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    return run(
        "cuGraphGetNodes", Needs::kInit, [&] { return cudaGraphGetNodes(graph, nodes, count); });
}
DRIVER_API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    return run("cuGraphGetRootNodes", Needs::kInit, [&] {
        return cudaGraphGetRootNodes(graph, nodes, count);
    });
}
DRIVER_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
    return run("cuGraphNodeGetType", Needs::kInit, [&] {
        return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type));
    });
}
DRIVER_API CUresult cuGraphDestroyNode(CUgraphNode node) {
    return run("cuGraphDestroyNode", Needs::kInit, [&] { return cudaGraphDestroyNode(node); });
}
DRIVER_API CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                        size_t count) {
    return run("cuGraphAddEmptyNode",
               [&] { return cudaGraphAddEmptyNode(node, graph, nodes_of(needs), count); });
}
DRIVER_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* needs, size_t count,
                                            const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run("cuGraphAddKernelNode", [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const cudaKernelNodeParams params = kernel_of(*given);
        return result_of(cudaGraphAddKernelNode(node, graph, nodes_of(needs), count, &params));
    });
}
DRIVER_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run("cuGraphKernelNodeSetParams", [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const cudaKernelNodeParams params = kernel_of(*given);
        return result_of(cudaGraphKernelNodeSetParams(node, &params));
    });
}
DRIVER_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS_v2* given) {
    return run("cuGraphExecKernelNodeSetParams", [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const cudaKernelNodeParams params = kernel_of(*given);
        return result_of(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    });
}
DRIVER_API CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                         size_t count, const CUDA_MEMSET_NODE_PARAMS* given,
                                         CUcontext) {
    return run("cuGraphAddMemsetNode", [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const cudaMemsetParams params = fill_of(*given);
        return result_of(cudaGraphAddMemsetNode(node, graph, nodes_of(needs), count, &params));
    });
}
DRIVER_API CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                         size_t count, const CUDA_MEMCPY3D* given, CUcontext) {
    return run("cuGraphAddMemcpyNode", [&]() -> CUresult {
        cudaMemcpy3DParms params;
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        if (!copy_of(*given, params)) return CUDA_ERROR_NOT_SUPPORTED;
        return result_of(cudaGraphAddMemcpyNode(node, graph, nodes_of(needs), count, &params));
    });
}
DRIVER_API CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                       size_t count, const CUDA_HOST_NODE_PARAMS* given) {
    return run("cuGraphAddHostNode", [&]() -> CUresult {
        if (!given) return CUDA_ERROR_INVALID_VALUE;
        const cudaHostNodeParams params = host_of(*given);
        return result_of(cudaGraphAddHostNode(node, graph, nodes_of(needs), count, &params));
    });
}
DRIVER_API CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                             const CUgraphNode* needs, size_t count,
                                             CUgraph child) {
    return run("cuGraphAddChildGraphNode", [&] {
        return cudaGraphAddChildGraphNode(node, graph, nodes_of(needs), count, child);
    });
}
DRIVER_API CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                              const CUgraphNode* needs, size_t count,
                                              CUevent event) {
    return run("cuGraphAddEventRecordNode", [&] {
        return cudaGraphAddEventRecordNode(node, graph, nodes_of(needs), count, event);
    });
}
DRIVER_API CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* needs, size_t count, CUevent event) {
    return run("cuGraphAddEventWaitNode", [&] {
        return cudaGraphAddEventWaitNode(node, graph, nodes_of(needs), count, event);
    });
}
