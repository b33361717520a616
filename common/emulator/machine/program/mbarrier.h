// SPDX-License-Identifier: MIT
// The 64-bit mbarrier object in shared memory (PTX ISA "Parallel Synchronization and Communication
// Instructions: mbarrier"). Its layout is opaque in PTX; here
//   bits 0-19 are the arrivals expected in each phase, 20-39 those pending in this one,
//   40-61 the bytes of asynchronous transactions still expected, plus 2^21; 63 the parity of the
//   phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace machine {

struct Mbarrier {
    uint32_t expected = 0, pending = 0;
    int32_t transactions = 0;
    bool parity = false;

    static constexpr uint32_t kMostArrivals = (1u << 20) - 1;
    static Mbarrier of(uint64_t bits) {
        return {uint32_t(bits) & kMostArrivals,
                uint32_t(bits >> 20) & kMostArrivals,
                int32_t(bits >> 40 & 0x3fffff) - (1 << 21),
                (bits >> 63) != 0};
    }
    uint64_t bits() const {
        return uint64_t(expected & kMostArrivals) | uint64_t(pending & kMostArrivals) << 20 |
               (uint64_t(transactions + (1 << 21)) & 0x3fffff) << 40 | uint64_t(parity) << 63;
    }
    // The phase ends when nothing is pending; the next one begins immediately.
    void settle() {
        if (pending != 0 || transactions != 0) return;
        parity = !parity;
        pending = expected;
    }
    void arrive(uint32_t count, bool drops) {
        pending -= count < pending ? count : pending;
        if (drops) expected -= count < expected ? count : expected;
        settle();
    }
};

// The parity of an object in memory.
inline bool mbarrier_parity(const std::byte* object) {
    uint64_t bits;
    std::memcpy(&bits, object, sizeof bits);
    return Mbarrier::of(bits).parity;
}

}  // namespace machine
