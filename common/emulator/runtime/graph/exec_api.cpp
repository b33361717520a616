// SPDX-License-Identifier: MIT
// Executable graphs: instantiated from a graph, launched any number of times, updated in place.
#include <algorithm>

#include "runtime/graph/graph.h"

using namespace runtime;

namespace {

constexpr unsigned long long kKnownFlags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                           cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagUseNodePriority;

// Includes the conditions of nested graphs: all defaults apply when the whole graph is launched.
void collect_conditions(const Graph& graph, decltype(GraphExec::conditions)& all) {
    all.insert(graph.conditions.begin(), graph.conditions.end());
    for (const auto& node : graph.nodes)
        if (node->conditional)
            for (const auto& body : node->conditional->bodies) collect_conditions(*body, all);
}

cudaError_t make(const char* name, cudaGraphExec_t* result, cudaGraph_t handle,
                 unsigned long long flags) {
    return api(name, [&](Call& call) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!result || !graph) return cudaErrorInvalidValue;
        if (graph->moved) return cudaErrorNotSupported;
        if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
        if (flags & ~kKnownFlags) return cudaErrorInvalidValue;
        report_edited(call, *graph);
        auto exec = std::make_unique<GraphExec>();
        if (const cudaError_t error = instantiate(*graph, exec->nodes))
            return call.global.device_count() ? error : cudaErrorNoDevice;
        exec->flags = flags;
        collect_conditions(*graph, exec->conditions);
        exec->objects = graph->objects;
        for (const auto& [object, count] : exec->objects) retain(*object, count);
        handles().execs.insert(exec.get());
        *result = handle_of(exec.release());
        return cudaSuccess;
    });
}

bool keeps_memory(const std::vector<ExecNode>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [](const ExecNode& node) {
        return (node.memory && node.memory->is_still_allocated()) || keeps_memory(node.child);
    });
}

ExecNode* node_in(GraphExec* exec, const Node* node) {
    if (!exec || !node) return nullptr;
    for (ExecNode& candidate : exec->nodes)
        if (candidate.source == node) return &candidate;
    return nullptr;
}

// Changes one node of an executable graph: `fill_in` sets up a temporary node of the same kind.
template <class F>
cudaError_t change(const char* name, cudaGraphExec_t exec, cudaGraphNode_t handle,
                   cudaGraphNodeType type, F&& fill_in) {
    return api(name, [&](Call& call) -> cudaError_t {
        Node* node = find_node(handle);
        ExecNode* target = node_in(find_exec(exec), node);
        if (!target || target->type != type) return cudaErrorInvalidValue;
        report_edited(call, *node);
        Node scratch;
        scratch.type = type;
        scratch.device = target->device;
        if (const cudaError_t error = fill_in(call, scratch)) return error;
        target->run = scratch.run;
        if (scratch.child) {
            std::vector<ExecNode> nodes;
            if (const cudaError_t error = instantiate(*scratch.child, nodes)) return error;
            if (nodes.size() != target->child.size()) return cudaErrorGraphExecUpdateFailure;
            target->child = std::move(nodes);
        }
        return cudaSuccess;
    });
}

// Whether the new nodes have the structure of the old ones; if not, what differs.
cudaGraphExecUpdateResult compare(const std::vector<ExecNode>& before,
                                  const std::vector<ExecNode>& after, const Node*& where) {
    where = nullptr;
    if (before.size() != after.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < after.size(); ++i) {
        where = after[i].source;
        if (before[i].type != after[i].type) return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (before[i].needs != after[i].needs) return cudaGraphExecUpdateErrorTopologyChanged;
        const Node* inner = nullptr;
        const auto result = compare(before[i].child, after[i].child, inner);
        if (result != cudaGraphExecUpdateSuccess) return result;
    }
    where = nullptr;
    return cudaGraphExecUpdateSuccess;
}

void take_over(std::vector<ExecNode>& nodes, std::vector<ExecNode>& from) {
    for (size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].run = std::move(from[i].run);
        nodes[i].device = from[i].device;
        nodes[i].conditional = from[i].conditional;
        take_over(nodes[i].child, from[i].child);
    }
}

}  // namespace

