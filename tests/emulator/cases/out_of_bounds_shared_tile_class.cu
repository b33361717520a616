// SPDX-License-Identifier: MIT
// A tile with a halo as a class member in shared memory, a struct of arrays, and an array of
// structs.
#include <cuda_runtime.h>

template <int kSize, int kHalo>
struct Tile {
    float cells[kSize + kHalo];
    __device__ void load(const float* in, int n, int first) {
        for (int i = threadIdx.x; i < kSize + 2 * kHalo; i += blockDim.x) {
            int at = first - kHalo + i;
            cells[i] = at >= 0 && at < n ? in[at] : 0.0f;  // expect: out-of-bounds-shared
        }
    }
    __device__ float sum(int at) const {
        float s = 0;
        // expect: out-of-bounds-shared
        for (int d = 0; d <= 2 * kHalo; ++d) s += cells[at + d];
        return s;
    }
};

__global__ void blur(const float* in, float* out, int n) {
    __shared__ Tile<64, 3> tile;
    tile.load(in, n, blockIdx.x * 64);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile.sum(threadIdx.x);
}

struct Bin {
    int count;
    float sum;
};

__global__ void bin(const float* in, Bin* out, int n) {
    __shared__ Bin bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = {};
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int b = int(in[i] * 8);
        atomicAdd(&bins[b].count, 1);  // expect: out-of-bounds-shared
        if (b < 8) atomicAdd(&bins[b].sum, in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    const int n = 256;
    float host[n], *in, *out;
    Bin* bins;
    for (int i = 0; i < n; ++i) host[i] = i / 255.0f;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&bins, 8 * sizeof(Bin));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    blur<<<4, 64>>>(in, out, n);
    bin<<<1, 64>>>(in, bins, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(bins);
}
