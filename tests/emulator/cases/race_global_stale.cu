// SPDX-License-Identifier: MIT
// A plain load beside an atomic that would not mind an older value is a warning; any other is an
// error.
// also: -G
#include <cuda_runtime.h>

__global__ void search(const int* next, int* distance, int level) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (distance[u] == level)
        atomicCAS(&distance[next[u]], -1, level + 1);  // expect: warning race-global "atomically"
}

__global__ void relax(const int* next, int* cost) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = cost[u];
    atomicMin(&cost[next[u]], mine + 1);  // expect: warning race-global
}

__global__ void counted(int* counter, int* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(counter, 1);
    out[t] = *counter;  // expect: error race-global
}

__global__ void half(int* mask, int* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicOr(mask, 1 << (t & 31));
    out[t] = reinterpret_cast<short*>(mask)[t & 1];  // expect: error race-global
}

__global__ void cleared(int* slot, int* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = atomicMax(slot, t);
    if (t == 200) *slot = 0;  // expect: error race-global
}

// A compare-and-swap that finds something else is a load: all that anybody reads here has been
// reached before, and nobody reaches it again.
// twin: race-global
__global__ void next_level(const int* next, int* distance, int level, int* reached) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u % 2 != 0) return;
    if (atomicCAS(&distance[next[u]], -1, distance[u] + 1) == -1) atomicAdd(reached, 1);
    if (atomicCAS(&distance[u], -1, level) == -1) atomicAdd(reached, 1);
}

int main() {
    const int n = 256;
    int host[n], distance[n], *next, *data, *out;
    for (int i = 0; i < n; ++i) host[i] = (i * 7 + 130) % n;
    for (int i = 0; i < n; ++i) distance[i] = i < n / 2 ? 0 : -1;
    cudaMalloc(&next, sizeof host);
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(data, distance, sizeof host, cudaMemcpyHostToDevice);
    search<<<8, 32>>>(next, data, 0);
    cudaMemset(data, 0, sizeof host);
    next_level<<<8, 32>>>(next, data, 0, out);
    relax<<<8, 32>>>(next, data);
    counted<<<8, 32>>>(data, out);
    half<<<8, 32>>>(data, out);
    cleared<<<8, 32>>>(data, out);
    cudaDeviceSynchronize();
    cudaFree(next);
    cudaFree(data);
    cudaFree(out);
}
