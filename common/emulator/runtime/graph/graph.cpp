// SPDX-License-Identifier: MIT
// Graphs as data: nodes, edges, clones, executable copies.
#include "runtime/graph/graph.h"

#include <algorithm>
#include <unordered_map>

namespace runtime {

Handles& handles() {
    static auto& instance = *new Handles;
    return instance;
}

template <class T, class H>
static T* checked(const std::unordered_set<const void*>& known, H handle) {
    auto* pointer = reinterpret_cast<T*>(handle);
    return known.contains(pointer) ? pointer : nullptr;
}
Graph* find_graph(cudaGraph_t handle) {
    return checked<Graph>(handles().graphs, handle);
}
Node* find_node(cudaGraphNode_t handle) {
    return checked<Node>(handles().nodes, handle);
}
GraphExec* find_exec(cudaGraphExec_t handle) {
    return checked<GraphExec>(handles().execs, handle);
}

GraphMemory::GraphMemory(void* start) : pointer(start) {
    machine::Allocation* found = context().memory.find(reinterpret_cast<uint64_t>(start));
    if (found) found->keeps_address = found->of_graph = true;
}

GraphMemory::~GraphMemory() {
    machine::Memory& memory = context().memory;
    machine::Allocation* found = memory.find(reinterpret_cast<uint64_t>(pointer));
    if (!found) return;
    memory.give_up_address(*found);
    if (found->live && (freed_in_graph || !launched)) cudaFree(pointer);
}

bool GraphMemory::is_still_allocated() const {
    const auto* found = context().memory.find(reinterpret_cast<uint64_t>(pointer));
    return launched && !freed_in_graph && found && found->live;
}

cudaError_t GraphMemory::allocate(Call& call) {
    machine::Allocation* found = call.global.memory.find(reinterpret_cast<uint64_t>(pointer));
    if (!found) return cudaErrorInvalidValue;
    if (is_still_allocated()) call.global.release(*found, call.site());
    if (!found->live) {
        found = call.global.memory.renew(*found, found->allocated_at);
        if (!found) return cudaErrorMemoryAllocation;
        call.global.fire_alloc(*found);
    }
    launched = true;
    found->of_graph = freed_in_graph;
    return cudaSuccess;
}

Graph::~Graph() {
    for (const auto& node : nodes) handles().nodes.erase(node.get());
    handles().graphs.erase(this);
}

Node* Graph::add(cudaGraphNodeType type, int device) {
    nodes.push_back(std::make_unique<Node>());
    Node* node = nodes.back().get();
    node->graph = this;
    node->type = type;
    node->device = device;
    handles().nodes.insert(node);
    return node;
}

std::vector<Node*> Graph::order() const {
    std::unordered_map<const Node*, size_t> open;  // predecessors that are not placed yet
    std::unordered_map<const Node*, std::vector<Node*>> followers;
    std::vector<Node*> result;
    for (const auto& node : nodes) {
        open[node.get()] = node->needs.size();
        for (const Node* before : node->needs) followers[before].push_back(node.get());
        if (node->needs.empty()) result.push_back(node.get());
    }
    for (size_t i = 0; i < result.size(); ++i)
        for (Node* next : followers[result[i]])
            if (--open[next] == 0) result.push_back(next);
    if (result.size() != nodes.size()) result.clear();
    return result;
}

std::unique_ptr<Graph> Graph::clone() const {
    auto copy = std::make_unique<Graph>();
    std::unordered_map<const Node*, Node*> twin;
    for (const auto& node : nodes) {
        Node* made = copy->add(node->type, node->device);
        made->run = node->run;
        made->given = node->given;
        if (auto* kernel = std::get_if<KernelNode>(&made->given)) kernel->shown.clear();
        made->original = node.get();
        made->memory = node->memory;
        if (node->child) {
            made->child = node->child->clone();
            made->child->of_node = true;
        }
        twin[node.get()] = made;
    }
    for (const auto& node : nodes)
        for (const Node* before : node->needs) twin[node.get()]->needs.push_back(twin[before]);
    copy->objects = objects;
    for (auto& [object, count] : copy->objects) retain(*object, count);
    return copy;
}

bool contains(const Graph& graph, const Graph& inner) {
    return &graph == &inner ||
           std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
               return node->child && contains(*node->child, inner);
           });
}

bool has_memory(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree ||
               (node->child && has_memory(*node->child));
    });
}

void retain(UserObject& object, unsigned count) {
    object.count += count;
}

void release(Call& call, UserObject& object, unsigned count) {
    object.count -= std::min(count, object.count);
    if (object.count > 0) return;
    const UserObject last = object;
    handles().objects.erase(&object);
    delete &object;
    call.unlocked([&] { last.destroy(last.data); });
}

cudaStream_t public_handle(Call& call, Stream& stream) {
    if (call.global.streams.contains(&stream)) return handle_of(&stream);
    return &stream == call.device().default_stream ? cudaStreamLegacy : cudaStreamPerThread;
}

cudaError_t instantiate(const Graph& graph, std::vector<ExecNode>& nodes) {
    const std::vector<Node*> order = graph.order();
    if (order.size() != graph.nodes.size()) return cudaErrorInvalidValue;
    std::unordered_map<const Node*, size_t> position;
    for (const Node* node : order) {
        ExecNode made{
            node, node->type, node->device, node->run, {}, true, {}, node->memory, {}, {}};
        for (const Node* before : node->needs) made.needs.push_back(position[before]);
        if (node->child)
            if (const cudaError_t error = instantiate(*node->child, made.child)) return error;
        if (node->conditional) {
            auto choice = std::make_shared<ExecNode::Conditional>();
            choice->handle = node->conditional->handle;
            choice->type = node->conditional->type;
            for (const auto& body : node->conditional->bodies)
                if (const cudaError_t error = instantiate(*body, choice->bodies.emplace_back()))
                    return error;
            made.conditional = std::move(choice);
        }
        position[node] = nodes.size();
        nodes.push_back(std::move(made));
    }
    find_branches(context(), nodes);
    return cudaSuccess;
}

}  // namespace runtime
