// SPDX-License-Identifier: MIT
// All of it is given back, each kind in its own way.
#include <vector>

#include <cuda_runtime.h>

__device__ int variable[100];

// twin: leak
struct Buffer {
    Buffer() { cudaMalloc(&data, 64); }
    ~Buffer() { cudaFree(data); }
    void* data = nullptr;
};

__global__ void kernel() {
    // twin: leak
    int* mine = static_cast<int*>(malloc(16));
    if (mine) mine[0] = 1;
    free(mine);
}

int main() {
    void *pinned, *managed, *asynchronous, *pitched;
    size_t pitch;
    cudaMallocHost(&pinned, 100);
    cudaMallocManaged(&managed, 200);
    // twin: leak
    cudaMallocAsync(&asynchronous, 300, 0);
    cudaMallocPitch(&pitched, &pitch, 100, 10);
    std::vector<Buffer> buffers(3);
    kernel<<<1, 32>>>();
    cudaFreeHost(pinned);
    cudaFree(managed);
    cudaFreeAsync(asynchronous, 0);
    cudaFree(pitched);
    return cudaDeviceSynchronize() != cudaSuccess;
}
