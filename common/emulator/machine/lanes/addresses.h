// SPDX-License-Identifier: MIT
// The addresses of one access of a warp. Compiled once per processor level, with access.cpp, in an
// unnamed namespace: see arith_core.h.
#pragma once

#include <type_traits>

#include "machine/lanes/arith_core.h"
#include "machine/program/instr.h"
#include "machine/program/lane_pattern.h"

namespace machine::LEVEL_NS {
namespace {

struct Addresses {
    alignas(64) uint64_t at[kWarpSize];
    // Least and greatest address of the active lanes, if `bounded`. (Not side by side: they are
    // often copied soon after they were written, and one wide load would wait for two stores.)
    uint64_t low = 0;
    uint64_t first = 0;  // of the lowest active lane
    uint64_t high = 0;
    const LanePattern* pattern = nullptr;  // not contiguous; null: unknown
    bool contiguous = false;
    bool complete = true;  // false: follow from `first`, and only at[0] has been written so far
    bool bounded = false;
    void all_at(uint64_t address) {
        for (uint64_t& a : at) a = address;
        first = low = high = address;
        bounded = true;
    }
    // Adds a lane; `low` must start as the greatest number.
    void add(uint32_t lane, uint64_t address) {
        at[lane] = address;
        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    // Fills in the remaining addresses, for code that uses each of them.
    void finish(uint32_t bytes) {
        if (complete) return;
        complete = true;
        if (pattern) {
            for (uint32_t i = 0; i < kWarpSize; ++i)
                at[i] = first + uint64_t(int64_t(pattern->distance[i]));
            return;
        }
        for (uint32_t i = 0; i < kWarpSize; ++i) at[i] = first + uint64_t(i) * bytes;
    }
    // Computes the bounds if they are missing.
    void bound(uint32_t mask) {
        if (bounded) return;
        bounded = true;
        uint64_t least = first, greatest = first;
        if (mask == kAllLanes) {  // without conditions it vectorises
            for (uint32_t i = 0; i < kWarpSize; ++i) {
                least = at[i] < least ? at[i] : least;
                greatest = at[i] > greatest ? at[i] : greatest;
            }
            low = least;
            high = greatest;
            return;
        }
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) {
            const bool active = mask & kLaneBit64.bit[i];
            least = active && at[i] < least ? at[i] : least;
            greatest = active && at[i] > greatest ? at[i] : greatest;
        }
        low = least;
        high = greatest;
    }
};

// The lanes, active or not, whose address is not among [begin, begin + room].
[[gnu::always_inline]] inline uint32_t lanes_outside(const uint64_t* at, uint64_t begin,
                                                     uint64_t room) {
#if defined(__AVX512DQ__)
    const __m512i from = _mm512_set1_epi64(int64_t(begin)), most = _mm512_set1_epi64(int64_t(room));
    const auto* v = reinterpret_cast<const __m512i*>(at);
    const auto past = [&](uint32_t k) __attribute__((always_inline)) {
        return uint32_t(_mm512_cmpgt_epu64_mask(_mm512_sub_epi64(v[k], from), most)) << 8 * k;
    };
    return past(0) | past(1) | past(2) | past(3);
#else
    return lane_mask<int64_t>(
        kAllLanes, [&](uint32_t i) __attribute__((always_inline)) { return at[i] - begin > room; });
#endif
}

// The lanes, active or not, whose address has one of these bits set.
[[gnu::always_inline]] inline uint32_t lanes_with(const uint64_t* at, uint64_t bits) {
#if defined(__AVX512DQ__)
    const __m512i those = _mm512_set1_epi64(int64_t(bits));
    const auto* v = reinterpret_cast<const __m512i*>(at);
    const auto with = [&](uint32_t k) __attribute__((always_inline)) {
        return uint32_t(_mm512_test_epi64_mask(v[k], those)) << 8 * k;
    };
    return with(0) | with(1) | with(2) | with(3);
#else
    return lane_mask<int64_t>(
        kAllLanes, [&](uint32_t i) __attribute__((always_inline)) { return (at[i] & bits) != 0; });
#endif
}

// Whether base[i] is base[0] + i * bytes in every lane.
template <class A>
[[gnu::always_inline]] inline bool in_a_row(const A* base, uint32_t bytes) {
    // The second lane alone identifies most scattered accesses.
    if (base[1] != A(base[0] + A(bytes))) return false;
#if defined(__AVX512DQ__)
    // One mask for each comparison: the compiler would convert all differences to one number.
    typedef A Vector __attribute__((vector_size(64), may_alias));
    constexpr uint32_t kLanes = 64 / sizeof(A);
    const auto* v = reinterpret_cast<const Vector*>(base);
    const auto* index = reinterpret_cast<const Vector*>(kLaneIndex<A>.of);
    const int shift = std::countr_zero(bytes);  // a power of two, as all widths are
    const auto differs = [&](uint32_t k) __attribute__((always_inline)) {
        const Vector wanted = base[0] + (index[k] << shift);
        if constexpr (sizeof(A) == 4)
            return uint32_t(_mm512_cmpneq_epi32_mask(__m512i(v[k]), __m512i(wanted)));
        else
            return uint32_t(_mm512_cmpneq_epi64_mask(__m512i(v[k]), __m512i(wanted)));
    };
    uint32_t some = 0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < kWarpSize / kLanes; ++k) some |= differs(k);
    return some == 0;
#else
    A differs = 0;
    for (uint32_t i = 0; i < kWarpSize; ++i) differs |= base[i] ^ A(base[0] + A(i) * bytes);
    return differs == 0;
#endif
}

// Whether all lanes' distances from the first one are those of the pattern.
template <class A>
[[gnu::always_inline]] inline bool recurs(const LanePattern& pattern, const A* base) {
    typedef std::make_signed_t<A> Signed;
    if (A(base[1] - base[0]) != A(Signed(pattern.distance[1])) || pattern.serial == 0) return false;
#if defined(__AVX512DQ__)
    // As in in_a_row().
    constexpr uint32_t kLanes = 64 / sizeof(A);
    const auto* v = reinterpret_cast<const __m512i*>(base);
    const auto differs = [&](uint32_t k) __attribute__((always_inline)) {
        const void* distance = pattern.distance + k * kLanes;
        if constexpr (sizeof(A) == 4) {
            const __m512i wanted = _mm512_load_si512(distance);
            return uint32_t(_mm512_cmpneq_epi32_mask(
                v[k], _mm512_add_epi32(wanted, _mm512_set1_epi32(int32_t(base[0])))));
        } else {
            const __m512i wanted =
                _mm512_cvtepi32_epi64(_mm256_load_si256(static_cast<const __m256i*>(distance)));
            return uint32_t(_mm512_cmpneq_epi64_mask(
                v[k], _mm512_add_epi64(wanted, _mm512_set1_epi64(int64_t(base[0])))));
        }
    };
    uint32_t some = 0;
#pragma GCC unroll 4
    for (uint32_t k = 0; k < kWarpSize / kLanes; ++k) some |= differs(k);
    return some == 0;
#else
    A some = 0;
    for (uint32_t i = 0; i < kWarpSize; ++i)
        some |= A(base[i] - base[0]) ^ A(Signed(pattern.distance[i]));
    return some == 0;
#endif
}

// Remembers the distances. False: some are too large.
template <class A>
[[gnu::noinline]] bool learn(LanePattern& pattern, const A* base, uint32_t bytes) {
    typedef std::make_signed_t<A> Signed;
    for (uint32_t i = 0; i < kWarpSize; ++i) {
        const Signed distance = Signed(base[i] - base[0]);
        if (distance != int32_t(distance)) return false;
    }
    for (uint32_t i = 0; i < kWarpSize; ++i) pattern.distance[i] = int32_t(base[i] - base[0]);
    pattern.learn(bytes);
    return true;
}

template <class A>
[[gnu::always_inline]] inline void compute(Addresses& out, const A* base, int64_t offset,
                                           uint32_t mask, uint32_t bytes, LanePattern* pattern) {
    const uint64_t add = uint64_t(offset);
    const auto cut = [](uint64_t v) { return sizeof(A) == 4 ? v & 0xffffffffu : v; };
    out.first = cut(uint64_t(base[std::countr_zero(mask)]) + add);
    if (mask == kAllLanes && in_a_row(base, bytes)) {
        const uint64_t last = cut(out.first + (kWarpSize - 1) * bytes);
        if (out.first <= last) [[likely]] {
            out.contiguous = out.bounded = true;
            out.at[0] = out.low = out.first;
            out.high = last;
            out.complete = false;
            return;
        }
    }
    if (mask == kAllLanes && pattern) {
        bool known = recurs(*pattern, base);
        if (known)
            pattern->missed = 0;
        else if (pattern->wants_another())
            known = learn(*pattern, base, bytes);
        const uint64_t low = out.first + uint64_t(int64_t(pattern->least));
        const uint64_t high = out.first + uint64_t(int64_t(pattern->greatest));
        if (known && low <= out.first && high >= out.first && cut(high) == high) [[likely]] {
            out.pattern = pattern;
            out.bounded = true;
            out.at[0] = out.first;
            out.low = low;
            out.high = high;
            out.complete = false;
            return;
        }
    }
#pragma GCC ivdep
    for (uint32_t i = 0; i < kWarpSize; ++i) out.at[i] = cut(uint64_t(base[i]) + add);
}

// Whether all active lanes' `bytes` lie in [begin, begin + size).
[[gnu::always_inline]] inline bool within(const Addresses& a, uint32_t mask, uint64_t begin,
                                          uint64_t size, uint32_t bytes) {
    if (size < bytes) return false;
    const uint64_t room = size - bytes;  // of the first byte
    if (a.bounded) return a.low - begin <= room && a.high - begin <= room;
    return (lanes_outside(a.at, begin, room) & mask) == 0;
}

}  // namespace
}  // namespace machine::LEVEL_NS
