// SPDX-License-Identifier: MIT
// CUB block reductions whose temporary storage is used again without a barrier, and with one.
#include <cub/block/block_reduce.cuh>

template <bool kSync>
__global__ void two_reductions(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage storage;
    int v = in[threadIdx.x];
    int sum = Reduce(storage).Sum(v);
    if (kSync) __syncthreads();
    int most = Reduce(storage).Reduce(v, cuda::maximum<>{});  // expect: race-shared
    if (threadIdx.x == 0) out[0] = sum, out[1] = most;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(in, 1, 256 * sizeof(int));
    // twin: race-shared
    two_reductions<true><<<1, 128>>>(in, out);
    two_reductions<false><<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
