// SPDX-License-Identifier: MIT
// Memory pools: the pool of each allocation, and how much each pool uses and reserves.
#pragma once

#include <map>

#include "runtime/core/api.h"

namespace runtime {

// Memory is allocated from the host on request and returned when it is freed. What a pool reserves
// beyond that is only a number, after the documentation's model of when a pool releases memory.
struct Pool {
    int device = 0;
    bool is_default = false;
    uint64_t release_threshold = 0;
    uint64_t used = 0, reserved = 0, used_high = 0, reserved_high = 0;
    int reuse_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
    uint64_t max_bytes = 0;                    // 0: as much as the device has
    std::map<int, cudaMemAccessFlags> access;  // of the other devices

    void take(uint64_t bytes);
    void give_back(uint64_t bytes);
    // Releases what is reserved beyond `keep` bytes and not in use.
    void trim(uint64_t keep);
};

// The current pool of a device, or the pool of a handle; null if there is none.
Pool* current_pool(int device);
Pool* find_pool(cudaMemPool_t handle);
// Assigns an allocation to a pool; Context::release removes it.
void add_to_pool(Pool& pool, machine::Allocation& allocation);
void remove_from_pool(const machine::Allocation& allocation);
bool is_from_pool(const machine::Allocation& allocation);
// The host has waited: pools of the device release what they reserve above their threshold.
void pools_synchronised(int device);

}  // namespace runtime
