// SPDX-License-Identifier: MIT
// Masks that name exactly who is there.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// twin: warp-mask
__global__ void ballot_first(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int mask = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        int value = in[i];
        int first = __shfl_sync(mask, value, 0);
        out[i] = value - first + __popc(__match_any_sync(mask, value));
    }
}

__global__ void tree_of_16(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int step = 8; step > 0; step /= 2) value += __shfl_down_sync(0xffff, value, step);
        if (threadIdx.x == 0) out[0] = value;
    }
}

// twin: warp-mask
__global__ void groups(const int* in, int* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = in[threadIdx.x];
    for (int step = 4; step > 0; step /= 2) value += tile.shfl_xor(value, step);
    if (threadIdx.x % 3 == 0) {
        auto active = cg::coalesced_threads();
        value += active.shfl(value, 0) + int(active.size());
    }
    out[threadIdx.x] = value;
}

// twin: warp-mask
__global__ void halves(int* out) {
    int lane = threadIdx.x, value = lane;
    if (lane < 16) {
        value += __shfl_xor_sync(0x0000ffff, value, 1);
        __syncwarp(0x0000ffff);
    } else {
        value += __shfl_xor_sync(0xffff0000, value, 2);
        __syncwarp(0xffff0000);
    }
    out[lane] = value;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    ballot_first<<<1, 64>>>(in, out, 40);
    tree_of_16<<<1, 32>>>(in, out);
    groups<<<1, 64>>>(in, out);
    halves<<<1, 32>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
