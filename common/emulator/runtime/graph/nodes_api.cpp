// SPDX-License-Identifier: MIT
// Adds nodes to a graph, and queries and changes their parameters.
#include "runtime/graph/node_frame.h"

using namespace runtime;

EMULATOR_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* needs, size_t count) {
    return add_node("cudaGraphAddEmptyNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeEmpty,
                    [](Call&, Node&) { return cudaSuccess; });
}

EMULATOR_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* needs, size_t count,
                                                const cudaKernelNodeParams* given) {
    return add_node("cudaGraphAddKernelNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeKernel,
                    [&](Call& call, Node& made) { return set_kernel(call, made, given); });
}
EMULATOR_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                      const cudaKernelNodeParams* given) {
    return with_node("cudaGraphKernelNodeSetParams",
                     node,
                     cudaGraphNodeTypeKernel,
                     [&](Call& call, Node& found) {
                         report_edited(call, found);
                         return set_kernel(call, found, given);
                     });
}
EMULATOR_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                      cudaKernelNodeParams* result) {
    return with_node("cudaGraphKernelNodeGetParams",
                     node,
                     cudaGraphNodeTypeKernel,
                     [&](Call& call, Node& found) {
                         KernelNode kernel;
                         if (const cudaError_t error =
                                 result ? give(found, &kernel) : cudaErrorInvalidValue)
                             return error;
                         *result = kernel.given;
                         report_edited(call, found);
                         auto& stored = std::get<KernelNode>(found.given);
                         stored.pointers.clear();
                         for (const size_t offset : stored.offsets)
                             stored.pointers.push_back(stored.arguments.data() + offset);
                         stored.shown = stored.arguments;
                         result->kernelParams = stored.pointers.data();
                         return cudaSuccess;
                     });
}
EMULATOR_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                         cudaLaunchAttributeID id,
                                                         const cudaLaunchAttributeValue* value) {
    return with_node(
        "cudaGraphKernelNodeSetAttribute", node, cudaGraphNodeTypeKernel, [&](Call&, Node& found) {
            auto* kernel = std::get_if<KernelNode>(&found.given);
            if (!kernel || !value) return cudaErrorInvalidValue;
            kernel->attributes[id] = *value;
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                         cudaLaunchAttributeID id,
                                                         cudaLaunchAttributeValue* value) {
    return with_node(
        "cudaGraphKernelNodeGetAttribute", node, cudaGraphNodeTypeKernel, [&](Call&, Node& found) {
            auto* kernel = std::get_if<KernelNode>(&found.given);
            if (!kernel || !value) return cudaErrorInvalidValue;
            *value = kernel->attributes[id];
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                           cudaGraphNode_t from) {
    return with_node(
        "cudaGraphKernelNodeCopyAttributes", to, cudaGraphNodeTypeKernel, [&](Call&, Node& found) {
            Node* source = find_node(from);
            auto* here = std::get_if<KernelNode>(&found.given);
            auto* there = source ? std::get_if<KernelNode>(&source->given) : nullptr;
            if (!here || !there) return cudaErrorInvalidValue;
            here->attributes = there->attributes;
            return cudaSuccess;
        });
}

EMULATOR_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* needs, size_t count,
                                                const cudaMemcpy3DParms* given) {
    return add_node("cudaGraphAddMemcpyNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeMemcpy,
                    [&](Call& call, Node& made) { return set_copy(call, made, given); });
}
EMULATOR_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* needs, size_t count,
                                                  void* to, const void* from, size_t bytes,
                                                  cudaMemcpyKind kind) {
    return add_node(
        "cudaGraphAddMemcpyNode1D",
        node,
        graph,
        needs,
        count,
        cudaGraphNodeTypeMemcpy,
        [&](Call& call, Node& made) { return set_copy_1d(call, made, to, from, bytes, kind); });
}
EMULATOR_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                        const cudaGraphNode_t* needs, size_t count,
                                                        const void* symbol, const void* from,
                                                        size_t bytes, size_t offset,
                                                        cudaMemcpyKind kind) {
    return add_node("cudaGraphAddMemcpyNodeToSymbol",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeMemcpy,
                    [&](Call& call, Node& made) {
                        return set_copy_to_symbol(call, made, symbol, from, bytes, offset, kind);
                    });
}
EMULATOR_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                          const cudaGraphNode_t* needs,
                                                          size_t count, void* to,
                                                          const void* symbol, size_t bytes,
                                                          size_t offset, cudaMemcpyKind kind) {
    return add_node("cudaGraphAddMemcpyNodeFromSymbol",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeMemcpy,
                    [&](Call& call, Node& made) {
                        return set_copy_from_symbol(call, made, to, symbol, bytes, offset, kind);
                    });
}
EMULATOR_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                      const cudaMemcpy3DParms* given) {
    return with_node("cudaGraphMemcpyNodeSetParams",
                     node,
                     cudaGraphNodeTypeMemcpy,
                     [&](Call& call, Node& found) { return set_copy(call, found, given); });
}
EMULATOR_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to,
                                                        const void* from, size_t bytes,
                                                        cudaMemcpyKind kind) {
    return with_node(
        "cudaGraphMemcpyNodeSetParams1D",
        node,
        cudaGraphNodeTypeMemcpy,
        [&](Call& call, Node& found) { return set_copy_1d(call, found, to, from, bytes, kind); });
}
EMULATOR_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                              const void* symbol, const void* from,
                                                              size_t bytes, size_t offset,
                                                              cudaMemcpyKind kind) {
    return with_node("cudaGraphMemcpyNodeSetParamsToSymbol",
                     node,
                     cudaGraphNodeTypeMemcpy,
                     [&](Call& call, Node& found) {
                         return set_copy_to_symbol(call, found, symbol, from, bytes, offset, kind);
                     });
}
EMULATOR_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                                const void* symbol, size_t bytes,
                                                                size_t offset,
                                                                cudaMemcpyKind kind) {
    return with_node("cudaGraphMemcpyNodeSetParamsFromSymbol",
                     node,
                     cudaGraphNodeTypeMemcpy,
                     [&](Call& call, Node& found) {
                         return set_copy_from_symbol(call, found, to, symbol, bytes, offset, kind);
                     });
}
EMULATOR_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                      cudaMemcpy3DParms* result) {
    return with_node("cudaGraphMemcpyNodeGetParams",
                     node,
                     cudaGraphNodeTypeMemcpy,
                     [&](Call&, Node& found) { return give(found, result); });
}

