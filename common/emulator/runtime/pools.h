// SPDX-License-Identifier: MIT
// Memory pools: which allocation came from which pool, and how much each pool uses and holds.
#pragma once

#include <map>

#include "runtime/api.h"

namespace runtime {

// Memory is taken from the host when it is asked for and given back when it is freed. What a pool
// holds beyond that is a number: the documentation's model of when a pool gives memory back.
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
    // Returns what is held beyond `keep` bytes and not in use.
    void trim(uint64_t keep);
};

// The current pool of a device, or the one behind a handle; null when there is no such pool.
Pool* current_pool(int device);
Pool* find_pool(cudaMemPool_t handle);
// Notes that an allocation came from a pool; Context::release takes it out again.
void add_to_pool(Pool& pool, machine::Allocation& allocation);
void remove_from_pool(const machine::Allocation& allocation);
bool is_from_pool(const machine::Allocation& allocation);
// A wait of the host: pools of the device release what they hold above their threshold.
void pools_synchronised(int device);

}  // namespace runtime
