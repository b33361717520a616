// SPDX-License-Identifier: MIT
// The range of addresses that device memory has, reserved so that the host cannot touch it.
#pragma once

#include <cstdint>

namespace machine {

uint64_t page_bytes();  // of the system

// Regions of slots of three sizes, one after the other (memory.cpp).
struct AddressSpace {
    uint64_t base = 0;
    uint64_t wide = 0, narrow = 0, fine = 0;  // bytes
    // The whole range is ours and untouchable; else it is only unlikely to be in use.
    bool reserved = false;
};

AddressSpace reserve_address_space();

}  // namespace machine
