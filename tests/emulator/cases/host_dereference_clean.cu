// SPDX-License-Identifier: MIT
// Memory that the host may use: managed, pinned, and what was copied.
#include <vector>

#include <cuda_runtime.h>

// twin: host-dereference
__managed__ int total;

__global__ void add(const int* values, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(&total, values[i]);
}

int main() {
    int *managed, *pinned, *plain;
    cudaMallocManaged(&managed, 32 * sizeof(int));
    cudaMallocHost(&pinned, 32 * sizeof(int));
    cudaMalloc(&plain, 32 * sizeof(int));
    // twin: host-dereference
    for (int i = 0; i < 32; ++i) managed[i] = pinned[i] = i;
    cudaMemcpy(plain, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice);
    // twin: host-dereference
    std::vector<int> copy(32);
    cudaMemcpy(copy.data(), plain, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    add<<<1, 32>>>(managed, 32);
    add<<<1, 32>>>(pinned, 32);
    const cudaError_t error = cudaDeviceSynchronize();
    const bool right = total == 992 && copy[31] == 31;
    cudaFree(managed);
    cudaFreeHost(pinned);
    cudaFree(plain);
    return error == cudaSuccess && right ? 0 : 1;
}
