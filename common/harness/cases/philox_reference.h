// SPDX-License-Identifier: MIT
// Philox4x32-10 on arrays, for the tests (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", 2011), and what is often written instead.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace wb {
namespace {

using PhiloxWords = std::array<uint32_t, 4>;

enum class PhiloxSlip {
    kNone,
    kNineRounds,
    kElevenRounds,
    kKeyFirst,        // the key grows before the first round
    kKeyStays,        // the key never grows
    kKeyCarries,      // the key grows as one number of 64 bits
    kKeysSwapped,     // key.x where key.y belongs
    kStepsSwapped,    // each half of the key grows by the other's constant
    kFactorsSwapped,  // each constant times the other word
    kHalvesSwapped,   // the low half where the high half belongs
    kPlus,            // + where xor belongs
    kShortProducts,   // products of 32 bits: the high halves are 0
    kOverwritten,     // z and w are made of the new x
};

inline PhiloxWords philox_reference(PhiloxWords c, uint32_t k0, uint32_t k1,
                                    PhiloxSlip slip = PhiloxSlip::kNone) {
    const int rounds = slip == PhiloxSlip::kNineRounds     ? 9
                       : slip == PhiloxSlip::kElevenRounds ? 11
                                                           : 10;
    uint32_t step0 = 2654435769u, step1 = 3144134277u;
    if (slip == PhiloxSlip::kStepsSwapped) std::swap(step0, step1);
    if (slip == PhiloxSlip::kKeysSwapped) std::swap(k0, k1);
    if (slip == PhiloxSlip::kKeysSwapped) std::swap(step0, step1);
    const auto mix = [&](uint32_t high, uint32_t word, uint32_t key) {
        return slip == PhiloxSlip::kPlus ? high + word + key : high ^ word ^ key;
    };
    const auto high = [&](uint64_t product) {
        if (slip == PhiloxSlip::kShortProducts) return 0u;
        return uint32_t(slip == PhiloxSlip::kHalvesSwapped ? product : product >> 32);
    };
    const auto low = [&](uint64_t product) {
        return uint32_t(slip == PhiloxSlip::kHalvesSwapped ? product >> 32 : product);
    };
    for (int round = 0; round < rounds; ++round) {
        const uint32_t grown =
            slip == PhiloxSlip::kKeyStays ? 0 : uint32_t(round) + (slip == PhiloxSlip::kKeyFirst);
        uint64_t even_factor = 3528531795u, odd_factor = 3449720151u;
        if (slip == PhiloxSlip::kFactorsSwapped) std::swap(even_factor, odd_factor);
        const uint64_t odd = c[2] * odd_factor;
        const uint32_t x = mix(high(odd), c[1], k0 + grown * step0);
        const uint64_t even = (slip == PhiloxSlip::kOverwritten ? x : c[0]) * even_factor;
        uint32_t carry = 0;
        if (slip == PhiloxSlip::kKeyCarries)
            for (uint32_t i = 0, sum = k0; i < grown; ++i, sum += step0) carry += sum + step0 < sum;
        c = {x, low(odd), mix(high(even), c[3], k1 + grown * step1 + carry), low(even)};
    }
    return c;
}

inline constexpr std::pair<PhiloxSlip, const char*> kPhiloxSlips[] = {
    {PhiloxSlip::kNineRounds, "nine rounds, and not ten"},
    {PhiloxSlip::kElevenRounds, "eleven rounds, and not ten"},
    {PhiloxSlip::kKeyFirst, "the key grows before the first round: it grows between two rounds"},
    {PhiloxSlip::kKeyStays, "the key is the same in all rounds: it grows from one to the next"},
    {PhiloxSlip::kKeyCarries, "a carry goes from the key's lower half into its upper one"},
    {PhiloxSlip::kKeysSwapped, "the two halves of the key have changed places"},
    {PhiloxSlip::kStepsSwapped, "each half of the key grows by the other one's constant"},
    {PhiloxSlip::kFactorsSwapped, "each word is multiplied by the other one's constant"},
    {PhiloxSlip::kHalvesSwapped, "high and low halves of the products have changed places"},
    {PhiloxSlip::kPlus, "words are added where they should be combined by xor"},
    {PhiloxSlip::kShortProducts, "the products have 32 bits: their high halves are lost"},
    {PhiloxSlip::kOverwritten, "new words are made of new words: a round needs all the old ones"},
};

}  // namespace
}  // namespace wb
