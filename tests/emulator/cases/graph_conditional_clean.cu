// SPDX-License-Identifier: MIT
// Clean: nodes that run one of their graphs, or one again and again, as a kernel says: if with and
// without else, while with a default and inside a capture, switch, one inside another.
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t e = (call);                                                              \
        if (e) std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)), wrong = true;          \
    } while (0)

bool wrong = false;

__global__ void choose(const int* value, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, *value);
}
__global__ void add(int* sum, int n) {
    *sum += n;
}
__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
    if (--*left == 0) cudaGraphSetConditional(handle, 0);
}

void add_kernel(cudaGraph_t graph, const cudaGraphNode_t* needs, void* kernel, void** arguments,
                cudaGraphNode_t* node) {
    cudaGraphNodeParams given = {cudaGraphNodeTypeKernel};
    given.kernel.func = kernel;
    given.kernel.gridDim = given.kernel.blockDim = {1, 1, 1};
    given.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(node, graph, needs, nullptr, needs ? 1 : 0, &given));
}

cudaGraph_t* add_condition(cudaGraph_t graph, const cudaGraphNode_t* needs,
                           cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                           unsigned size, cudaGraphNode_t* node) {
    cudaGraphNodeParams given = {cudaGraphNodeTypeConditional};
    given.conditional.handle = handle;
    given.conditional.type = type;
    given.conditional.size = size;
    CHECK(cudaGraphAddNode(node, graph, needs, nullptr, needs ? 1 : 0, &given));
    return given.conditional.phGraph_out;
}

// `bodies` graphs, body i adds 10^i, chosen by `value`: the sum.
int chosen(cudaGraphConditionalNodeType type, unsigned bodies, int value) {
    int *sum, *wanted;
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    CHECK(cudaMallocManaged(&wanted, sizeof *wanted));
    *sum = 0;
    *wanted = value;
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
    cudaGraphNode_t first, node;
    void* arguments[] = {&wanted, &handle};
    add_kernel(graph, nullptr, (void*)choose, arguments, &first);
    cudaGraph_t* body = add_condition(graph, &first, handle, type, bodies, &node);
    int amount = 1;
    for (unsigned i = 0; i < bodies; ++i, amount *= 10) {
        void* of_body[] = {&sum, &amount};
        cudaGraphNode_t inner;
        add_kernel(body[i], nullptr, (void*)add, of_body, &inner);
    }
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    const int result = *sum;
    cudaGraph_t copy;
    wrong |= cudaGraphClone(&copy, graph) == cudaSuccess;
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(wanted));
    return result;
}

// A loop of `n` turns by default, in each an `if` that is always taken: the sum of ones.
int looped(int n) {
    int *sum, *left, *one;
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    CHECK(cudaMallocManaged(&left, sizeof *left));
    CHECK(cudaMallocManaged(&one, sizeof *one));
    *sum = 0;
    *one = 1;
    cudaGraph_t graph;
    cudaGraphConditionalHandle loop, inner;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node, inside;
    cudaGraph_t body = *add_condition(graph, nullptr, loop, cudaGraphCondTypeWhile, 1, &node);
    CHECK(cudaGraphConditionalHandleCreate(&inner, body, 1, cudaGraphCondAssignDefault));
    cudaGraph_t then = *add_condition(body, nullptr, inner, cudaGraphCondTypeIf, 1, &inside);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(
        stream, then, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(sum, 1);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    void* arguments[] = {&left, &loop};
    cudaGraphNode_t last;
    add_kernel(body, &inside, (void*)count_down, arguments, &last);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) {  // the default comes back
        *left = n;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    const int result = *sum;
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(left));
    CHECK(cudaFree(one));
    return result;
}

int main() {
    wrong |= chosen(cudaGraphCondTypeIf, 1, 0) != 0;
    wrong |= chosen(cudaGraphCondTypeIf, 1, 7) != 2;
    wrong |= chosen(cudaGraphCondTypeIf, 2, 1) != 2;
    wrong |= chosen(cudaGraphCondTypeIf, 2, 0) != 20;
    wrong |= chosen(cudaGraphCondTypeSwitch, 3, 2) != 200;
    wrong |= chosen(cudaGraphCondTypeSwitch, 3, 3) != 0;
    wrong |= looped(5) != 10;
    // A handle of another graph, a size that the kind does not have.
    cudaGraph_t graph, other;
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, other));
    cudaGraphNode_t node;
    cudaGraphNodeParams given = {cudaGraphNodeTypeConditional};
    given.conditional.handle = handle;
    given.conditional.type = cudaGraphCondTypeWhile;
    given.conditional.size = 1;
    wrong |= cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &given) != cudaErrorInvalidValue;
    given.conditional.size = 2;
    wrong |= cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &given) != cudaErrorInvalidValue;
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(other));
    return wrong ? 1 : 0;
}