EMULATOR_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* needs, size_t count,
                                                const cudaMemsetParams* given) {
    return add_node("cudaGraphAddMemsetNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeMemset,
                    [&](Call& call, Node& made) { return set_fill(call, made, given); });
}
EMULATOR_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                      const cudaMemsetParams* given) {
    return with_node("cudaGraphMemsetNodeSetParams",
                     node,
                     cudaGraphNodeTypeMemset,
                     [&](Call& call, Node& found) { return set_fill(call, found, given); });
}
EMULATOR_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                      cudaMemsetParams* result) {
    return with_node("cudaGraphMemsetNodeGetParams",
                     node,
                     cudaGraphNodeTypeMemset,
                     [&](Call&, Node& found) { return give(found, result); });
}

EMULATOR_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* needs, size_t count,
                                              const cudaHostNodeParams* given) {
    return add_node("cudaGraphAddHostNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeHost,
                    [&](Call& call, Node& made) { return set_host(call, made, given); });
}
EMULATOR_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                    const cudaHostNodeParams* given) {
    return with_node("cudaGraphHostNodeSetParams",
                     node,
                     cudaGraphNodeTypeHost,
                     [&](Call& call, Node& found) { return set_host(call, found, given); });
}
EMULATOR_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                    cudaHostNodeParams* result) {
    return with_node("cudaGraphHostNodeGetParams",
                     node,
                     cudaGraphNodeTypeHost,
                     [&](Call&, Node& found) { return give(found, result); });
}

EMULATOR_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* needs, size_t count,
                                                    cudaGraph_t child) {
    return add_node("cudaGraphAddChildGraphNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeGraph,
                    [&](Call& call, Node& made) { return set_child(call, made, child); });
}
EMULATOR_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                         cudaGraph_t* result) {
    return with_node(
        "cudaGraphChildGraphNodeGetGraph", node, cudaGraphNodeTypeGraph, [&](Call&, Node& found) {
            if (!result || !found.child) return cudaErrorInvalidValue;
            *result = handle_of(found.child.get());
            return cudaSuccess;
        });
}

EMULATOR_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* needs, size_t count,
                                                     cudaEvent_t event) {
    return add_node("cudaGraphAddEventRecordNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeEventRecord,
                    [&](Call& call, Node& made) { return set_event(call, made, event); });
}
EMULATOR_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* needs, size_t count,
                                                   cudaEvent_t event) {
    return add_node("cudaGraphAddEventWaitNode",
                    node,
                    graph,
                    needs,
                    count,
                    cudaGraphNodeTypeWaitEvent,
                    [&](Call& call, Node& made) { return set_event(call, made, event); });
}
EMULATOR_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return with_node("cudaGraphEventRecordNodeSetEvent",
                     node,
                     cudaGraphNodeTypeEventRecord,
                     [&](Call& call, Node& found) { return set_event(call, found, event); });
}
EMULATOR_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return with_node("cudaGraphEventWaitNodeSetEvent",
                     node,
                     cudaGraphNodeTypeWaitEvent,
                     [&](Call& call, Node& found) { return set_event(call, found, event); });
}
static cudaError_t give_event(const Node& node, cudaEvent_t* result) {
    Event* event = nullptr;
    if (const cudaError_t error = result ? give(node, &event) : cudaErrorInvalidValue) return error;
    *result = reinterpret_cast<cudaEvent_t>(event);
    return cudaSuccess;
}
EMULATOR_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                          cudaEvent_t* result) {
    return with_node("cudaGraphEventRecordNodeGetEvent",
                     node,
                     cudaGraphNodeTypeEventRecord,
                     [&](Call&, Node& found) { return give_event(found, result); });
}
EMULATOR_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* result) {
    return with_node("cudaGraphEventWaitNodeGetEvent",
                     node,
                     cudaGraphNodeTypeWaitEvent,
                     [&](Call&, Node& found) { return give_event(found, result); });
}
