// SPDX-License-Identifier: MIT
// cudaMalloc and cudaFree for each temporary array: what the allocators of lesson 33 avoid.
#include "common/harness/workloads/temporaries.h"

namespace {

__global__ void fill_kernel(float* data, size_t n, float value) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}
void fill(float* d_data, size_t n, float value, cudaStream_t stream) {
    fill_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(d_data, n, value);
    CUDA_CHECK(cudaGetLastError());
}

class Driver {
public:
    void* allocate(size_t bytes, cudaStream_t) {
        void* block = nullptr;
        CUDA_CHECK(cudaMalloc(&block, bytes));
        return block;
    }
    void deallocate(void* block, cudaStream_t) { CUDA_CHECK(cudaFree(block)); }
    size_t used() const { return 0; }
    size_t total() const { return 0; }
};

using Arrays = wb::Temporaries<Driver, fill>;
WORKLOAD(Arrays, "3000 temporary arrays in a loop", 1 << 16, 1003);

}  // namespace
