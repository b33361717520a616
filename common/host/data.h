// SPDX-License-Identifier: MIT
// Deterministic test data: the same numbers on every machine, on host and device, without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb {

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): a
// well-mixed 64-bit hash of its argument.
constexpr uint64_t splitmix64(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// 64 random bits. The seed is hashed too: with seed + index alone, the numbers of seed 2 would be
// those of seed 1, shifted by one, and x[i + 1] would do for y[i].
constexpr uint64_t random_bits(uint64_t seed, uint64_t index) {
    return splitmix64(splitmix64(seed) + index);
}

// Fraction in [0, 1) with 24 bits, exact in float.
constexpr float uniform_float(uint64_t seed, uint64_t index) {
    return float(random_bits(seed, index) >> 40) * 0x1p-24f;
}

// n floats in [low, high).
inline std::vector<float> random_floats(size_t n, uint64_t seed, float low = -1.0f,
                                        float high = 1.0f) {
    std::vector<float> out(n);
    for (size_t i = 0; i < n; ++i) out[i] = low + (high - low) * uniform_float(seed, i);
    return out;
}

// n integers in [low, high], both ends included.
inline std::vector<int> random_ints(size_t n, uint64_t seed, int low, int high) {
    std::vector<int> out(n);
    const uint64_t span = uint64_t(int64_t(high) - low) + 1;
    for (size_t i = 0; i < n; ++i) out[i] = int(low + int64_t(random_bits(seed, i) % span));
    return out;
}

}  // namespace wb
