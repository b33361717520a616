// SPDX-License-Identifier: MIT
// Shared by all functions about the nodes of graphs.
#pragma once

#include <algorithm>

#include "runtime/graph/graph.h"

namespace runtime {

// The arguments that all functions which add a node have.
struct NewNode {
    const char* name;  // of the function
    cudaGraphNode_t* node;
    cudaGraph_t graph;
    const cudaGraphNode_t* needs;
    size_t count;
};

// Creates a node after `needs`, fills it in, and removes it again if that fails.
template <class F>
cudaError_t add_node(const NewNode& wanted, cudaGraphNodeType type, F&& fill_in) {
    return api(wanted.name, [&](Call& call) -> cudaError_t {
        Graph* graph = find_graph(wanted.graph);
        if (!wanted.node || !graph || (wanted.count && !wanted.needs)) return cudaErrorInvalidValue;
        const bool memory = type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
        if (memory && graph->of_node) return cudaErrorNotSupported;  // a child takes none
        std::vector<Node*> before;
        for (size_t i = 0; i < wanted.count; ++i) {
            Node* node = find_node(wanted.needs[i]);
            if (!node || node->graph != graph || std::count(before.begin(), before.end(), node))
                return cudaErrorInvalidValue;
            before.push_back(node);
        }
        Node* node = graph->add(type, call.thread.device);
        node->needs = std::move(before);
        if (const cudaError_t error = fill_in(call, *node)) {
            handles().nodes.erase(node);
            graph->nodes.pop_back();
            return error;
        }
        *wanted.node = handle_of(node);
        return cudaSuccess;
    });
}

template <class F>
cudaError_t with_node(const char* name, cudaGraphNode_t handle, cudaGraphNodeType type, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        Node* node = find_node(handle);
        if (!node || node->type != type) return cudaErrorInvalidValue;
        return body(call, *node);
    });
}

template <class T>
cudaError_t give(const Node& node, T* result) {
    if (!result) return cudaErrorInvalidValue;
    const T* given = std::get_if<T>(&node.given);
    if (!given) {
        warn_once(
            "the parameters of a graph node that was captured from a stream cannot be read back");
        return cudaErrorNotSupported;
    }
    *result = *given;
    return cudaSuccess;
}

}  // namespace runtime
