// SPDX-License-Identifier: MIT
// The arguments of a kernel node that cudaGraphKernelNodeGetParams returns belong to the node.
#include "device_lab.h"

namespace {

struct KernelNode {
    KernelNode() {
        params.func = const_cast<void*>(program.kernel("store_index"));
        params.gridDim = params.blockDim = dim3(1);
        void* arguments[] = {&out, &n};
        params.kernelParams = arguments;
        REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
        REQUIRE(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params) == cudaSuccess);
        REQUIRE(cudaGraphKernelNodeGetParams(node, &params) == cudaSuccess);
    }
    ~KernelNode() { cudaGraphDestroy(graph); }
    int* number() const { return static_cast<int*>(params.kernelParams[1]); }
    // What was reported so far: the words of each.
    std::string reported() const {
        std::string words;
        for (const auto& event : device.seen.api)
            if (event.kind == machine::ApiEvent::Kind::kLibraryMisuse)
                words += event.message + '\n';
        return words;
    }

    lab::Device device;
    lab::Program program{lab::kStoreIndex};
    int* out = lab::device_array<int>(4);
    int n = 4;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams params{};
};

}  // namespace

TEST_CASE("graph arguments: a value that is changed in place is reported once", "[graph]") {
    KernelNode k;
    *k.number() = 2;
    CHECK(cudaGraphKernelNodeSetParams(k.node, &k.params) == cudaSuccess);
    CHECK(k.reported().find("the value at `kernelParams[1]` was changed in the memory") == 0);
    // Setting them has made what the list points to invalid.
    CHECK(cudaGraphKernelNodeGetParams(k.node, &k.params) == cudaSuccess);
    CHECK(cudaGraphKernelNodeSetParams(k.node, &k.params) == cudaSuccess);
    CHECK(k.device.seen.api.size() == 1);
}

TEST_CASE("graph arguments: a pointer that is replaced in the list is reported", "[graph]") {
    KernelNode k;
    int two = 2;
    k.params.kernelParams[1] = &two;
    CHECK(cudaGraphKernelNodeSetParams(k.node, &k.params) == cudaSuccess);
    CHECK(k.reported().find("`kernelParams[1]` was replaced in the list") == 0);
}

TEST_CASE("graph arguments: a list of one's own is right", "[graph]") {
    KernelNode k;
    int two = 2;
    void* own[] = {k.params.kernelParams[0], &two};
    k.params.kernelParams = own;
    CHECK(cudaGraphKernelNodeSetParams(k.node, &k.params) == cudaSuccess);
    CHECK(k.reported().empty());
}

// What the node of the original has shown is no business of its copy's.
TEST_CASE("graph arguments: a clone's are its own", "[graph]") {
    KernelNode k;
    cudaGraph_t copy = nullptr;
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphClone(&copy, k.graph) == cudaSuccess);
    REQUIRE(cudaGraphNodeFindInClone(&node, k.node, copy) == cudaSuccess);
    CHECK(cudaGraphKernelNodeSetParams(node, &k.params) == cudaSuccess);
    CHECK(k.reported().empty());
    CHECK(cudaGraphDestroy(copy) == cudaSuccess);
}
