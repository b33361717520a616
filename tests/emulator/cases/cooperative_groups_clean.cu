// SPDX-License-Identifier: MIT
// Cooperative launches and groups: grid, tiles, coalesced threads, labelled and binary partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;
__global__ void sum(const int* in, int* partial, int* out, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ int warp_sums[32];
    int s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) s += in[i];
    s = cg::reduce(tile, s, cg::plus<int>());
    if (tile.thread_rank() == 0) warp_sums[tile.meta_group_rank()] = s;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        int v = tile.thread_rank() < tile.meta_group_size() ? warp_sums[tile.thread_rank()] : 0;
        v = cg::reduce(tile, v, cg::plus<int>());
        if (tile.thread_rank() == 0) partial[blockIdx.x] = v;
    }
    grid.sync();
    if (blockIdx.x == 0) {
        int v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
        int incl = cg::inclusive_scan(tile, v);
        if (tile.meta_group_rank() == 0 && tile.thread_rank() == 31) *out = incl;
    }
}
__global__ void coalesced(int* count, const int* keys) {
    if (keys[threadIdx.x] & 1) {
        auto g = cg::coalesced_threads();
        if (g.thread_rank() == 0) atomicAdd(count, int(g.size()));
        g.sync();
        auto l = cg::labeled_partition(g, keys[threadIdx.x] % 4);
        if (l.thread_rank() == 0) atomicAdd(count + 1, int(l.size()));
        auto b = cg::binary_partition(g, threadIdx.x < 32);
        if (b.thread_rank() == 0) atomicAdd(count + 2, 1);
    }
}
int main() {
    int coop = 0, sms, per;
    CHECK(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(coop);
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, sum, 128, 0));
    int blocks = sms * per < 24 ? sms * per : 24, n = 100000;
    std::vector<int> h(n);
    long want = 0;
    for (int i = 0; i < n; ++i) want += h[i] = i % 7;
    int *d, *p, *o;
    CHECK(cudaMalloc(&d, n * 4));
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMalloc(&o, 64));
    CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(o, 0, 64));
    void* args[] = {&d, &p, &o, &n};
    CHECK(cudaLaunchCooperativeKernel(sum, blocks, 128, args, 0, nullptr));
    int r;
    CHECK(cudaMemcpy(&r, o, 4, cudaMemcpyDeviceToHost));
    EXPECT(r == want);
    CHECK(cudaMemset(o, 0, 64));
    for (int i = 0; i < 64; ++i) h[i] = i;
    CHECK(cudaMemcpy(d, h.data(), 256, cudaMemcpyHostToDevice));
    coalesced<<<1, 64>>>(o, d);
    int c[3];
    CHECK(cudaMemcpy(c, o, 12, cudaMemcpyDeviceToHost));
    EXPECT(c[0] == 32 && c[1] == 32 && c[2] == 2);
    CHECK(cudaFree(d));
    CHECK(cudaFree(p));
    CHECK(cudaFree(o));
    std::puts("ok");
}
