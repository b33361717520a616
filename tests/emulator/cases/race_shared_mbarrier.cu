// SPDX-License-Identifier: MIT
// nvcc: -arch=compute_80 -diag-suppress 20054
// A barrier object that is arrived at but not waited for, and one that is used before it exists.
#include <utility>

#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void forgets_to_wait(int* out) {
    __shared__ Barrier barrier;
    __shared__ int values[64];
    const int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    values[t] = t;
    auto token = barrier.arrive();
    out[t] = values[63 - t];  // expect: race-shared "while another thread may still be writing it"
    barrier.wait(std::move(token));
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    forgets_to_wait<<<1, 64>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(out);
    return error != cudaSuccess;
}
