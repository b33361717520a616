// SPDX-License-Identifier: MIT
// Functions that take the parameters of any kind of node in one tagged struct: each calls the
// function of that kind.
#include "runtime/graph/node_frame.h"

using namespace runtime;

namespace {

cudaKernelNodeParams kernel_of(const cudaGraphNodeParams& given) {
    const auto& kernel = given.kernel;
    return {kernel.func,
            kernel.gridDim,
            kernel.blockDim,
            kernel.sharedMemBytes,
            kernel.kernelParams,
            kernel.extra};
}
cudaMemsetParams fill_of(const cudaGraphNodeParams& given) {
    const auto& fill = given.memset;
    return {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
}
cudaHostNodeParams host_of(const cudaGraphNodeParams& given) {
    return {given.host.fn, given.host.userData};
}

cudaError_t unsupported(const char* name) {
    return api(name, [&](Call&) {
        warn_once(std::string(name) +
                  ": this kind of graph node (external semaphore, batch memory operation) is not "
                  "supported by the emulated device, or its parameters cannot be changed");
        return cudaErrorNotSupported;
    });
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                size_t count, cudaGraphNodeParams* given) {
    if (!given) return api("cudaGraphAddNode", [](Call&) { return cudaErrorInvalidValue; });
    switch (given->type) {
    case cudaGraphNodeTypeKernel: {
        const cudaKernelNodeParams kernel = kernel_of(*given);
        return cudaGraphAddKernelNode(node, graph, needs, count, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, needs, count, &given->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        const cudaMemsetParams fill = fill_of(*given);
        return cudaGraphAddMemsetNode(node, graph, needs, count, &fill);
    }
    case cudaGraphNodeTypeHost: {
        const cudaHostNodeParams host = host_of(*given);
        return cudaGraphAddHostNode(node, graph, needs, count, &host);
    }
    case cudaGraphNodeTypeGraph:
        if (given->graph.ownership == cudaGraphChildGraphOwnershipMove)
            return add_node({"cudaGraphAddNode", node, graph, needs, count},
                            cudaGraphNodeTypeGraph,
                            [&](Call& call, Node& made) {
                                return set_child(call, made, given->graph.graph, true);
                            });
        return cudaGraphAddChildGraphNode(node, graph, needs, count, given->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, needs, count);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, needs, count, given->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, needs, count, given->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: {
        cudaMemAllocNodeParams memory{};
        memory.poolProps = given->alloc.poolProps;
        memory.bytesize = given->alloc.bytesize;
        const cudaError_t error = cudaGraphAddMemAllocNode(node, graph, needs, count, &memory);
        given->alloc.dptr = memory.dptr;
        return error;
    }
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, needs, count, given->free.dptr);
    case cudaGraphNodeTypeConditional:
        return add_node({"cudaGraphAddNode", node, graph, needs, count},
                        cudaGraphNodeTypeConditional,
                        [&](Call& call, Node& made) {
                            return set_conditional(call, made, &given->conditional);
                        });
    default:
        return unsupported("cudaGraphAddNode");
    }
}

cudaError_t set(cudaGraphNode_t node, cudaGraphNodeParams* given) {
    if (!given) return api("cudaGraphNodeSetParams", [](Call&) { return cudaErrorInvalidValue; });
    switch (given->type) {
    case cudaGraphNodeTypeKernel: {
        const cudaKernelNodeParams kernel = kernel_of(*given);
        return cudaGraphKernelNodeSetParams(node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &given->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        const cudaMemsetParams fill = fill_of(*given);
        return cudaGraphMemsetNodeSetParams(node, &fill);
    }
    case cudaGraphNodeTypeHost: {
        const cudaHostNodeParams host = host_of(*given);
        return cudaGraphHostNodeSetParams(node, &host);
    }
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, given->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, given->eventRecord.event);
    default:
        return unsupported("cudaGraphNodeSetParams");
    }
}

cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* given) {
    if (!given)
        return api("cudaGraphExecNodeSetParams", [](Call&) { return cudaErrorInvalidValue; });
    switch (given->type) {
    case cudaGraphNodeTypeKernel: {
        const cudaKernelNodeParams kernel = kernel_of(*given);
        return cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphExecMemcpyNodeSetParams(exec, node, &given->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        const cudaMemsetParams fill = fill_of(*given);
        return cudaGraphExecMemsetNodeSetParams(exec, node, &fill);
    }
    case cudaGraphNodeTypeHost: {
        const cudaHostNodeParams host = host_of(*given);
        return cudaGraphExecHostNodeSetParams(exec, node, &host);
    }
    case cudaGraphNodeTypeGraph:
        return cudaGraphExecChildGraphNodeSetParams(exec, node, given->graph.graph);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphExecEventWaitNodeSetEvent(exec, node, given->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphExecEventRecordNodeSetEvent(exec, node, given->eventRecord.event);
    default:
        return unsupported("cudaGraphExecNodeSetParams");
    }
}

}  // namespace

EMULATOR_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* needs, const cudaGraphEdgeData*,
                                          size_t count, cudaGraphNodeParams* given) {
    return add(node, graph, needs, count, given);
}
EMULATOR_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* given) {
    return set(node, given);
}
EMULATOR_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    cudaGraphNodeParams* given) {
    return set_in(exec, node, given);
}
