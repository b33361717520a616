// SPDX-License-Identifier: MIT
// The addresses of one access of a warp. Compiled once per processor level, with access.cpp, in an
// unnamed namespace: see arith_core.h.
#pragma once

#include "machine/arith_core.h"
#include "machine/instr.h"

namespace machine::ARITH_NS {
namespace {

struct Addresses {
    alignas(64) uint64_t at[kWarpSize];
    uint64_t first = 0;          // of the lowest active lane
    uint64_t any = 0;            // every bit that the address of an active lane has set
    uint64_t low = 0, high = 0;  // least and greatest of the active lanes
    bool contiguous = false;
    bool complete = true;  // false: contiguous, and only at[0] has been written so far
    void all_at(uint64_t address) {
        for (uint64_t& a : at) a = address;
        first = any = low = high = address;
    }
    // One lane of some, whose `low` begins as the greatest number.
    void add(uint32_t lane, uint64_t address) {
        at[lane] = address;
        any |= address;
        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    // The rest of the addresses, for those who look at them one by one.
    void finish(uint32_t bytes) {
        if (complete) return;
        complete = true;
        for (uint32_t i = 0; i < kWarpSize; ++i) at[i] = first + uint64_t(i) * bytes;
    }
};

template <class A>
[[gnu::always_inline]] inline void compute(Addresses& out, const A* base, int64_t offset,
                                           uint32_t mask, uint32_t bytes) {
    const uint64_t add = uint64_t(offset);
    const auto cut = [](uint64_t v) { return sizeof(A) == 4 ? v & 0xffffffffu : v; };
    uint64_t any = 0;
    if (mask == kAllLanes) {
        const uint64_t first = cut(uint64_t(base[0]) + add);
        out.first = first;
        // The second lane alone tells most scattered accesses.
        if (base[1] == A(base[0] + A(bytes))) [[likely]] {
            A differs = 0;
            for (uint32_t i = 0; i < kWarpSize; ++i) differs |= base[i] ^ A(base[0] + A(i) * bytes);
            const uint64_t last = cut(first + (kWarpSize - 1) * bytes);
            if (differs == 0 && first <= last) {
                out.contiguous = true;
                out.at[0] = first;
                out.any = first | last;
                out.low = first;
                out.high = last;
                out.complete = false;
                return;
            }
        }
        uint64_t low = first, high = first;
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) {
            const uint64_t a = cut(uint64_t(base[i]) + add);
            out.at[i] = a;
            any |= a;
            low = a < low ? a : low;
            high = a > high ? a : high;
        }
        out.any = any;
        out.low = low;
        out.high = high;
        return;
    }
    out.first = cut(uint64_t(base[std::countr_zero(mask)]) + add);
    uint64_t low = out.first, high = out.first;
#pragma GCC ivdep
    for (uint32_t i = 0; i < kWarpSize; ++i) {
        const uint64_t a = cut(uint64_t(base[i]) + add);
        const bool active = mask & kLaneBit64.bit[i];
        out.at[i] = a;
        any |= active ? a : 0;
        low = active && a < low ? a : low;
        high = active && a > high ? a : high;
    }
    out.any = any;
    out.low = low;
    out.high = high;
}

// Whether all active lanes' `bytes` lie in [begin, begin + size).
[[gnu::always_inline]] inline bool within(const Addresses& a, uint64_t begin, uint64_t size,
                                          uint32_t bytes) {
    if (size < bytes) return false;
    const uint64_t room = size - bytes;  // of the first byte
    return a.low - begin <= room && a.high - begin <= room;
}

}  // namespace
}  // namespace machine::ARITH_NS
