// SPDX-License-Identifier: MIT
// Stream capture, graphs built node by node, memory pools and occupancy: exits with 1 and the line
// at the first thing that is not as documented.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t err_ = (x);                                                                    \
        if (err_ != cudaSuccess) {                                                                 \
            std::printf("%d: %s -> %s\n", __LINE__, #x, cudaGetErrorName(err_));                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
#define EXPECT(x)                                                                                  \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            std::printf("%d: failed: %s\n", __LINE__, #x);                                         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
__global__ void add(int* p, int v) {
    p[threadIdx.x] += v;
}
__global__ void mul(int* p, int v) {
    p[threadIdx.x] *= v;
}
__global__ void sum2(const int* a, const int* b, int* c) {
    int i = threadIdx.x;
    c[i] = a[i] + b[i];
}
static int calls = 0;
static void CUDART_CB host(void* data) {
    *static_cast<int*>(data) += 1;
}

void capture() {
    int *a, *b, *c;
    const int n = 32, bytes = n * 4;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    cudaStream_t s, t;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    std::vector<int> h(n, -1);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(a, 0, bytes, s));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(t, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    add<<<1, n, 0, s>>>(a, 2);
    CHECK(cudaMemsetAsync(b, 0, bytes, t));
    add<<<1, n, 0, t>>>(b, 3);
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join, 0));
    sum2<<<1, n, 0, s>>>(a, b, c);
    CHECK(cudaMemcpyAsync(h.data(), c, bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, host, &calls));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(s, &graph));
    EXPECT(h[0] == -1 && calls == 0);
    CHECK(cudaStreamIsCapturing(t, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 7);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(h[0] == 5 && h[31] == 5 && calls == 3);
    // A wait for a stream that captures is refused, and the capture has failed.
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
    // So is memory that is allocated at once, unless the capture or the thread permits it, and a
    // copy for which the host waits.
    int* more = nullptr;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMalloc(&more, 4) == cudaErrorStreamCaptureUnsupported && !more);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMemcpy(a, h.data(), 4, cudaMemcpyHostToDevice) == cudaErrorStreamCaptureImplicit);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&more, 4));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(more));
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMalloc(&more, 4));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(more));
    (void)cudaGetLastError();
    // The parameters of a captured kernel, also in a clone; a copy with another argument.
    CHECK(cudaMemset(a, 0, bytes));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, s>>>(a, 2);
    CHECK(cudaStreamEndCapture(s, &graph));
    cudaGraph_t clone;
    cudaGraphExec_t changed;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphInstantiate(&changed, graph, 0));
    for (cudaGraph_t one : {graph, clone}) {
        cudaGraphNode_t node;
        count = 1;
        CHECK(cudaGraphGetNodes(one, &node, &count));
        cudaKernelNodeParams given{};
        CHECK(cudaGraphKernelNodeGetParams(node, &given));
        EXPECT(given.gridDim.x == 1 && given.blockDim.x == unsigned(n));
        EXPECT(*(int**)given.kernelParams[0] == a && *(int*)given.kernelParams[1] == 2);
        if (one == clone) break;
        int other = 40;
        void* arguments[] = {given.kernelParams[0], &other};
        given.kernelParams = arguments;
        CHECK(cudaGraphExecKernelNodeSetParams(changed, node, &given));
    }
    CHECK(cudaGraphLaunch(changed, s));
    CHECK(cudaMemcpy(h.data(), a, bytes, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 40 && h[31] == 40);
    CHECK(cudaGraphExecDestroy(changed));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamSynchronize(s));
    // unjoined
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork, 0));
    add<<<1, n, 0, t>>>(a, 2);
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined && graph == nullptr);
    (void)cudaGetLastError();
    // update
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, s>>>(a, 2);
    CHECK(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t e2;
    CHECK(cudaGraphInstantiate(&e2, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, s>>>(a, 100);
    CHECK(cudaStreamEndCapture(s, &graph));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(e2, graph, &info));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaMemset(a, 0, bytes));
    CHECK(cudaGraphLaunch(e2, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(h.data(), a, bytes, cudaMemcpyDeviceToHost));
    EXPECT(h[5] == 100);
    CHECK(cudaGraphExecDestroy(e2));
    EXPECT(cudaGraphLaunch(e2, s) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}
void explicit_nodes() {
    int* a;
    const int n = 32, bytes = n * 4;
    CHECK(cudaMalloc(&a, bytes));
    std::vector<int> in(n, 7), out(n);
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t copy, k, m, back;
    CHECK(cudaGraphAddMemcpyNode1D(
        &copy, g, nullptr, 0, a, in.data(), bytes, cudaMemcpyHostToDevice));
    int v = 3;
    void* args[] = {&a, &v};
    cudaKernelNodeParams p{};
    p.func = (void*)mul;
    p.gridDim = 1;
    p.blockDim = n;
    p.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&k, g, &copy, 1, &p));
    v = 1000;
    cudaMemcpy3DParms mp{};
    mp.srcPtr = make_cudaPitchedPtr(a, bytes, n, 1);
    mp.dstPtr = make_cudaPitchedPtr(out.data(), bytes, n, 1);
    mp.extent = make_cudaExtent(bytes, 1, 1);
    mp.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&back, g, &k, 1, &mp));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(k, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
    cudaGraphNode_t deps[4];
    size_t nd = 4;
    CHECK(cudaGraphNodeGetDependencies(k, deps, nullptr, &nd));
    EXPECT(nd == 1 && deps[0] == copy);
    cudaGraph_t parent;
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphAddChildGraphNode(&m, parent, nullptr, 0, g));
    cudaGraphExec_t e;
    CHECK(cudaGraphInstantiate(&e, g, 0));
    CHECK(cudaGraphLaunch(e, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[3] == 21);
    v = 5;
    CHECK(cudaGraphExecKernelNodeSetParams(e, k, &p));
    CHECK(cudaGraphLaunch(e, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[3] == 35);
    cudaKernelNodeParams q{};
    CHECK(cudaGraphKernelNodeGetParams(k, &q));
    EXPECT(*(int*)q.kernelParams[1] == 3 && q.blockDim.x == 32);
    cudaGraphExec_t pe;
    CHECK(cudaGraphInstantiate(&pe, parent, 0));
    CHECK(cudaGraphLaunch(pe, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[3] == 21);
    CHECK(cudaGraphNodeSetEnabled(e, k, 0));
    CHECK(cudaGraphLaunch(e, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[3] == 7);
    cudaGraphNode_t from = k, to = copy;
    CHECK(cudaGraphAddDependencies(g, &from, &to, nullptr, 1));
    CHECK(cudaGraphDebugDotPrint(g, "/dev/null", 0));
    cudaGraphExec_t none;
    EXPECT(cudaGraphInstantiate(&none, g, 0) == cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphExecDestroy(pe));
    CHECK(cudaGraphDestroy(parent));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaFree(a));
}
void generic_nodes() {
    int* a;
    const int n = 32;
    CHECK(cudaMalloc(&a, n * 4));
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphNodeParams fill{};
    fill.type = cudaGraphNodeTypeMemset;
    fill.memset = {a, 0, 0x01010101, 4, n, 1};
    cudaGraphNode_t first, second;
    CHECK(cudaGraphAddNode(&first, g, nullptr, nullptr, 0, &fill));
    int v = 2;
    void* args[] = {&a, &v};
    cudaGraphNodeParams launch{};
    launch.type = cudaGraphNodeTypeKernel;
    launch.kernel.func = (void*)mul;
    launch.kernel.gridDim = 1;
    launch.kernel.blockDim = n;
    launch.kernel.kernelParams = args;
    CHECK(cudaGraphAddNode(&second, g, &first, nullptr, 1, &launch));
    cudaGraphExec_t e;
    CHECK(cudaGraphInstantiate(&e, g, 0));
    CHECK(cudaGraphLaunch(e, 0));
    int h = 0;
    CHECK(cudaMemcpy(&h, a + 31, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 0x02020202);
    v = 3;
    CHECK(cudaGraphExecNodeSetParams(e, second, &launch));
    CHECK(cudaGraphLaunch(e, 0));
    CHECK(cudaMemcpy(&h, a + 31, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 0x03030303);
    CHECK(cudaGraphExecDestroy(e));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaFree(a));
}
void pools() {
    cudaMemPool_t d, mine;
    CHECK(cudaDeviceGetDefaultMemPool(&d, 0));
    uint64_t big = ~0ull;
    CHECK(cudaMemPoolSetAttribute(d, cudaMemPoolAttrReleaseThreshold, &big));
    uint64_t got = 0;
    CHECK(cudaMemPoolGetAttribute(d, cudaMemPoolAttrReleaseThreshold, &got));
    EXPECT(got == big);
    cudaMemPoolProps pp{};
    pp.allocType = cudaMemAllocationTypePinned;
    pp.location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolCreate(&mine, &pp));
    int* p;
    CHECK(cudaMallocFromPoolAsync(&p, 128, mine, 0));
    CHECK(cudaMemsetAsync(p, 0, 128, 0));
    add<<<1, 1>>>(p, 0);
    CHECK(cudaFreeAsync(p, 0));
    CHECK(cudaMemPoolDestroy(mine));
    EXPECT(cudaMemPoolDestroy(d) != cudaSuccess);
    (void)cudaGetLastError();
}
void occupancy() {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    EXPECT(blocks == 4);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 64, 16384));
    EXPECT(blocks == 4);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
    EXPECT(blocks == 16);
    int grid, block;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
    EXPECT(block == 1024 && grid == 40);
    size_t dyn;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dyn, add, 2, 128));
    EXPECT(dyn == 32768);
}
int main() {
    capture();
    explicit_nodes();
    generic_nodes();
    pools();
    occupancy();
    std::puts("ok");
}
