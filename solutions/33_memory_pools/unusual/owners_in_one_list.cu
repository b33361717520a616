// Unusual: All blocks are in one list and own their memory and event; nothing else is counted.
// SPDX-License-Identifier: MIT
// Lesson 33, memory pools: an allocator asks for device memory once and hands it out many times.
// Start with README.md in this directory; `make 33` checks this file.
#include "memory_pools.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

static constexpr int kBlock = 256;
[[maybe_unused]] static constexpr size_t kAlign = 256;

__global__ void fill_kernel(float* data, size_t n, float value) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}

void launch_fill(float* d_data, size_t n, float value, cudaStream_t stream) {
    fill_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_data, n, value);
    CUDA_CHECK(cudaGetLastError());
}

size_t block_bytes(size_t bytes) {
    size_t step = kAlign;
    while (bytes > 8 * step) step *= 2;
    return (bytes + step - 1) / step * step;
}

struct FreeMemory {
    void operator()(void* data) const { cudaFree(data); }
};
struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
struct Block {
    std::unique_ptr<void, FreeMemory> data;
    std::unique_ptr<CUevent_st, DestroyEvent> returned;
    size_t bytes = 0;
    cudaStream_t stream = nullptr;
    bool in_use = false;
};

// All blocks in one list.
struct CachingAllocator::Parts {
    std::vector<Block> blocks;
    Block& new_block(size_t bytes);
    void free_cached() {
        const auto free = [](const Block& block) { return !block.in_use; };
        blocks.erase(std::remove_if(blocks.begin(), blocks.end(), free), blocks.end());
    }
    size_t sum(bool only_in_use) const {
        size_t bytes = 0;
        for (const Block& block : blocks)
            if (block.in_use || !only_in_use) bytes += block.bytes;
        return bytes;
    }
};

CachingAllocator::CachingAllocator() : parts_(new Parts) {}
CachingAllocator::~CachingAllocator() = default;
size_t CachingAllocator::used() const {
    return parts_->sum(true);
}
size_t CachingAllocator::total() const {
    return parts_->sum(false);
}
void CachingAllocator::free_all_blocks() {
    parts_->free_cached();
}

void CachingAllocator::deallocate(void* data, cudaStream_t stream) {
    for (Block& block : parts_->blocks) {
        if (block.data.get() != data || !block.in_use) continue;
        CUDA_CHECK(cudaEventRecord(block.returned.get(), stream));
        block.stream = stream;
        block.in_use = false;
        return;
    }
    throw std::invalid_argument("this is no block in use");
}

void* CachingAllocator::allocate(size_t bytes, cudaStream_t stream) {
    const size_t size = block_bytes(bytes);
    Block* best = nullptr;
    for (Block& block : parts_->blocks) {
        if (block.in_use || block.bytes != size) continue;
        if (!best || block.stream == stream) best = &block;
    }
    if (!best)
        best = &parts_->new_block(size);
    else if (best->stream != stream)
        CUDA_CHECK(cudaStreamWaitEvent(stream, best->returned.get(), 0));
    best->in_use = true;
    return best->data.get();
}

Block& CachingAllocator::Parts::new_block(size_t bytes) {
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    Block made;
    made.returned.reset(event);
    made.bytes = bytes;
    void* memory = nullptr;
    cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        free_cached();
        cudaGetLastError();
        status = cudaMalloc(&memory, bytes);
    }
    if (status != cudaSuccess) cudaGetLastError();
    CUDA_CHECK(status);
    made.data.reset(memory);
    blocks.push_back(std::move(made));
    return blocks.back();
}

static size_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long bytes = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, attribute, &bytes));
    return bytes;
}

[[maybe_unused]] static cudaMemPoolProps plain_pool_of_this_device() {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CUDA_CHECK(cudaGetDevice(&props.location.id));
    return props;
}

DriverPool::DriverPool(size_t keep, bool reuse_by_chance) {
    const cudaMemPoolProps props = plain_pool_of_this_device();
    CUDA_CHECK(cudaMemPoolCreate(&pool_, &props));
    unsigned long long threshold = keep;
    int by_chance = reuse_by_chance;
    try {
        CUDA_CHECK(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold));
        CUDA_CHECK(cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowOpportunistic, &by_chance));
    } catch (...) {
        cudaMemPoolDestroy(pool_);  // no destructor runs for an object that was not completed
        throw;
    }
}
DriverPool::~DriverPool() {
    cudaMemPoolDestroy(pool_);
}
void* DriverPool::allocate(size_t bytes, cudaStream_t stream) {
    void* block = nullptr;
    CUDA_CHECK(cudaMallocFromPoolAsync(&block, bytes, pool_, stream));
    return block;
}
void DriverPool::deallocate(void* block, cudaStream_t stream) {
    CUDA_CHECK(cudaFreeAsync(block, stream));
}
size_t DriverPool::used() const {
    return pool_bytes(pool_, cudaMemPoolAttrUsedMemCurrent);
}
size_t DriverPool::total() const {
    return pool_bytes(pool_, cudaMemPoolAttrReservedMemCurrent);
}
void DriverPool::trim(size_t keep) {
    CUDA_CHECK(cudaMemPoolTrimTo(pool_, keep));
}

__global__ void double_kernel(float* data, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}

void launch_double(float* data, size_t n, cudaStream_t stream) {
    double_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(data, n);
    CUDA_CHECK(cudaGetLastError());
}

void host_add_one(float* data, size_t n) {
    for (size_t i = 0; i < n; ++i) data[i] += 1;
}

void rounds_by_copies(float* data, float* d_data, size_t n, int rounds, cudaStream_t stream) {
    const size_t bytes = n * sizeof(float);
    for (int round = 0; round < rounds; ++round) {
        CUDA_CHECK(cudaMemcpyAsync(d_data, data, bytes, cudaMemcpyHostToDevice, stream));
        launch_double(d_data, n, stream);
        CUDA_CHECK(cudaMemcpyAsync(data, d_data, bytes, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        host_add_one(data, n);
    }
}

// Moves n floats of managed memory to a device, or to the host (cudaCpuDeviceId), in `stream`.
[[maybe_unused]] static void move_to(int device, float* data, size_t n, cudaStream_t stream) {
    const size_t bytes = n * sizeof(float);
#if CUDART_VERSION >= 13000
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation place{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                host ? 0 : device};
    CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, place, 0, stream));
#else
    CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, device, stream));
#endif
}

void rounds_managed([[maybe_unused]] float* data, [[maybe_unused]] size_t n,
                    [[maybe_unused]] int rounds, [[maybe_unused]] bool prefetch,
                    [[maybe_unused]] cudaStream_t stream) {
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    for (int round = 0; round < rounds; ++round) {
        if (prefetch) move_to(device, data, n, stream);
        launch_double(data, n, stream);
        if (prefetch) move_to(cudaCpuDeviceId, data, n, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        host_add_one(data, n);
    }
}
