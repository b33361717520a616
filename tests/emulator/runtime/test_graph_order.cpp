// SPDX-License-Identifier: MIT
// In which streams the nodes of a graph seem to run: edges order them, and nothing else does.
#include <algorithm>

#include "device_lab.h"

using Order = machine::OrderEvent::Kind;

namespace {

struct Graphs {
    Graphs() {
        REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
        REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    }
    ~Graphs() {
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    cudaGraphNode_t fill(std::vector<cudaGraphNode_t> needs) {
        cudaMemsetParams params{};
        params.dst = data;
        params.elementSize = 4;
        params.width = 4;
        params.height = 1;
        cudaGraphNode_t node = nullptr;
        REQUIRE(cudaGraphAddMemsetNode(&node, graph, needs.data(), needs.size(), &params) ==
                cudaSuccess);
        return node;
    }
    // The streams of the fills.
    std::vector<uint64_t> run() {
        cudaGraphExec_t exec = nullptr;
        REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
        device.seen.access.clear();
        device.seen.order.clear();
        REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
        std::vector<uint64_t> streams;
        for (const auto& access : device.seen.access) streams.push_back(access.stream);
        REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
        unsigned long long own = 0;
        REQUIRE(cudaStreamGetId(stream, &own) == cudaSuccess);
        id = own;
        return streams;
    }
    uint64_t waits(uint64_t by) const {
        return uint64_t(std::count_if(
            device.seen.order.begin(), device.seen.order.end(), [&](const auto& event) {
                return event.kind == Order::kStreamWaitEvent && event.stream == by;
            }));
    }

    lab::Device device;
    int* data = lab::device_array<int>(4);
    cudaGraph_t graph = nullptr;
    cudaStream_t stream = nullptr;
    uint64_t id = 0;
};

}  // namespace

TEST_CASE("graph: a chain runs in the stream of the launch", "[graph]") {
    Graphs g;
    g.fill({g.fill({g.fill({})})});
    const auto streams = g.run();
    CHECK(streams == std::vector<uint64_t>(3, g.id));
    CHECK(g.waits(g.id) == 0);
}

TEST_CASE("graph: nodes without an edge run beside each other", "[graph]") {
    Graphs g;
    g.fill({});
    g.fill({});
    const auto streams = g.run();
    REQUIRE(streams.size() == 2);
    CHECK(streams[0] == g.id);
    CHECK(streams[1] != g.id);
    CHECK(g.waits(streams[1]) == 1);  // for what was in the stream before the launch
    CHECK(g.waits(g.id) == 1);        // what follows in the stream waits for the branch
}

TEST_CASE("graph: a node waits for all that it needs", "[graph]") {
    Graphs g;
    const cudaGraphNode_t a = g.fill({}), b = g.fill({}), c = g.fill({a, b});
    g.fill({a});
    g.fill({c});
    const auto streams = g.run();
    REQUIRE(streams.size() == 5);
    // `a` and the next one in the stream of the launch, the other three in a branch.
    CHECK(std::count(streams.begin(), streams.end(), g.id) == 2);
    CHECK(std::count(streams.begin(), streams.end(), streams[1]) == 3);
    CHECK(g.waits(streams[1]) == 2);  // for the launch, and `c` for `a`
    CHECK(g.waits(g.id) == 1);
}

TEST_CASE("graphs: a captured allocation and its free are nodes, in the stream's order",
          "[runtime][graph]") {
    Graphs graphs;
    cudaGraph_t captured = nullptr;
    void* memory = nullptr;
    REQUIRE(cudaStreamBeginCapture(graphs.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaMallocAsync(&memory, 16, graphs.stream) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(memory, 0, 16, graphs.stream) == cudaSuccess);
    REQUIRE(cudaFreeAsync(memory, graphs.stream) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(graphs.stream, &captured) == cudaSuccess);
    cudaGraphNode_t nodes[3];
    size_t count = 3;
    REQUIRE(cudaGraphGetNodes(captured, nullptr, &count) == cudaSuccess);
    REQUIRE(count == 3);
    REQUIRE(cudaGraphGetNodes(captured, nodes, &count) == cudaSuccess);
    const cudaGraphNodeType want[] = {
        cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemFree};
    for (int i = 0; i < 3; ++i) {
        cudaGraphNodeType type{};
        REQUIRE(cudaGraphNodeGetType(nodes[i], &type) == cudaSuccess);
        CHECK(type == want[i]);
    }
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, captured, 0) == cudaSuccess);
    for (int round = 0; round < 2; ++round)  // the memory is there again
        CHECK(cudaGraphLaunch(exec, graphs.stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(graphs.stream) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroy(captured) == cudaSuccess);
}

namespace {

// A graph that allocates, and what it allocated.
int* allocating(cudaGraph_t graph, cudaGraphNode_t* node) {
    cudaMemAllocNodeParams given{};
    given.bytesize = 400;
    given.poolProps.allocType = cudaMemAllocationTypePinned;
    given.poolProps.location.type = cudaMemLocationTypeDevice;
    REQUIRE(cudaGraphAddMemAllocNode(node, graph, nullptr, 0, &given) == cudaSuccess);
    return static_cast<int*>(given.dptr);
}

const machine::Allocation& at(const int* pointer) {
    return *runtime::context().memory.find(reinterpret_cast<uint64_t>(pointer));
}

}  // namespace

TEST_CASE("graph memory: freed after the graph, it is allocated again at the same address",
          "[graph]") {
    Graphs g;
    cudaGraphNode_t node = nullptr;
    int* memory = allocating(g.graph, &node);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, g.graph, 0) == cudaSuccess);
    CHECK(at(memory).of_graph);  // nothing to free yet
    for (int i = 0; i < 3; ++i) {
        REQUIRE(cudaGraphLaunch(exec, g.stream) == cudaSuccess);
        CHECK(at(memory).live);
        CHECK_FALSE(at(memory).of_graph);
        CHECK(cudaGraphLaunch(exec, g.stream) == cudaErrorInvalidValue);
        const uint32_t id = at(memory).id;
        REQUIRE(cudaFree(memory) == cudaSuccess);
        CHECK(at(memory).id == id);  // no other allocation is there
        CHECK_FALSE(at(memory).live);
        int* other = lab::device_array<int>(100);
        CHECK(other != memory);
        cudaFree(other);
    }
    REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
}

TEST_CASE("graph memory: a launch may free what the one before left", "[graph]") {
    Graphs g;
    cudaGraphNode_t node = nullptr;
    int* memory = allocating(g.graph, &node);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, g.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch) ==
            cudaSuccess);
    REQUIRE(cudaGraphLaunch(exec, g.stream) == cudaSuccess);
    const uint32_t id = at(memory).id;
    REQUIRE(cudaGraphLaunch(exec, g.stream) == cudaSuccess);
    CHECK(at(memory).live);
    CHECK(at(memory).id != id);  // a new one: what was written is gone
    REQUIRE(cudaFree(memory) == cudaSuccess);
    REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
}

TEST_CASE("graph memory: a node that frees it leaves nothing to the program", "[graph]") {
    Graphs g;
    cudaGraphNode_t node = nullptr, frees = nullptr;
    int* memory = allocating(g.graph, &node);
    REQUIRE(cudaGraphAddMemFreeNode(&frees, g.graph, &node, 1, memory) == cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, g.graph, 0) == cudaSuccess);
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, g.stream) == cudaSuccess);
    CHECK(at(memory).of_graph);
    REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(g.graph) == cudaSuccess);
    CHECK_FALSE(at(memory).live);
    REQUIRE(cudaGraphCreate(&g.graph, 0) == cudaSuccess);
}
