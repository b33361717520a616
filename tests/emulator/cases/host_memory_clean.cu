// SPDX-License-Identifier: MIT
// Managed, mapped and registered memory that kernels use in place.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

__global__ void inc(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}
struct Node {
    int v;
    Node* next;
};
__global__ void walk(Node* n, int* out) {
    int s = 0;
    while (n) {
        s += n->v;
        n = n->next;
    }
    *out = s;
}
int main() {
    const int n = 5000;
    int* m;
    CHECK(cudaMallocManaged(&m, n * 4));
    for (int i = 0; i < n; ++i) m[i] = i;
    cudaMemLocation dev{cudaMemLocationTypeDevice, 0}, cpu{cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(m, n * 4, cudaMemAdviseSetPreferredLocation, dev));
    CHECK(cudaMemPrefetchAsync(m, n * 4, dev, 0, nullptr));
    inc<<<20, 256>>>(m, n);
    CHECK(cudaMemPrefetchAsync(m, n * 4, cpu, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(m[i] == i + 1);
    int *h, *d;
    CHECK(cudaHostAlloc(&h, n * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    std::memset(h, 0, n * 4);
    CHECK(cudaHostGetDevicePointer(&d, h, 0));
    inc<<<20, 256>>>(d, n);
    CHECK(cudaStreamSynchronize(nullptr));
    for (int i = 0; i < n; ++i) EXPECT(h[i] == 1);
    std::vector<int> v(n, 7);
    CHECK(cudaHostRegister(v.data(), n * 4, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&d, v.data(), 0));
    inc<<<20, 256>>>(d, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(v[n - 1] == 8);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, v.data()));
    EXPECT(a.type == cudaMemoryTypeHost);
    CHECK(cudaHostUnregister(v.data()));
    CHECK(cudaPointerGetAttributes(&a, v.data()));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    CHECK(cudaPointerGetAttributes(&a, m));
    EXPECT(a.type == cudaMemoryTypeManaged);
    Node* nodes;
    CHECK(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
    for (int i = 0; i < 10; ++i) nodes[i] = {i, i < 9 ? nodes + i + 1 : nullptr};
    walk<<<1, 1>>>(nodes, m);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*m == 45);
    size_t f, t;
    CHECK(cudaMemGetInfo(&f, &t));
    EXPECT(f <= t);
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(m));
    CHECK(cudaFreeHost(h));
    std::puts("ok");
}
