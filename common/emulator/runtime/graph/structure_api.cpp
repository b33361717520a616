// SPDX-License-Identifier: MIT
// The structure of graphs: creation, cloning, edges, and queries.
#include <algorithm>
#include <fstream>

#include "runtime/graph/graph.h"

using namespace runtime;

namespace {

// The data of edges only matters to programmatic launches, which need compute capability 9.0.
void clear_edges(cudaGraphEdgeData* edges, size_t count) {
    if (edges) std::fill_n(edges, count, cudaGraphEdgeData{});
}

// The convention of all "get" functions: without an array, only the number; with one that is too
// long, the rest is null.
template <class T, class F>
void give(const std::vector<T>& found, size_t* count, F&& store, size_t& stored) {
    const size_t room = *count;
    stored = std::min(room, found.size());
    for (size_t i = 0; i < stored; ++i) store(i, found[i]);
    *count = stored;
}

cudaError_t give_nodes(const std::vector<Node*>& found, cudaGraphNode_t* nodes, size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (!nodes) {
        *count = found.size();
        return cudaSuccess;
    }
    std::fill_n(nodes, *count, nullptr);
    size_t stored = 0;
    give(
        found, count, [&](size_t i, Node* node) { nodes[i] = handle_of(node); }, stored);
    return cudaSuccess;
}

std::vector<Node*> followers(const Node& node) {
    std::vector<Node*> found;
    for (const auto& other : node.graph->nodes)
        if (std::count(other->needs.begin(), other->needs.end(), &node))
            found.push_back(other.get());
    return found;
}

}  // namespace

EMULATOR_API cudaError_t cudaGraphCreate(cudaGraph_t* result, unsigned flags) {
    return api("cudaGraphCreate", [&](Call&) -> cudaError_t {
        if (!result || flags) return cudaErrorInvalidValue;
        auto* graph = new Graph;
        handles().graphs.insert(graph);
        *result = handle_of(graph);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    return api("cudaGraphDestroy", kIgnoresFault, [&](Call& call) -> cudaError_t {
        Graph* graph = find_graph(handle);
        if (!graph || graph->of_node) return cudaErrorInvalidValue;
        if (is_captured_into(*graph)) return cudaErrorIllegalState;
        const auto objects = graph->objects;
        report_edited(call, *graph);
        delete graph;
        for (const auto& [object, count] : objects) release(call, *object, count);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphClone(cudaGraph_t* result, cudaGraph_t handle) {
    return api("cudaGraphClone", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!result || !graph) return cudaErrorInvalidValue;
        if (has_conditional(*graph) || has_memory(*graph)) return cudaErrorNotSupported;
        Graph* copy = graph->clone().release();
        handles().graphs.insert(copy);
        *result = handle_of(copy);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t original,
                                                  cudaGraph_t clone) {
    return api("cudaGraphNodeFindInClone", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(clone);
        if (!result || !graph) return cudaErrorInvalidValue;
        for (const auto& node : graph->nodes) {
            if (node->original != reinterpret_cast<Node*>(original)) continue;
            *result = handle_of(node.get());
            return cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

EMULATOR_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
    return api("cudaGraphNodeGetType", [&](Call&) -> cudaError_t {
        const Node* node = find_node(handle);
        if (!node || !type) return cudaErrorInvalidValue;
        *type = node->type;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                           size_t* count) {
    return api("cudaGraphGetNodes", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph) return cudaErrorInvalidValue;
        std::vector<Node*> all;
        for (const auto& node : graph->nodes) all.push_back(node.get());
        return give_nodes(all, nodes, count);
    });
}

EMULATOR_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                               size_t* count) {
    return api("cudaGraphGetRootNodes", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph) return cudaErrorInvalidValue;
        std::vector<Node*> roots;
        for (const auto& node : graph->nodes)
            if (node->needs.empty()) roots.push_back(node.get());
        return give_nodes(roots, nodes, count);
    });
}

EMULATOR_API cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from,
                                           cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                           size_t* count) {
    return api("cudaGraphGetEdges", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph || !count || !from != !to) return cudaErrorInvalidValue;
        std::vector<std::pair<Node*, Node*>> all;
        for (const auto& node : graph->nodes)
            for (Node* before : node->needs) all.emplace_back(before, node.get());
        if (!from) {
            *count = all.size();
            return cudaSuccess;
        }
        std::fill_n(from, *count, nullptr);
        std::fill_n(to, *count, nullptr);
        clear_edges(edges, *count);
        size_t stored = 0;
        give(
            all,
            count,
            [&](size_t i, const auto& edge) {
                from[i] = handle_of(edge.first);
                to[i] = handle_of(edge.second);
            },
            stored);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle,
                                                      cudaGraphNode_t* nodes,
                                                      cudaGraphEdgeData* edges, size_t* count) {
    return api("cudaGraphNodeGetDependencies", [&](Call&) -> cudaError_t {
        const Node* node = find_node(handle);
        if (!node || !count) return cudaErrorInvalidValue;
        clear_edges(edges, *count);
        return give_nodes(node->needs, nodes, count);
    });
}

EMULATOR_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle,
                                                        cudaGraphNode_t* nodes,
                                                        cudaGraphEdgeData* edges, size_t* count) {
    return api("cudaGraphNodeGetDependentNodes", [&](Call&) -> cudaError_t {
        const Node* node = find_node(handle);
        if (!node || !count) return cudaErrorInvalidValue;
        clear_edges(edges, *count);
        return give_nodes(followers(*node), nodes, count);
    });
}

EMULATOR_API cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to,
                                                  const cudaGraphEdgeData*, size_t count) {
    return api("cudaGraphAddDependencies", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph || (count && (!from || !to))) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            Node *before = find_node(from[i]), *after = find_node(to[i]);
            if (!before || !after || before == after || before->graph != graph ||
                after->graph != graph)
                return cudaErrorInvalidValue;
            if (std::count(after->needs.begin(), after->needs.end(), before))
                return cudaErrorInvalidValue;
        }
        for (size_t i = 0; i < count; ++i) find_node(to[i])->needs.push_back(find_node(from[i]));
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle,
                                                     const cudaGraphNode_t* from,
                                                     const cudaGraphNode_t* to,
                                                     const cudaGraphEdgeData*, size_t count) {
    return api("cudaGraphRemoveDependencies", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph || (count && (!from || !to))) return cudaErrorInvalidValue;
        if (has_memory(*graph)) return cudaErrorNotSupported;
        for (size_t i = 0; i < count; ++i) {
            Node *before = find_node(from[i]), *after = find_node(to[i]);
            if (!before || !after || std::erase(after->needs, before) == 0)
                return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
    return api("cudaGraphDestroyNode", [&](Call&) -> cudaError_t {
        Node* node = find_node(handle);
        if (!node) return cudaErrorInvalidValue;
        Graph& graph = *node->graph;
        if (has_memory(graph)) return cudaErrorNotSupported;
        if (is_captured_into(graph)) return cudaErrorIllegalState;
        for (Node* after : followers(*node)) std::erase(after->needs, node);
        handles().nodes.erase(node);
        std::erase_if(graph.nodes, [&](const auto& owned) { return owned.get() == node; });
        return cudaSuccess;
    });
}

static const char* shown(cudaGraphNodeType type) {
    switch (type) {
    case cudaGraphNodeTypeKernel:
        return "kernel";
    case cudaGraphNodeTypeMemcpy:
        return "copy";
    case cudaGraphNodeTypeMemset:
        return "fill";
    case cudaGraphNodeTypeHost:
        return "host function";
    case cudaGraphNodeTypeGraph:
        return "child graph";
    case cudaGraphNodeTypeWaitEvent:
        return "wait for event";
    case cudaGraphNodeTypeEventRecord:
        return "record event";
    case cudaGraphNodeTypeMemAlloc:
        return "allocate";
    case cudaGraphNodeTypeMemFree:
        return "free";
    default:
        return "empty";
    }
}

// Writes the graph in Graphviz' language: `dot -Tsvg`.
EMULATOR_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
    return api("cudaGraphDebugDotPrint", [&](Call&) -> cudaError_t {
        const Graph* graph = find_graph(handle);
        if (!graph || !path) return cudaErrorInvalidValue;
        std::ofstream file(path);
        std::map<const Node*, size_t> number;
        file << "digraph cuda_graph {\n";
        for (const auto& node : graph->nodes) {
            number.emplace(node.get(), number.size());
            file << "  n" << number[node.get()] << " [label=\"" << shown(node->type) << "\"];\n";
        }
        for (const auto& node : graph->nodes)
            for (const Node* before : node->needs)
                file << "  n" << number[before] << " -> n" << number[node.get()] << ";\n";
        file << "}\n";
        return file.flush() ? cudaSuccess : cudaErrorOperatingSystem;
    });
}

