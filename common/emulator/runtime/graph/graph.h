// SPDX-License-Identifier: MIT
// CUDA graphs on a machine that runs everything at once: a node is a function that can be called
// repeatedly, and an executable graph is a list of nodes in an order that respects the edges.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/core/launch.h"
#include "runtime/core/stream.h"

namespace runtime {

struct Graph;

struct KernelNode {
    cudaKernelNodeParams given{};
    std::vector<std::byte> arguments;  // packed by the kernel's parameter list
    std::vector<size_t> offsets;       // of each argument
    std::vector<void*> pointers;       // into `arguments`, filled in by queries
    std::vector<std::byte> shown;      // `arguments` when the last query returned `pointers`
    std::map<int, cudaLaunchAttributeValue> attributes;
};
// Memory of an allocation node. It exists from the node's creation on, since its address must be
// known then, and keeps that address while any copy of the graph exists. If a node of the same
// graph frees it, it is released with the last copy; if anything else frees it, the next launch
// allocates it again (CUDA C++ Programming Guide, "Graph Memory Nodes").
struct GraphMemory {
    explicit GraphMemory(void* start);
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;
    cudaError_t allocate(Call& call);  // runs the node
    bool is_still_allocated() const;   // by the previous launch; the next one must not leak it
    void* pointer;
    bool freed_in_graph = false, launched = false;
};
struct MemoryNode {  // allocation and free
    void* pointer = nullptr;
    cudaMemAllocNodeParams given{};
};

// A node that runs one of its graphs, none of them, or one repeatedly, as kernels decide.
struct Conditional {
    cudaGraphConditionalHandle handle = 0;
    cudaGraphConditionalNodeType type{};
    std::vector<std::unique_ptr<Graph>> bodies;
    std::vector<cudaGraph_t> shown;  // the handles of `bodies` that the program gets
};

struct Node {
    Graph* graph = nullptr;
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    int device = 0;
    std::vector<Node*> needs;                        // direct predecessors
    std::function<cudaError_t(Call&, Stream&)> run;  // empty: nothing to do
    // Parameters that the program may query; monostate for nodes that stream capture created,
    // except kernels.
    std::variant<std::monostate, KernelNode, cudaMemcpy3DParms, cudaMemsetParams,
                 cudaHostNodeParams, Event*, MemoryNode>
        given;
    std::unique_ptr<Graph> child;
    std::unique_ptr<Conditional> conditional;
    std::shared_ptr<GraphMemory> memory;  // of an allocation node
    const Node* original = nullptr;       // in a clone: the node that it was cloned from
};

struct UserObject {
    void* data;
    cudaHostFn_t destroy;
    unsigned count;
};

struct Graph {
    ~Graph();
    bool of_node = false;  // a child: destroyed with its node, and only so
    bool moved = false;    // a child that the program made; it cannot be used on its own any more
    std::vector<std::unique_ptr<Node>> nodes;
    std::map<UserObject*, unsigned> objects;  // references held by the graph
    // Conditions created for this graph; those with a default are reset to it at each launch.
    std::map<cudaGraphConditionalHandle, std::optional<unsigned>> conditions;

