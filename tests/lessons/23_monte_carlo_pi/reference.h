// SPDX-License-Identifier: MIT
// Lesson 23 on the host: which points are hits, and the right counts of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "monte_carlo_pi.h"

namespace {

constexpr uint64_t kSeed = 0x0123456789ABCDEFull;
const double kPi = 4 * std::atan(1.0);

// 16 bits, the highest of which counts -2^15.
inline int whole(uint32_t half) {
    return int(half % 32768) - (half % 65536 >= 32768 ? 32768 : 0);
}

// x * x + y * y < 2^30, in doubles, which hold all of it.
inline bool inside(double x, double y) {
    return x * x + y * y < 0x1p30;
}

inline uint64_t true_hits(uint64_t seed, uint64_t first, uint64_t n) {
    uint64_t hits = 0;
    uint4 quad{};
    for (uint64_t i = first; i < first + n; ++i) {
        if (i == first || i % 4 == 0) quad = random_quad(seed, i / 4);
        const uint32_t words[] = {quad.x, quad.y, quad.z, quad.w};
        hits += inside(whole(words[i % 4]), whole(words[i % 4] >> 16));
    }
    return hits;
}

inline std::string samples(uint64_t first, uint64_t n) {
    return std::to_string(n) + (n == 1 ? " sample" : " samples") + " from number " +
           std::to_string(first);
}

inline double true_sigma(uint64_t n) {
    return std::sqrt(kPi * (4 - kPi) / double(n));
}

}  // namespace
