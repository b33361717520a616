// SPDX-License-Identifier: MIT
// Lesson 33, memory pools: an allocator asks for device memory once and hands it out many times.
// Start with README.md in this directory; `make 33` checks this file.
#include "memory_pools.h"

#include <map>
#include <stdexcept>

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
    // TODO 1 (about 3 lines): find the distance between the sizes near `bytes`: 256 up to 2048, and
    // twice as much for each further doubling. Round up to a multiple of it.
    //| return bytes;
    size_t step = kAlign;
    while (bytes > 8 * step) step *= 2;
    return (bytes + step - 1) / step * step;
    // END 1
}

// `stream` is the stream in which a cached block was returned, `returned` an event recorded there.
struct Block {
    void* data;
    size_t bytes;
    cudaStream_t stream;
    cudaEvent_t returned;
};

struct CachingAllocator::Parts {
    std::map<void*, Block> in_use;        // by address
    std::multimap<size_t, Block> cached;  // by size
    size_t used = 0, total = 0;
    void free_cached();
    Block new_block(size_t bytes);
};

CachingAllocator::CachingAllocator() : parts_(new Parts) {}
CachingAllocator::~CachingAllocator() {
    for (const auto& [address, block] : parts_->in_use) parts_->cached.emplace(block.bytes, block);
    for (const auto& [bytes, block] : parts_->cached) {
        cudaEventDestroy(block.returned);
        cudaFree(block.data);
    }
}
size_t CachingAllocator::used() const {
    return parts_->used;
}
size_t CachingAllocator::total() const {
    return parts_->total;
}
void CachingAllocator::free_all_blocks() {
    parts_->free_cached();
}

void CachingAllocator::deallocate([[maybe_unused]] void* data,
                                  [[maybe_unused]] cudaStream_t stream) {
    [[maybe_unused]] Parts& own = *parts_;
    // TODO 2 (about 9 lines): find the block in own.in_use; throw if it is not there. Record its
    // event in `stream`, and remember the stream. Move it to own.cached. Make the calls that may
    // fail first.
    const auto found = own.in_use.find(data);
    if (found == own.in_use.end()) throw std::invalid_argument("deallocate: no block in use");
    Block block = found->second;
    block.stream = stream;
    CUDA_CHECK(cudaEventRecord(block.returned, stream));
    own.cached.emplace(block.bytes, block);
    own.in_use.erase(found);
    own.used -= block.bytes;
    // END 2
}

void* CachingAllocator::allocate(size_t bytes, [[maybe_unused]] cudaStream_t stream) {
    Parts& own = *parts_;
    const size_t size = block_bytes(bytes);
    Block block{};
    // TODO 3 (about 13 lines): look for a cached block of this size, preferably one that was
    // returned in `stream`. If it was returned in another stream, let `stream` wait for its event.
    // Remove it from own.cached after the last call that can fail. If there is none, take a new
    // block.
    //| block = own.new_block(size);
    const auto [first, last] = own.cached.equal_range(size);
    auto best = first;
    for (auto one = first; one != last; ++one) {
        if (one->second.stream == stream) {
            best = one;
            break;
        }
    }
    if (first == last) {
        block = own.new_block(size);
    } else {
        block = best->second;
        if (block.stream != stream) CUDA_CHECK(cudaStreamWaitEvent(stream, block.returned, 0));
        own.cached.erase(best);
    }
    // END 3
    own.in_use.emplace(block.data, block);
    own.used += size;
    return block.data;
}

void CachingAllocator::Parts::free_cached() {
    // TODO 4 (about 6 lines): give back the event and the memory of each cached block, and update
    // `total`.
    while (!cached.empty()) {
        const Block block = cached.begin()->second;
        cached.erase(cached.begin());
        total -= block.bytes;
        CUDA_CHECK(cudaEventDestroy(block.returned));
        CUDA_CHECK(cudaFree(block.data));
    }
    // END 4
}

Block CachingAllocator::Parts::new_block(size_t bytes) {
    Block block{nullptr, bytes, nullptr, nullptr};
    // TODO 5 (about 11 lines): get memory, and an event without timing. If there is too little
    // memory, free the cached blocks and try once more. cudaGetLastError() clears an error that you
    // have dealt with. If the event cannot be made, free the memory.
    //| CUDA_CHECK(cudaEventCreateWithFlags(&block.returned, cudaEventDisableTiming));
    //| CUDA_CHECK(cudaMalloc(&block.data, bytes));
    cudaError_t error = cudaMalloc(&block.data, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // otherwise the next check of a launch finds it
        free_cached();
        error = cudaMalloc(&block.data, bytes);
    }
    if (error == cudaSuccess) {
        error = cudaEventCreateWithFlags(&block.returned, cudaEventDisableTiming);
        if (error != cudaSuccess) cudaFree(block.data);
    }
    if (error != cudaSuccess) cudaGetLastError();
    CUDA_CHECK(error);
    // END 5
    total += bytes;
    return block;
}

[[maybe_unused]] static size_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
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

// TODO 6 (about 25 lines): make a pool of your own with these props, and set two of its attributes:
// cudaMemPoolAttrReleaseThreshold, an unsigned long long, and cudaMemPoolReuseAllowOpportunistic,
// an int. Allocate from it, in the order of the stream. Ask it for its used and its reserved bytes
// (pool_bytes), and trim it. If the constructor fails, destroy the pool.
//| DriverPool::DriverPool(size_t, bool) {}
//| DriverPool::~DriverPool() = default;
//| void* DriverPool::allocate(size_t, cudaStream_t) {
//|     return nullptr;
//| }
//| void DriverPool::deallocate(void*, cudaStream_t) {}
//| size_t DriverPool::used() const {
//|     return 0;
//| }
//| size_t DriverPool::total() const {
//|     return 0;
//| }
//| void DriverPool::trim(size_t) {}
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
// END 6

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
    // TODO 7 (about 9 lines): in each round, launch the kernel, wait for the stream, and let the
    // host add 1. With `prefetch`, move the data to the current device and to the host in between.
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    for (int round = 0; round < rounds; ++round) {
        if (prefetch) move_to(device, data, n, stream);
        launch_double(data, n, stream);
        if (prefetch) move_to(cudaCpuDeviceId, data, n, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        host_add_one(data, n);
    }
    // END 7
}