    Node* add(cudaGraphNodeType type, int device);  // also registers a live handle
    // Every node after all nodes that it depends on; empty (with nodes present) when there is a
    // cycle.
    std::vector<Node*> order() const;
    std::unique_ptr<Graph> clone() const;
};

struct ExecNode {
    const Node* source;  // only compared, never dereferenced: the graph may have been destroyed
    cudaGraphNodeType type;
    int device;
    std::function<cudaError_t(Call&, Stream&)> run;
    std::vector<size_t> needs;  // positions in the list
    bool enabled = true;
    std::vector<ExecNode> child;
    std::shared_ptr<GraphMemory> memory;
    struct Conditional {
        cudaGraphConditionalHandle handle;
        cudaGraphConditionalNodeType type;
        std::vector<std::vector<ExecNode>> bodies;
    };
    std::shared_ptr<const Conditional> conditional;
    // For observers of the order of work: nodes run one after the other, but are reported as if
    // they ran in several streams with events between them, so that two nodes without a path of
    // edges are not ordered.
    struct Order {
        uint64_t branch = 0;           // the stream; 0: the launch's
        uint64_t opens = 0;            // event before the node, which other branches start from
        std::vector<uint64_t> awaits;  // events of nodes in other branches that it depends on
        uint64_t done = 0;             // event after the node
        bool ends_branch = false;      // the launch's stream waits for `done`
    } order;
};
struct GraphExec {
    std::vector<ExecNode> nodes;
    unsigned long long flags = 0;
    std::map<UserObject*, unsigned> objects;
    std::map<cudaGraphConditionalHandle, std::optional<unsigned>> conditions;
};

// Valid handles that the program holds; all others are refused.
struct Handles {
    std::unordered_set<const void*> graphs, nodes, execs, objects;
};
Handles& handles();

Graph* find_graph(cudaGraph_t handle);
Node* find_node(cudaGraphNode_t handle);
GraphExec* find_exec(cudaGraphExec_t handle);
inline cudaGraph_t handle_of(Graph* graph) {
    return reinterpret_cast<cudaGraph_t>(graph);
}
inline cudaGraphNode_t handle_of(const Node* node) {
    return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}
inline cudaGraphExec_t handle_of(GraphExec* exec) {
    return reinterpret_cast<cudaGraphExec_t>(exec);
}

void retain(UserObject& object, unsigned count);
void release(Call& call, UserObject& object, unsigned count);

// The handle by which an API function finds `stream`.
cudaStream_t public_handle(Call& call, Stream& stream);

// What cudaGraphKernelNodeGetParams returns belongs to the node, and "should not be modified
// directly": reports arguments that the program has changed there, once.
void report_edited(Call& call, Node& node);
void report_edited(Call& call, const Graph& graph);

// Sets what a node of each kind does when it runs, and its parameters for queries. On an error the
// node is unchanged.
cudaError_t set_kernel(Call& call, Node& node, const cudaKernelNodeParams* given);
cudaError_t set_copy(Call& call, Node& node, const cudaMemcpy3DParms* given);
cudaError_t set_copy_1d(Call& call, Node& node, void* to, const void* from, size_t bytes,
                        cudaMemcpyKind kind);
cudaError_t set_copy_to_symbol(Call& call, Node& node, const void* symbol, const void* from,
                               size_t bytes, size_t offset, cudaMemcpyKind kind);
cudaError_t set_copy_from_symbol(Call& call, Node& node, void* to, const void* symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind kind);
cudaError_t set_fill(Call& call, Node& node, const cudaMemsetParams* given);
cudaError_t set_host(Call& call, Node& node, const cudaHostNodeParams* given);
cudaError_t set_event(Call& call, Node& node, cudaEvent_t event);
// `move`: the node takes the graph over; otherwise a clone of it.
cudaError_t set_child(Call& call, Node& node, cudaGraph_t child, bool move = false);
// Creates the graphs that the node chooses from and returns them in `given`.
cudaError_t set_conditional(Call& call, Node& node, cudaConditionalNodeParams* given);
bool has_conditional(const Graph& graph);  // such a graph can be neither cloned nor a child
// Whether it is the same or has it as a child, however deep.
bool contains(const Graph& graph, const Graph& inner);
// Allocations or frees: such a graph cannot be cloned and loses no nodes or edges.
bool has_memory(const Graph& graph);
// "All operations other than destroy and node removal are permitted on the graph while the capture
// sequence is in progress" (CUDA Runtime API, cudaStreamGetCaptureInfo): those two return
// cudaErrorIllegalState on a card, and the capture goes on.
bool is_captured_into(const Graph& graph);
// `node` frees `pointer`: the memory of an allocation node of its graph, or else the memory that is
// there when the node runs.
void set_free(Node& node, void* pointer);

// A list of executable nodes; cudaErrorInvalidValue when the graph has a cycle.
cudaError_t instantiate(const Graph& graph, std::vector<ExecNode>& nodes);
cudaError_t run_nodes(Call& call, const std::vector<ExecNode>& nodes, Stream& stream);
// run_nodes as one launch of a graph, which is reported to observers.
cudaError_t run_graph(Call& call, const std::vector<ExecNode>& nodes, Stream& stream);
// Gives every node its Order. Expects each node after all that it depends on, as from
// instantiate().
void find_branches(Context& context, std::vector<ExecNode>& nodes);

}  // namespace runtime
