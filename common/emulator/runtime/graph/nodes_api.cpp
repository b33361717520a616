// SPDX-License-Identifier: MIT
// Adds nodes to a graph, and queries and changes their parameters.
#include "runtime/graph/node_frame.h"

using namespace runtime;

// The kinds of nodes that are alike. Each function takes the parameters in parentheses.
#define PARAMETERS(...) __VA_ARGS__
#define GRAPH_NODE(KIND, FORM, CHANGE, TYPE, set, GIVEN, ...)                                      \
    EMULATOR_API cudaError_t cudaGraphAdd##KIND##Node##FORM(cudaGraphNode_t* node,                 \
                                                            cudaGraph_t graph,                     \
                                                            const cudaGraphNode_t* needs,          \
                                                            size_t count,                          \
                                                            PARAMETERS GIVEN) {                    \
        return add_node({__func__, node, graph, needs, count},                                     \
                        cudaGraphNodeType##TYPE,                                                   \
                        [&](Call& call, Node& made) { return set(call, made, __VA_ARGS__); });     \
    }                                                                                              \
    EMULATOR_API cudaError_t cudaGraph##KIND##Node##CHANGE##FORM(cudaGraphNode_t node,             \
                                                                 PARAMETERS GIVEN) {               \
        return with_node(__func__, node, cudaGraphNodeType##TYPE, [&](Call& call, Node& found) {   \
            report_edited(call, found);                                                            \
            return set(call, found, __VA_ARGS__);                                                  \
        });                                                                                        \
    }
#define GRAPH_NODE_GET(KIND, T)                                                                    \
    EMULATOR_API cudaError_t cudaGraph##KIND##NodeGetParams(cudaGraphNode_t node, T* result) {     \
        return with_node(__func__, node, cudaGraphNodeType##KIND, [&](Call&, Node& found) {        \
            return give(found, result);                                                            \
        });                                                                                        \
    }
#include "runtime/graph/nodes.def"
#undef PARAMETERS

EMULATOR_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* needs, size_t count) {
    return add_node({__func__, node, graph, needs, count},
                    cudaGraphNodeTypeEmpty,
                    [](Call&, Node&) { return cudaSuccess; });
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

EMULATOR_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* needs, size_t count,
                                                    cudaGraph_t child) {
    return add_node({__func__, node, graph, needs, count},
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
