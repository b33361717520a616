// SPDX-License-Identifier: MIT
// Clean: chunks of work taken with atomicAdd by blocks; results appended through a counter; warp-
// aggregated.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__device__ int next_chunk = 0;

__device__ int append(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int at = 0;
    if (active.thread_rank() == 0) at = atomicAdd(counter, int(active.size()));
    return active.shfl(at, 0) + active.thread_rank();
}

// twin: race-shared
__global__ void filter(const int* in, int* out, int* counter, int n) {
    __shared__ int chunk;
    while (true) {
        if (threadIdx.x == 0) chunk = atomicAdd(&next_chunk, 1);
        __syncthreads();
        int mine = chunk;
        __syncthreads();
        int i = mine * blockDim.x + threadIdx.x;
        if (mine * blockDim.x >= n) break;
        if (i < n && in[i] % 3 == 0) out[append(counter)] = in[i];
    }
}

// twin: warp-mask
__global__ void filter_warp(const int* in, int* out, int* counter, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] % 3 == 0;
    unsigned ballot = __ballot_sync(~0u, keep);
    int lane = threadIdx.x % 32, base = 0;
    if (lane == 0) base = atomicAdd(counter, __popc(ballot));
    base = __shfl_sync(~0u, base, 0);
    if (keep) out[base + __popc(ballot & ((1u << lane) - 1))] = in[i];
}

int main() {
    const int n = 2000;
    int host[n], *in, *out, *counter;
    for (int i = 0; i < n; ++i) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&counter, 2 * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(counter, 0, 2 * sizeof(int));
    filter<<<4, 128>>>(in, out, counter, n);
    filter_warp<<<16, 128>>>(in, out, counter + 1, n);
    int got[2];
    cudaMemcpy(got, counter, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    cudaFree(counter);
    std::printf("%d %d\n", got[0], got[1]);
    return got[0] == 667 && got[1] == 667 ? 0 : 1;
}
