// SPDX-License-Identifier: MIT
// Warp functions in loops that lanes leave one by one, in a tail, in a helper.
#include <cuda_runtime.h>

__global__ void tail(const int* in, int* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned positive = __ballot_sync(0xffffffff, in[i] > 0);  // expect: warp-mask
        if (threadIdx.x % 32 == 0) out[i / 32] = __popc(positive);
    }
}

// twin: warp-mask
__global__ void tail_right(const int* in, int* out, int n) {
    for (int first = 0; first < n; first += blockDim.x) {
        int i = first + threadIdx.x;
        unsigned positive = __ballot_sync(0xffffffff, i < n && in[i] > 0);
        if (threadIdx.x % 32 == 0 && i < n) out[i / 32] = __popc(positive);
    }
}

template <typename T, int kWidth>
__device__ T reduce(T v) {
    // expect: warp-mask
    for (int d = kWidth / 2; d; d /= 2) v += __shfl_xor_sync((1ull << kWidth) - 1, v, d);
    return v;
}

__global__ void half_warps(const float* in, float* out) {
    float v = in[threadIdx.x];
    v = reduce<float, 16>(v);  // the upper half names the lower half's lanes
    out[threadIdx.x] = v;
}

// twin: warp-mask
__global__ void masks_right(const float* in, float* out) {
    float v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        v = __shfl_xor_sync(0xffff, v, 8);
    } else {
        v = __shfl_xor_sync(0xffff0000, v, 8);
    }
    unsigned group = __match_any_sync(0xffffffff, threadIdx.x % 3);
    v += __shfl_sync(group, v, __ffs(group) - 1);
    out[threadIdx.x] = v;
}

// twin: warp-mask
__global__ void by_match(const int* keys, int* out) {
    int key = keys[threadIdx.x];
    if (key == 0) return;
    unsigned group = __match_any_sync(__activemask(), key);
    __syncwarp(group);
    out[threadIdx.x] = __popc(group);
}

__global__ void early(const int* keys, int* out, int n) {
    if (threadIdx.x >= n) return;
    __syncwarp();                                                  // expect: warp-mask
    out[threadIdx.x] = __any_sync(0xffffffff, keys[threadIdx.x]);  // expect: warp-mask
}

int main() {
    int host[100], *in, *out;
    float* f;
    for (int i = 0; i < 100; ++i) host[i] = i % 3;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&f, 64 * sizeof(float));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(f, 0, 64 * sizeof(float));
    tail_right<<<1, 64>>>(in, out, 90);
    masks_right<<<1, 32>>>(f, f + 32);
    by_match<<<1, 32>>>(in, out);
    tail<<<1, 64>>>(in, out, 90);
    half_warps<<<1, 32>>>(f, f + 32);
    early<<<1, 32>>>(in, out, 20);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(f);
}