// ---- objects of the program that live as long as a graph ---------------------------------------

EMULATOR_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* result, void* data,
                                              cudaHostFn_t destroy, unsigned count,
                                              unsigned flags) {
    return api("cudaUserObjectCreate", [&](Call&) -> cudaError_t {
        if (!result || !destroy || !count || flags != cudaUserObjectNoDestructorSync)
            return cudaErrorInvalidValue;
        auto* object = new UserObject{data, destroy, count};
        handles().objects.insert(object);
        *result = reinterpret_cast<cudaUserObject_t>(object);
        return cudaSuccess;
    });
}

static UserObject* find_object(cudaUserObject_t handle) {
    auto* object = reinterpret_cast<UserObject*>(handle);
    return handles().objects.contains(object) ? object : nullptr;
}

EMULATOR_API cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
    return api("cudaUserObjectRetain", [&](Call&) -> cudaError_t {
        UserObject* object = find_object(handle);
        if (!object || !count) return cudaErrorInvalidValue;
        retain(*object, count);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
    return api("cudaUserObjectRelease", [&](Call& call) -> cudaError_t {
        UserObject* object = find_object(handle);
        if (!object || !count || count > object->count) return cudaErrorInvalidValue;
        release(call, *object, count);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle,
                                                   cudaUserObject_t object_handle, unsigned count,
                                                   unsigned flags) {
    return api("cudaGraphRetainUserObject", [&](Call&) -> cudaError_t {
        Graph* graph = find_graph(handle);
        UserObject* object = find_object(object_handle);
        if (!graph || !object || !count || (flags & ~unsigned(cudaGraphUserObjectMove)))
            return cudaErrorInvalidValue;
        // A move transfers the caller's references; otherwise the graph takes new ones.
        if (!(flags & cudaGraphUserObjectMove)) retain(*object, count);
        graph->objects[object] += count;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle,
                                                    cudaUserObject_t object_handle,
                                                    unsigned count) {
    return api("cudaGraphReleaseUserObject", [&](Call& call) -> cudaError_t {
        Graph* graph = find_graph(handle);
        UserObject* object = find_object(object_handle);
        if (!graph || !object || !count || graph->objects[object] < count)
            return cudaErrorInvalidValue;
        if ((graph->objects[object] -= count) == 0) graph->objects.erase(object);
        release(call, *object, count);
        return cudaSuccess;
    });
}
