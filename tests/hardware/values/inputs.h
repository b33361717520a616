// SPDX-License-Identifier: MIT
// What the random kernels read: 16 words of 8 bytes for each thread, each word's place saying what
// it holds (ptx_kernel.py's INPUT_SLOTS). Half of all values are the awkward ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace inputs {

constexpr size_t kSlots = 16;

// SplitMix64, as in splitmix.py.
class SplitMix {
public:
    explicit SplitMix(uint64_t seed) : state_(seed) {}
    uint64_t bits() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return z ^ z >> 31;
    }
    uint64_t below(uint64_t limit) { return bits() % limit; }

private:
    uint64_t state_;
};

// FNV-1a.
inline uint64_t hash_of(std::string_view text, uint64_t hash = 0xcbf29ce484222325ull) {
    for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3ull;
    return hash;
}

// A floating-point number of `exponent` + `fraction` + 1 bits.
inline uint64_t awkward_float(SplitMix& random, unsigned exponent, unsigned fraction) {
    const uint64_t most = (uint64_t(1) << exponent) - 1, bias = most >> 1;
    const uint64_t fractions = (uint64_t(1) << fraction) - 1;
    const uint64_t sign = random.below(2) << (exponent + fraction);
    const auto number = [&](uint64_t e, uint64_t f) { return sign | e << fraction | f; };
    switch (random.below(16)) {
    case 0:
        return number(0, 0);
    case 1:
        return number(most, 0);  // infinite
    case 2:
        return number(most, uint64_t(1) << (fraction - 1) | (random.bits() & fractions));  // quiet
    case 3:
        return number(most, 1 + random.below(fractions >> 1));  // a signalling NaN
    case 4:
        return number(0, random.below(2) ? 1 + random.below(3) : fractions - random.below(3));
    case 5:
        return number(0, random.bits() & fractions);  // subnormal
    case 6:
        return number(1 + random.below(2), random.below(3));  // the least normal ones
    case 7:
        return number(most - 1, fractions - random.below(3));  // the greatest
    case 8:
        return number(bias, 0);
    case 9: {  // halves and whole numbers: ties when rounding
        const uint64_t e = random.below(fraction + 3), keep = e < fraction ? fraction - e : 0;
        const uint64_t f =
            random.bits() & fractions & ~((uint64_t(1) << (keep ? keep - 1 : 0)) - 1);
        return number(bias + e > most - 1 ? bias : bias + e, f);
    }
    case 10: {  // near the ends of the integer types
        const unsigned ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
        const uint64_t e = bias + ends[random.below(std::size(ends))];
        return number(e > most - 1 ? bias : e, random.below(2) ? 0 : fractions - random.below(2));
    }
    case 11:
        return sign | (random.bits() & ((uint64_t(1) << (exponent + fraction)) - 1));
    case 12:  // few bits: products and sums that end in ties
        return number(bias + random.below(8) - 4,
                      random.below(16) << (fraction > 4 ? fraction - 4 : 0));
    default:
        return number(bias + random.below(24) - 12 > most - 1 ? bias : bias + random.below(24) - 12,
                      random.bits() & fractions);
    }
}

inline uint64_t awkward_integer(SplitMix& random, unsigned width) {
    const uint64_t all = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    uint64_t value = 0;
    switch (random.below(8)) {
    case 0:
        value = 0;
        break;
    case 1:
        value = uint64_t(1) << (width - 1);  // the least signed one
        break;
    case 2:
        value = random.below(2) ? ~uint64_t(0) : (uint64_t(1) << (width - 1)) - 1;
        break;
    case 3:
        value = (uint64_t(1) << random.below(width)) - random.below(2);
        break;
    case 4:
    case 5:
        value = random.below(80) - 40;
        break;
    default:
        value = random.bits();
    }
    return value & all;
}

// The word at `slot` of a thread.
inline uint64_t word(SplitMix& random, size_t slot) {
    if (slot < 4) return awkward_float(random, 8, 23) | awkward_float(random, 8, 23) << 32;
    if (slot < 7) return awkward_float(random, 11, 52);
    if (slot < 9) {
        uint64_t four = 0;
        for (int i = 0; i < 4; ++i)
            four = four << 16 |
                   (slot == 7 ? awkward_float(random, 5, 10) : awkward_float(random, 8, 7));
        return four;
    }
    if (slot < 13) return awkward_integer(random, 32) | awkward_integer(random, 32) << 32;
    return awkward_integer(random, 64);
}

}  // namespace inputs
