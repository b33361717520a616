// SPDX-License-Identifier: MIT
// The decoded form that the interpreter runs: one handler per instruction, operands as offsets into
// a block of rows. A row is one register of 32 lanes; a predicate's row is a 32-bit mask.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "machine/events.h"

namespace machine {

struct Instr;

// What a straight-line handler may access: the rows of the current function activation, under a
// mask.
struct Lanes {
    std::byte* rows;  // 64-byte aligned; includes constants, so every source operand is a row
    uint32_t mask;    // active lanes, never 0
    uint32_t lane;    // the active one, for Instr::one_lane
    uint32_t carry;   // CC.CF of PTX ISA "Extended-Precision Integer Arithmetic", one bit a lane

    template <class T>
    [[gnu::always_inline]] T* row(uint32_t offset) const {
        return reinterpret_cast<T*>(rows + offset);
    }
    [[gnu::always_inline]] uint32_t& predicate(uint32_t offset) const {
        return *reinterpret_cast<uint32_t*>(rows + offset);
    }
};

using Handler = void (*)(Lanes&, const Instr&);

// The size of a cache line, so that the next one is an addition away.
struct alignas(64) Instr {
    Handler handler = nullptr;   // null: the scheduler handles it (branch, barrier, memory ...)
    uint32_t dst = 0, dst2 = 0;  // row offsets; kNoRow when absent
    std::array<uint32_t, 4> src{};
    uint32_t guard = 0;   // row of @p
    uint16_t extra = 0;   // a small constant for the handler (prmt mode, lut, ...)
    uint8_t control = 0;  // enum Control (code.h); 0: kStraight
    bool guarded = false, guard_negated = false;
    bool in_double = false;  // has .f64 operands or an .f64 result; for the counters
    SiteId site = 0;
    const void* op = nullptr;  // entry in a side table of Code: memory, calls, branches ...
    // The handler for a single active lane: a loop over lanes, and vector loads of a scalar that
    // was just stored, would cost several times as much.
    Handler one_lane = nullptr;
    template <class T>
    const T& as() const {
        return *static_cast<const T*>(op);
    }
};
static_assert(sizeof(Instr) == 64);
constexpr uint32_t kNoRow = 0xffffffffu;

// The handler for an arithmetic PTX instruction, and how to read its operands: registers must have
// the byte width of these types, immediates are converted to them.
struct Selected {
    Handler handler = nullptr;
    Handler one_lane = nullptr;             // null: `handler` also serves one lane
    bool has_dst = true, has_dst2 = false;  // dst2: the q of setp p|q
    unsigned sources = 0;
    std::array<ptx::Type, 4> src{};  // kPred: a mask row
    ptx::Type dst = ptx::Type::kNone;
    uint16_t extra = 0;
};

// Arithmetic, logic, comparison, selection, conversion and bit instructions: none that access
// memory, other lanes or control flow. Empty if the table has no handler for this form, or an
// operand is a vector or a special register. `function` owns the registers that operands refer to.
std::optional<Selected> select_arithmetic(const ptx::Instruction& instruction,
                                          const ptx::Function& function);

// Runs f(lane) for every active lane, lowest first. Use map_row for results; this one is for bodies
// with side effects and for expensive ones that do not vectorise.
template <class F>
[[gnu::always_inline]] inline void for_lanes(uint32_t mask, F&& f) {
    for (uint32_t m = mask; m; m &= m - 1) f(uint32_t(__builtin_ctz(m)));
}

// kLaneBit<T>[i] is lane i's bit of a mask as wide as T. A table, because SSE has no shift by lane.
template <class T, unsigned lanes>
struct LaneBitTable {
    alignas(64) T bit[lanes];
    constexpr LaneBitTable() : bit{} {
        for (unsigned i = 0; i < lanes; ++i) bit[i] = T(T(1) << i);
    }
};
constexpr LaneBitTable<uint16_t, 16> kLaneBit16;
constexpr LaneBitTable<uint32_t, 32> kLaneBit32;
constexpr LaneBitTable<uint64_t, 32> kLaneBit64;
// kLaneIndex<T>.of[i] is i.
template <class T>
struct LaneIndexTable {
    alignas(64) T of[kWarpSize];
    constexpr LaneIndexTable() : of{} {
        for (unsigned i = 0; i < kWarpSize; ++i) of[i] = T(i);
    }
};
template <class T>
static constexpr LaneIndexTable<T> kLaneIndex;

template <uint32_t first, class D, class Yes, class No>
[[gnu::always_inline]] inline void blend_half_row(D* d, uint16_t bits, Yes&& yes, No&& no) {
#pragma GCC ivdep
    for (uint32_t i = 0; i < 16; ++i) {
        // As bit operations: the promotion of a condition to int would prevent vectorisation.
        const uint16_t a = uint16_t(yes(first + i)), b = uint16_t(no(first + i));
        const uint16_t bit = kLaneBit16.bit[i];
        const uint16_t chosen = uint16_t(bits & bit) == bit ? uint16_t(0xffff) : uint16_t(0);
        d[first + i] = D(uint16_t((a & chosen) | (b & ~chosen)));
    }
}

// d[i] = yes(i) if lane i's bit of `mask` is set, else no(i); both are evaluated for all lanes.
template <class D, class Yes, class No>
[[gnu::always_inline]] inline void blend_row(D* d, uint32_t mask, Yes&& yes, No&& no) {
    if constexpr (sizeof(D) == 2) {
        // Two consecutive loops: nested ones are unrolled before they are vectorised.
        blend_half_row<0>(d, uint16_t(mask), yes, no);
        blend_half_row<16>(d, uint16_t(mask >> 16), yes, no);
    } else if constexpr (sizeof(D) == 8) {
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) {
            const D a = yes(i), b = no(i);
            d[i] = (mask & kLaneBit64.bit[i]) ? a : b;
        }
    } else {
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) {
            const D a = yes(i), b = no(i);
            d[i] = (mask & kLaneBit32.bit[i]) ? a : b;
        }
    }
}

