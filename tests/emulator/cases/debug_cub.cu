// SPDX-License-Identifier: MIT
// Unoptimised: a functor of the user's inside CUB races; so does what CUB itself does.
// nvcc: -G --extended-lambda
#include <cub/block/block_reduce.cuh>

__device__ int most;

struct Worst {
    __device__ int operator()(int a, int b) const {
        if (a > b) most = a;  // expect: race-global
        return a > b ? a : b;
    }
};

__global__ void reduce(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage;
    int v = Reduce(storage).Reduce(in[threadIdx.x], Worst{});
    int w = Reduce(storage).Sum(in[threadIdx.x]);  // expect: race-shared
    if (threadIdx.x == 0) out[0] = v + w;
}

int main() {
    int host[64], *in, *out;
    for (int i = 0; i < 64; ++i) host[i] = i * 37 % 64;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reduce<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
