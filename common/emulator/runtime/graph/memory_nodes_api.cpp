// SPDX-License-Identifier: MIT
// Nodes that allocate and free memory.
#include "runtime/graph/node_frame.h"

using namespace runtime;

namespace {

cudaError_t allocate(Call&, Node& node, cudaMemAllocNodeParams* given) {
    if (!given || given->bytesize == 0) return cudaErrorInvalidValue;
    void* pointer = nullptr;
    if (const cudaError_t error = cudaMalloc(&pointer, given->bytesize)) return error;
    given->dptr = pointer;
    node.memory = std::make_shared<GraphMemory>(pointer);
    node.run = [memory = node.memory](Call& call, Stream&) { return memory->allocate(call); };
    node.given = MemoryNode{pointer, *given};
    return cudaSuccess;
}

cudaError_t free_pointer(Call& call, Node& node, void* pointer) {
    const machine::Allocation* found = call.global.memory.find(reinterpret_cast<uint64_t>(pointer));
    if (!found || !(found->live || found->keeps_address)) return cudaErrorInvalidValue;
    set_free(node, pointer);
    node.given = MemoryNode{pointer, {}};
    return cudaSuccess;
}

}  // namespace

void runtime::set_free(Node& node, void* pointer) {
    node.run = [pointer](Call&, Stream&) { return cudaFree(pointer); };
    for (const auto& other : node.graph->nodes) {
        if (!other->memory || other->memory->pointer != pointer) continue;
        other->memory->freed_in_graph = true;
        node.run = nullptr;  // so that the graph can run again
    }
}

EMULATOR_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* needs, size_t count,
                                                  cudaMemAllocNodeParams* given) {
    return add_node({__func__, node, graph, needs, count},
                    cudaGraphNodeTypeMemAlloc,
                    [&](Call& call, Node& made) { return allocate(call, made, given); });
}
EMULATOR_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                        cudaMemAllocNodeParams* result) {
    return with_node(
        "cudaGraphMemAllocNodeGetParams", node, cudaGraphNodeTypeMemAlloc, [&](Call&, Node& found) {
            MemoryNode memory;
            if (const cudaError_t error = result ? give(found, &memory) : cudaErrorInvalidValue)
                return error;
            *result = memory.given;
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* needs, size_t count,
                                                 void* pointer) {
    return add_node({__func__, node, graph, needs, count},
                    cudaGraphNodeTypeMemFree,
                    [&](Call& call, Node& made) { return free_pointer(call, made, pointer); });
}
EMULATOR_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* result) {
    return with_node(
        "cudaGraphMemFreeNodeGetParams", node, cudaGraphNodeTypeMemFree, [&](Call&, Node& found) {
            MemoryNode memory;
            if (const cudaError_t error = result ? give(found, &memory) : cudaErrorInvalidValue)
                return error;
            *static_cast<void**>(result) = memory.pointer;
            return cudaSuccess;
        });
}