EMULATOR_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                              unsigned long long flags) {
    return make("cudaGraphInstantiate", exec, graph, flags);
}
EMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                       unsigned long long flags) {
    return make("cudaGraphInstantiateWithFlags", exec, graph, flags);
}
EMULATOR_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* result, cudaGraph_t graph,
                                                        cudaGraphInstantiateParams* params) {
    if (!params) return cudaErrorInvalidValue;
    const cudaError_t error = make("cudaGraphInstantiateWithParams", result, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}

EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
    return api("cudaGraphExecDestroy", kIgnoresFault, [&](Call& call) -> cudaError_t {
        GraphExec* exec = find_exec(handle);
        if (!exec) return cudaErrorInvalidValue;
        const auto objects = exec->objects;
        handles().execs.erase(exec);
        delete exec;
        for (const auto& [object, count] : objects) release(call, *object, count);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
    return api("cudaGraphExecGetFlags", [&](Call&) -> cudaError_t {
        const GraphExec* exec = find_exec(handle);
        if (!exec || !flags) return cudaErrorInvalidValue;
        *flags = exec->flags;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
    return api("cudaGraphLaunch", [&](Call& call) -> cudaError_t {
        GraphExec* exec = find_exec(handle);
        if (!exec) return cudaErrorInvalidValue;
        // Memory that the previous launch allocated and that has not been freed.
        if (!(exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) && keeps_memory(exec->nodes))
            return cudaErrorInvalidValue;
        // Launching into a capture adds a child graph to it.
        const auto nodes = std::make_shared<std::vector<ExecNode>>(exec->nodes);
        return submit(call,
                      stream_handle,
                      Work{Work::Kind::kHost,
                           "cudaGraphLaunch",
                           [nodes, conditions = exec->conditions](Call& later, Stream& stream) {
                               for (const auto& [handle, value] : conditions)
                                   if (value) machine::conditions()[handle] = *value;
                               return run_graph(later, *nodes, stream);
                           }});
    });
}

EMULATOR_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    return api("cudaGraphUpload", [&](Call& call) {
        return find_exec(exec) && find_stream(call, stream) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

// The kinds of nodes that are alike.
#define PARAMETERS(...) __VA_ARGS__
#define GRAPH_NODE(KIND, FORM, CHANGE, TYPE, set, GIVEN, ...)                                      \
    EMULATOR_API cudaError_t cudaGraphExec##KIND##Node##CHANGE##FORM(                              \
        cudaGraphExec_t exec, cudaGraphNode_t node, PARAMETERS GIVEN) {                            \
        return change(__func__, exec, node, cudaGraphNodeType##TYPE, [&](Call& call, Node& made) { \
            return set(call, made, __VA_ARGS__);                                                   \
        });                                                                                        \
    }
#define GRAPH_NODE_GET(KIND, T)
#include "runtime/graph/nodes.def"
#undef PARAMETERS

EMULATOR_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node,
                                                              cudaGraph_t child) {
    return change("cudaGraphExecChildGraphNodeSetParams",
                  exec,
                  node,
                  cudaGraphNodeTypeGraph,
                  [&](Call& call, Node& made) { return set_child(call, made, child); });
}

EMULATOR_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                                 unsigned enabled) {
    return api("cudaGraphNodeSetEnabled", [&](Call&) -> cudaError_t {
        ExecNode* node = node_in(find_exec(exec), find_node(handle));
        if (!node ||
            (node->type != cudaGraphNodeTypeKernel && node->type != cudaGraphNodeTypeMemcpy &&
             node->type != cudaGraphNodeTypeMemset))
            return cudaErrorInvalidValue;
        node->enabled = enabled != 0;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                                 unsigned* enabled) {
    return api("cudaGraphNodeGetEnabled", [&](Call&) -> cudaError_t {
        const ExecNode* node = node_in(find_exec(exec), find_node(handle));
        if (!node || !enabled) return cudaErrorInvalidValue;
        *enabled = node->enabled;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                             cudaGraphExecUpdateResultInfo* info) {
    return api("cudaGraphExecUpdate", [&](Call& call) -> cudaError_t {
        GraphExec* exec = find_exec(handle);
        const Graph* graph = find_graph(graph_handle);
        if (!exec || !graph || !info) return cudaErrorInvalidValue;
        if (graph->moved) return cudaErrorNotSupported;
        report_edited(call, *graph);
        std::vector<ExecNode> nodes;
        if (const cudaError_t error = instantiate(*graph, nodes)) return error;
        const Node* where = nullptr;
        info->result = compare(exec->nodes, nodes, where);
        info->errorNode = where ? handle_of(where) : nullptr;
        info->errorFromNode = nullptr;
        if (info->result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
        take_over(exec->nodes, nodes);
        return cudaSuccess;
    });
}
