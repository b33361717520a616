// SPDX-License-Identifier: MIT
// A bit for every byte of an array: set when the byte has been written. An untouched part of a
// large array costs nothing.
#pragma once

#include <cstdint>
#include <cstring>

#include "checks/zeroed_memory.h"

namespace checks {

class Bits {
public:
    Bits() = default;
    explicit Bits(uint64_t count)
        : bytes_(count / 8 + kSlack), memory_(bytes_, ZeroedMemory::Pages::kSmall) {}

    explicit operator bool() const { return memory_.get() != nullptr; }
    uint64_t bytes() const { return bytes_; }
    void clear() { std::memset(words(), 0, bytes_); }

    // Whether all of [start, start + count) are set. count >= 1.
    bool all(uint64_t start, uint64_t count) const {
        const uint64_t* word = words() + (start >> 6);
        const unsigned shift = start & 63;
        const uint64_t end = shift + count;
        if (end <= 64) return (~*word >> shift & low(count)) == 0;
        if (~*word >> shift) return false;
        uint64_t missing = 0;
        uint64_t left = end - 64;
        for (++word; left >= 64; left -= 64) missing |= ~*word++;
        return missing == 0 && (left == 0 || (~*word & low(left)) == 0);
    }
    bool any(uint64_t start, uint64_t count) const {
        for (uint64_t i = start; i < start + count;) {
            const unsigned shift = i & 63;
            const uint64_t here =
                count - (i - start) < 64 - shift ? count - (i - start) : 64 - shift;
            if (words()[i >> 6] >> shift & low(here)) return true;
            i += here;
        }
        return false;
    }
    void set(uint64_t start, uint64_t count) { write<true>(start, count); }
    void reset(uint64_t start, uint64_t count) { write<false>(start, count); }

    // One thread's bytes: count <= 16. A byte (or two) of the bitmap, so that neighbouring lanes
    // forward through the same byte instead of overlapping words.
    bool all_small(uint64_t start, uint32_t count) const {
        const uint32_t want = ((1u << count) - 1) << (start & 7);
        return (load24(start) & want) == want;
    }
    void set_small(uint64_t start, uint32_t count) {
        uint8_t* at = reinterpret_cast<uint8_t*>(words()) + (start >> 3);
        const uint32_t bits = ((1u << count) - 1) << (start & 7);
        at[0] = uint8_t(at[0] | bits);
        if (bits >> 8) at[1] = uint8_t(at[1] | bits >> 8);
        if (bits >> 16) at[2] = uint8_t(at[2] | bits >> 16);
    }

    // Copies `count` bits from `source`, whose ranges may overlap only as memmove allows.
    void copy(uint64_t start, const Bits& source, uint64_t from, uint64_t count) {
        if (((start | from) & 7) == 0) {
            const uint8_t tail = source.raw()[(from + count) >> 3];  // before it is moved over
            std::memmove(raw() + (start >> 3), source.raw() + (from >> 3), count >> 3);
            for (uint64_t i = count & ~7ull; i < count; ++i) put(start + i, tail >> (i & 7) & 1);
        } else if (start <= from) {
            for (uint64_t i = 0; i < count; ++i) put(start + i, source.get(from + i));
        } else {
            for (uint64_t i = count; i-- > 0;) put(start + i, source.get(from + i));
        }
    }

private:
    static constexpr uint64_t kSlack = 16;  // whole words, and loads that reach over the end
    static uint64_t low(uint64_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }
    uint64_t* words() const { return static_cast<uint64_t*>(memory_.get()); }
    uint8_t* raw() const { return reinterpret_cast<uint8_t*>(words()); }
    bool get(uint64_t i) const { return raw()[i >> 3] >> (i & 7) & 1; }
    void put(uint64_t i, bool value) {
        uint8_t& byte = raw()[i >> 3];
        byte = uint8_t((byte & ~(1u << (i & 7))) | unsigned(value) << (i & 7));
    }
    uint32_t load24(uint64_t start) const {
        uint32_t value;
        std::memcpy(&value, raw() + (start >> 3), 4);
        return value;
    }
    template <bool kValue>
    void write(uint64_t start, uint64_t count) {
        uint64_t* word = words() + (start >> 6);
        const auto put_mask = [&](uint64_t mask) { *word = kValue ? *word | mask : *word & ~mask; };
        const unsigned shift = start & 63;
        if (shift + count <= 64) {
            if (count) put_mask(low(count) << shift);
            return;
        }
        put_mask(~0ull << shift);
        ++word;
        count -= 64 - shift;
        const uint64_t whole = count >> 6;
        std::memset(word, kValue ? 0xff : 0, whole * 8);
        word += whole;
        if (count & 63) put_mask(low(count & 63));
    }

    uint64_t bytes_ = 0;
    ZeroedMemory memory_;
};

}  // namespace checks
