// SPDX-License-Identifier: MIT
#include "machine/lanes/small_float.h"

#include <cmath>

namespace machine {

double small_to_double(const SmallFormat& format, uint8_t code) {
    const unsigned sign = code >> (format.bits() - 1) & 1;
    const unsigned magnitude = code & ((1u << (format.bits() - 1)) - 1);
    double value;
    if (magnitude > format.largest) {
        value = format.has_infinity && magnitude == format.largest + 1u ? INFINITY : NAN;
    } else {
        const int bias = (1 << (format.exponent_bits - 1)) - 1;
        const unsigned exponent = magnitude >> format.fraction_bits;
        const unsigned fraction = magnitude & ((1u << format.fraction_bits) - 1);
        value = exponent == 0 ? std::ldexp(double(fraction), 1 - bias - int(format.fraction_bits))
                              : std::ldexp(double(fraction + (1u << format.fraction_bits)),
                                           int(exponent) - bias - int(format.fraction_bits));
    }
    return sign ? -value : value;
}

uint8_t small_from_double(const SmallFormat& format, double value) {
    if (value != value) return format.has_nan ? 0x7f : format.largest;
    const double magnitude = std::fabs(value);
    // Codes have the same order as the numbers: take the largest that is not above, then its
    // neighbour if that is nearer.
    unsigned low = 0, high = format.largest;
    while (low < high) {
        const unsigned middle = (low + high + 1) / 2;
        if (small_to_double(format, uint8_t(middle)) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < format.largest) {
        const double below = magnitude - small_to_double(format, uint8_t(low));
        const double above = small_to_double(format, uint8_t(low + 1)) - magnitude;
        if (above < below || (above == below && (low & 1))) ++low;
    }
    return uint8_t(low | (std::signbit(value) ? 1u << (format.bits() - 1) : 0));
}

}  // namespace machine
