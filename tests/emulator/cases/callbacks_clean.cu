// SPDX-License-Identifier: MIT
// Host functions in the order of a stream, events between two streams, and their queries.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

__global__ void fill(int* p, int v) {
    p[threadIdx.x] = v;
}
struct State {
    int* host;
    std::atomic<int> calls{0};
    int seen = 0;
};
static void CUDART_CB done(cudaStream_t, cudaError_t e, void* p) {
    State* s = (State*)p;
    if (e == cudaSuccess) ++s->calls;
    s->seen = s->host[31];
}
static void CUDART_CB fn(void* p) {
    State* s = (State*)p;
    ++s->calls;
    s->host[0] += 1;
}
int main() {
    int lo, hi;
    CHECK(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    cudaStream_t s, t;
    CHECK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, hi));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    int *d, *h;
    CHECK(cudaMalloc(&d, 128));
    CHECK(cudaMallocHost(&h, 128));
    State st{h};
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
    CHECK(cudaEventRecord(a, s));
    fill<<<1, 32, 0, s>>>(d, 42);
    CHECK(cudaMemcpyAsync(h, d, 128, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamAddCallback(s, done, &st, 0));
    CHECK(cudaLaunchHostFunc(s, fn, &st));
    CHECK(cudaEventRecord(b, s));
    CHECK(cudaStreamWaitEvent(t, b, 0));
    CHECK(cudaMemcpyAsync(d, h, 128, cudaMemcpyHostToDevice, t));
    CHECK(cudaMemcpyAsync(h, d, 128, cudaMemcpyDeviceToHost, t));
    while (cudaStreamQuery(t) == cudaErrorNotReady) {
    }
    CHECK(cudaStreamSynchronize(t));
    EXPECT(st.calls == 2 && st.seen == 42 && h[0] == 43 && h[1] == 42);
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventQuery(a));
    float ms;
    cudaEvent_t c;
    CHECK(cudaEventCreate(&c));
    CHECK(cudaEventRecord(c, s));
    CHECK(cudaEventSynchronize(c));
    CHECK(cudaEventElapsedTime(&ms, a, c));
    EXPECT(ms >= 0);
    int pr;
    CHECK(cudaStreamGetPriority(s, &pr));
    EXPECT(pr == hi);
    unsigned fl;
    CHECK(cudaStreamGetFlags(s, &fl));
    EXPECT(fl == cudaStreamNonBlocking);
    CHECK(cudaEventDestroy(a));
    CHECK(cudaEventDestroy(b));
    CHECK(cudaEventDestroy(c));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(t));
    CHECK(cudaFree(d));
    CHECK(cudaFreeHost(h));
    std::puts("ok");
}