// With at most this many active lanes, visiting them is faster than a vector loop over all 32.
constexpr int kFewLanes = 4;

// d[i] = f(i) for the active lanes; other lanes keep their old value. f must be total: it may be
// evaluated for inactive lanes, whose result is discarded.
template <class D, class F>
[[gnu::always_inline]] inline void map_row(D* d, uint32_t mask, F&& f) {
    if (mask == kAllLanes) {
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = f(i);
    } else if (__builtin_popcount(mask) <= kFewLanes) {
        for_lanes(
            mask, [&](uint32_t i) __attribute__((always_inline)) { d[i] = f(i); });
    } else {
        blend_row(
            d, mask, f, [&](uint32_t i) __attribute__((always_inline)) { return d[i]; });
    }
}

// Collects f(i) of the active lanes in a mask; the bits of other lanes are unspecified. Lane: a
// signed integer as wide as what f compares, so that the comparison needs no widening.
template <class Lane = int32_t, class F>
[[gnu::always_inline]] inline uint32_t lane_mask(uint32_t mask, F&& f) {
    uint32_t bits = 0;
    if (mask != kAllLanes && __builtin_popcount(mask) <= kFewLanes) {
        for_lanes(
            mask, [&](uint32_t i) __attribute__((always_inline)) {
                bits |= uint32_t(bool(f(i))) << i;
            });
        return bits;
    }
#if defined(__SSE2__)
    alignas(64) Lane truth[kWarpSize];
#pragma GCC ivdep
    for (uint32_t i = 0; i < kWarpSize; ++i) truth[i] = f(i) ? Lane(-1) : Lane(0);
    const auto* vectors = reinterpret_cast<const __m128i*>(truth);
    if constexpr (sizeof(Lane) == 1) {
        for (unsigned v = 0; v < 2; ++v)
            bits |= uint32_t(_mm_movemask_epi8(vectors[v])) << (16 * v);
    } else if constexpr (sizeof(Lane) == 2) {
        for (unsigned v = 0; v < 2; ++v)
            bits |= uint32_t(_mm_movemask_epi8(_mm_packs_epi16(vectors[2 * v], vectors[2 * v + 1])))
                    << (16 * v);
    } else {
#if defined(__AVX512DQ__)
        const auto* wide = reinterpret_cast<const __m512i*>(truth);
        if constexpr (sizeof(Lane) == 4) {
            bits = uint32_t(_mm512_movepi32_mask(wide[0])) | uint32_t(_mm512_movepi32_mask(wide[1]))
                                                                 << 16;
        } else {
            for (unsigned v = 0; v < 4; ++v)
                bits |= uint32_t(_mm512_movepi64_mask(wide[v])) << (8 * v);
        }
#elif defined(__AVX2__)
        const auto* wide = reinterpret_cast<const __m256i*>(truth);
        if constexpr (sizeof(Lane) == 4) {
            for (unsigned v = 0; v < 4; ++v)
                bits |= uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(wide[v]))) << (8 * v);
        } else {
            for (unsigned v = 0; v < 8; ++v)
                bits |= uint32_t(_mm256_movemask_pd(_mm256_castsi256_pd(wide[v]))) << (4 * v);
        }
#else
        constexpr unsigned kPer = 16 / sizeof(Lane);
        for (unsigned v = 0; v < kWarpSize / kPer; ++v) {
            if constexpr (sizeof(Lane) == 4)
                bits |= uint32_t(_mm_movemask_ps(_mm_castsi128_ps(vectors[v]))) << (kPer * v);
            else
                bits |= uint32_t(_mm_movemask_pd(_mm_castsi128_pd(vectors[v]))) << (kPer * v);
        }
#endif
    }
#else
    alignas(64) Lane truth[kWarpSize];
#pragma GCC ivdep
    for (uint32_t i = 0; i < kWarpSize; ++i) truth[i] = f(i) ? Lane(-1) : Lane(0);
    for (uint32_t i = 0; i < kWarpSize; ++i)
        bits |= uint32_t(int32_t(truth[i])) & kLaneBit32.bit[i];
#endif
    return bits;
}

// A predicate row from f(i): active lanes get the new bit, the others keep theirs.
template <class Lane = int32_t, class F>
[[gnu::always_inline]] inline void map_predicate(uint32_t& d, uint32_t mask, F&& f) {
    const uint32_t bits = lane_mask<Lane>(mask, f);
    d = (d & ~mask) | (bits & mask);
}

}  // namespace machine
