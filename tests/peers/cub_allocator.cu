// SPDX-License-Identifier: MIT
// CUB's caching allocator on the temporary arrays of lesson 33.
#include <cub/util_allocator.cuh>

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

class Cub {
public:
    void* allocate(size_t bytes, cudaStream_t stream) {
        void* block = nullptr;
        CUDA_CHECK(cache_.DeviceAllocate(&block, bytes, stream));
        return block;
    }
    void deallocate(void* block, cudaStream_t) { CUDA_CHECK(cache_.DeviceFree(block)); }
    size_t used() const { return 0; }
    size_t total() const { return 0; }

private:
    cub::CachingDeviceAllocator cache_;
};

using Arrays = wb::Temporaries<Cub, fill>;
WORKLOAD(Arrays, "3000 temporary arrays in a loop", 1 << 16, 1003);

}  // namespace
