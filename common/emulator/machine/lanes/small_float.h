// SPDX-License-Identifier: MIT
// Floating-point formats of 6 and 8 bits (PTX ISA "Alternate Floating-Point Data Formats"; the two
// of 8 bits are those of "FP8 Formats for Deep Learning", Micikevicius et al., 2022).
#pragma once

#include <cstdint>

namespace machine {

struct SmallFormat {
    unsigned exponent_bits, fraction_bits;
    uint8_t largest;    // code of the largest number
    bool has_infinity;  // code largest + 1
    bool has_nan;       // code 0x7f, and above infinity
    unsigned bits() const { return 1 + exponent_bits + fraction_bits; }
};
constexpr SmallFormat kE4m3{4, 3, 0x7e, false, true}, kE5m2{5, 2, 0x7b, true, true},
    kE2m3{2, 3, 0x1f, false, false}, kE3m2{3, 2, 0x1f, false, false};

double small_to_double(const SmallFormat& format, uint8_t code);
// Rounds to nearest even and clamps to the largest number, as .satfinite says; NaN becomes 0x7f, or
// the largest number in a format without NaN.
uint8_t small_from_double(const SmallFormat& format, double value);

}  // namespace machine
