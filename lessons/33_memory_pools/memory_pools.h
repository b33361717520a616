// SPDX-License-Identifier: MIT
// Lesson 33, memory pools: what memory_pools.cu implements and the test calls.
//
// Sizes are in bytes, 1 to 2^40. A call that fails throws wb::CudaError. No object is used by two
// host threads at a time. Streams are of either kind, or the default stream (null), all of one
// device.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda_check.h"

// Sets n >= 1 floats in device memory to `value`, in `stream`. This function is given.
void launch_fill(float* d_data, size_t n, float value, cudaStream_t stream);

// Task 1: the size of the block that a request for `bytes` gets: the smallest of these sizes that
// is not smaller. Up to 2048, the multiples of 256. Above, four for each doubling, equally far
// apart: 2560, 3072, 3584, 4096, then 5120, 6144, 7168, 8192, then 10,240 and so on.
size_t block_bytes(size_t bytes);

// Keeps the blocks that it gets from cudaMalloc, and hands them out again.
//
// A block belongs to a stream from allocate() to deallocate(): work that is put into that stream in
// between may use it. Before a stream is destroyed, free_all_blocks() is called.
class CachingAllocator {
public:
    CachingAllocator();
    ~CachingAllocator();  // frees everything, also blocks in use
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    // Task 3: a block of block_bytes(bytes), for work that is put into `stream` from now on. The
    // address is a multiple of 256, and no block in use has any byte in common with it. It is, in
    // this order,
    //   1. a cached block of exactly this size that was returned in `stream`,
    //   2. a cached block of this size that was returned in another stream. What `stream` is given
    //      from now on waits on the device for the work that used the block; the host does not,
    //   3. a new one from cudaMalloc (task 5).
    // If it throws, no block is lost: used() is as before, and cached blocks are still cached,
    // unless there was too little memory.
    void* allocate(size_t bytes, cudaStream_t stream);

    // Task 2: returns a block in use, whose last work is in `stream`, be it that of allocate() or
    // another one. The work may still be running, and nothing waits. The block stays in the cache.
    // Throws std::invalid_argument if `block` is not the address of a block in use. If it throws,
    // nothing has changed.
    void deallocate(void* block, cudaStream_t stream);

    // Task 4: gives all cached blocks back with cudaFree. Blocks in use stay as they are.
    void free_all_blocks();

    // The sum of the sizes of all blocks in use, and of all that are in use or cached.
    size_t used() const;
    size_t total() const;

private:
    struct Parts;  // what it keeps is up to memory_pools.cu
    // Task 5, in Parts: a new block of this size by cudaMalloc. If there is too little memory, all
    // cached blocks are freed and cudaMalloc is called a second time. If that fails too, throws
    // wb::CudaError with the code cudaErrorMemoryAllocation. No other error is retried. However it
    // ends, cudaGetLastError() does not find an error that it has dealt with or thrown, and no
    // memory is lost.
    std::unique_ptr<Parts> parts_;
};

// Task 6: the driver's own allocator, with a pool of the current device that nothing else uses.
class DriverPool {
public:
    // When the host waits, the pool keeps up to `keep` bytes that are not in use. Whether a block
    // of another stream may be reused because its work happens to be done already: reuse_by_chance.
    DriverPool(size_t keep, bool reuse_by_chance);
    ~DriverPool();  // all blocks have been returned
    DriverPool(const DriverPool&) = delete;
    DriverPool& operator=(const DriverPool&) = delete;

    // In the order of `stream`; the host does not wait.
    void* allocate(size_t bytes, cudaStream_t stream);
    void deallocate(void* block, cudaStream_t stream);

    // What of it is in use, and what it has from the device.
    size_t used() const;
    size_t total() const;

    // Gives back to the device what is not in use, but for `keep` bytes.
    void trim(size_t keep);

    cudaMemPool_t pool() const { return pool_; }

private:
    cudaMemPool_t pool_ = nullptr;
};

// A round: the device doubles n >= 1 floats at `data`, then the host adds 1 to each. These three
// functions are given. The third makes rounds with copies to d_data and back: `data` is pinned
// there, and it returns when all is done.
void launch_double(float* data, size_t n, cudaStream_t stream);
void host_add_one(float* data, size_t n);
void rounds_by_copies(float* data, float* d_data, size_t n, int rounds, cudaStream_t stream);

// Task 7: makes `rounds` >= 0 rounds with `data` in managed memory, which no other work uses. The
// device works in `stream`, and the host waits for no other. If `prefetch` is set, each round moves
// the data to the device before the kernel, and to the host before the host needs it. Returns when
// all is done.
void rounds_managed(float* data, size_t n, int rounds, bool prefetch, cudaStream_t stream);
