// SPDX-License-Identifier: MIT
// The fields of EmulatorCounters by name, for sums and for JSON.
#pragma once

#include <array>
#include <cstdint>

#include "emulator_api.h"

namespace checks {

struct CounterField {
    const char* name;
    uint64_t EmulatorCounters::*value;
};

#define FIELD(name)                                                                                \
    CounterField {                                                                                 \
#name, &EmulatorCounters::name                                                             \
    }
constexpr std::array kCounterFields = {
    FIELD(launches),
    FIELD(blocks),
    FIELD(warps),
    FIELD(threads),
    FIELD(warp_instructions),
    FIELD(thread_instructions),
    FIELD(branches),
    FIELD(divergent_branches),
    FIELD(global_load_requests),
    FIELD(global_load_sectors),
    FIELD(global_load_bytes),
    FIELD(global_store_requests),
    FIELD(global_store_sectors),
    FIELD(global_store_bytes),
    FIELD(global_atomics),
    FIELD(global_atomic_requests),
    FIELD(shared_load_requests),
    FIELD(shared_load_wavefronts),
    FIELD(shared_load_conflicts),
    FIELD(shared_store_requests),
    FIELD(shared_store_wavefronts),
    FIELD(shared_store_conflicts),
    FIELD(shared_atomics),
    FIELD(shared_atomic_requests),
    FIELD(local_load_requests),
    FIELD(local_store_requests),
    FIELD(block_barriers),
    FIELD(warp_syncs),
    FIELD(host_to_device_bytes),
    FIELD(device_to_host_bytes),
    FIELD(device_to_device_bytes),
    FIELD(device_allocations),
    FIELD(device_frees),
};
#undef FIELD
// Every counter but `size` is in the table.
static_assert(sizeof(EmulatorCounters) == (kCounterFields.size() + 1) * sizeof(uint64_t));

inline void add_counters(EmulatorCounters& to, const EmulatorCounters& more) {
    for (const CounterField& field : kCounterFields) to.*field.value += more.*field.value;
}

}  // namespace checks
