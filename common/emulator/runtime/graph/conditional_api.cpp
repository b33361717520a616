// SPDX-License-Identifier: MIT
// Nodes that run their graphs depending on a condition that kernels set (CUDA C++ Programming
// Guide, "Conditional Graph Nodes").
#include <algorithm>

#include "runtime/graph/graph.h"

using namespace runtime;

namespace {

bool size_fits(const cudaConditionalNodeParams& given) {
    switch (given.type) {
    case cudaGraphCondTypeIf:
        return given.size == 1 || given.size == 2;
    case cudaGraphCondTypeWhile:
        return given.size == 1;
    case cudaGraphCondTypeSwitch:
        return given.size > 0;
    default:
        return false;
    }
}

// Whether no node of `graph` uses the condition yet: each belongs to one node.
bool is_free(const Graph& graph, cudaGraphConditionalHandle handle) {
    return std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
        return node->conditional && node->conditional->handle == handle;
    });
}

}  // namespace

cudaError_t runtime::set_conditional(Call&, Node& node, cudaConditionalNodeParams* given) {
    if (!given || !size_fits(*given) || !node.graph->conditions.contains(given->handle) ||
        !is_free(*node.graph, given->handle))
        return cudaErrorInvalidValue;
    auto made = std::make_unique<Conditional>();
    made->handle = given->handle;
    made->type = given->type;
    for (unsigned i = 0; i < given->size; ++i) {
        Graph* body = made->bodies.emplace_back(std::make_unique<Graph>()).get();
        body->of_node = true;
        handles().graphs.insert(body);
        made->shown.push_back(handle_of(body));
    }
    given->phGraph_out = made->shown.data();
    node.conditional = std::move(made);
    return cudaSuccess;
}

bool runtime::has_conditional(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return node->conditional || (node->child && has_conditional(*node->child));
    });
}

EMULATOR_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* result,
                                                          cudaGraph_t handle,
                                                          unsigned default_value, unsigned flags) {
    return api("cudaGraphConditionalHandleCreate", [&](Call&) -> cudaError_t {
        Graph* graph = find_graph(handle);
        if (!result || !graph || (flags & ~unsigned(cudaGraphCondAssignDefault)))
            return cudaErrorInvalidValue;
        static cudaGraphConditionalHandle last = 0;
        *result = ++last;
        graph->conditions[last] = flags & cudaGraphCondAssignDefault
                                      ? std::optional<unsigned>(default_value)
                                      : std::nullopt;
        return cudaSuccess;
    });
}
