// SPDX-License-Identifier: MIT
// Lesson 33, memory pools: what memory_pools.cu implements and the test calls.
//
// Sizes are in bytes, 1 to 2^40. A call that fails throws wb::CudaError. Two host threads never use
// one object at the same time. Streams are blocking, non-blocking, or the default stream (null),
// and all belong to one device.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda_check.h"

// Sets n >= 1 floats in device memory to `value`, in `stream`. This function is given.
void launch_fill(float* d_data, size_t n, float value, cudaStream_t stream);

// Task 1: the size of the block that a request for `bytes` gets: the smallest of the following
// sizes that is at least `bytes`. Up to 2048, the sizes are the multiples of 256. Above, each
// doubling has four sizes, equally far apart: 2560, 3072, 3584, 4096, then 5120, 6144, 7168, 8192,
// then 10,240 and so on.
size_t block_bytes(size_t bytes);

// Keeps the blocks that cudaMalloc returns, and hands them out again.
//
// A block belongs to a stream from allocate() to deallocate(): work that is put into that stream in
// between may use it. The caller calls free_all_blocks() before it destroys a stream.
class CachingAllocator {
public:
    CachingAllocator();
    ~CachingAllocator();  // frees everything, also blocks in use
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    // Task 3: a block of block_bytes(bytes), for work that is put into `stream` from now on. The
    // address is a multiple of 256, and the block shares no byte with another block in use. The
    // first of these that exists is handed out:
    //   1. a cached block of exactly this size that was returned in `stream`,
    //   2. a cached block of this size that was returned in another stream. Later work in `stream`
    //      waits on the device for the work that used the block; the host does not wait,
    //   3. a new one from cudaMalloc (task 5).
    // If it throws, no block is lost: used() is as before, and cached blocks are still cached,
    // unless there was too little memory.
    void* allocate(size_t bytes, cudaStream_t stream);

    // Task 2: returns a block in use to the cache. The last work that uses it is in `stream`, which
    // may differ from the stream of allocate(). That work may still be running, and deallocate()
    // does not wait for it. Throws std::invalid_argument if `block` is not the address of a block
    // in use. If it throws, nothing has changed.
    void deallocate(void* block, cudaStream_t stream);

    // Task 4: gives all cached blocks back with cudaFree. Blocks in use stay as they are.
    void free_all_blocks();

    // used(): the sum of the sizes of all blocks in use. total(): of all blocks, in use or cached.
    size_t used() const;
    size_t total() const;

private:
    struct Parts;  // its members are defined in memory_pools.cu
    // Task 5, in Parts: a new block of this size by cudaMalloc. If there is too little memory, all
    // cached blocks are freed and cudaMalloc is called a second time. If that fails too, throws
    // wb::CudaError with the code cudaErrorMemoryAllocation. No other error is retried. In every
    // case, cudaGetLastError() afterwards does not find an error that was handled or thrown here,
    // and no memory is lost. An error of earlier calls stays for cudaGetLastError(), unless there
    // is too little memory.
    std::unique_ptr<Parts> parts_;
};

// Task 6: the driver's own allocator, with a pool of the current device that nothing else uses.
class DriverPool {
public:
    // When the host waits, the pool keeps up to `keep` unused bytes. reuse_by_chance says whether
    // the pool may reuse a block of another stream because that stream's work happens to be done.
    DriverPool(size_t keep, bool reuse_by_chance);
    ~DriverPool();  // the caller has returned all blocks
    DriverPool(const DriverPool&) = delete;
    DriverPool& operator=(const DriverPool&) = delete;

    // In the order of `stream`; the host does not wait.
    void* allocate(size_t bytes, cudaStream_t stream);
    void deallocate(void* block, cudaStream_t stream);

    // used(): the pool's bytes in use. total(): the bytes that the pool has from the device.
    size_t used() const;
    size_t total() const;

    // Gives unused memory back to the device, except for `keep` bytes.
    void trim(size_t keep);

    cudaMemPool_t pool() const { return pool_; }

private:
    cudaMemPool_t pool_ = nullptr;
};

// A round: the device doubles n >= 1 floats at `data`, then the host adds 1 to each. These three
// functions are given. rounds_by_copies() copies to d_data and back in each round: `data` is pinned
// memory there, and the function returns when all work is done.
void launch_double(float* data, size_t n, cudaStream_t stream);
void host_add_one(float* data, size_t n);
void rounds_by_copies(float* data, float* d_data, size_t n, int rounds, cudaStream_t stream);

// Task 7: makes `rounds` >= 0 rounds with `data` in managed memory, which no other work uses. The
// device works in `stream`, and the host waits for no other stream. If `prefetch` is set, each
// round moves the data to the device before the kernel, and to the host before the host needs it.
// Returns when all work is done.
void rounds_managed(float* data, size_t n, int rounds, bool prefetch, cudaStream_t stream);
