// SPDX-License-Identifier: MIT
// Lesson 22 on the host: the right words and fractions, and rows of draws.
#pragma once

#include <cstdint>
#include <vector>

#include "cases/philox_reference.h"
#include "rng_seeding.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr uint64_t kSeed = 0x0123456789ABCDEFull;

// Stream 0 of these seeds has the word 0 and the word 0xFFFFFFFF at these positions.
constexpr uint64_t kSeedOfZero = 1343428, kPositionOfZero = 3;
constexpr uint64_t kSeedOfOnes = 454088803, kPositionOfOnes = 1;

inline uint32_t reference_word(uint64_t seed, uint64_t stream, uint64_t position) {
    const uint64_t index = position / 4;
    return wb::philox_reference(
        {uint32_t(index), uint32_t(index >> 32), uint32_t(stream), uint32_t(stream >> 32)},
        uint32_t(seed),
        uint32_t(seed >> 32))[position % 4];
}

inline float reference_draw(uint64_t seed, uint64_t stream, uint64_t position) {
    return float(reference_word(seed, stream, position) >> 8) / 16777216.0f;
}

// Draws of several streams, one row each.
using Rows = std::vector<std::vector<float>>;

// Points in the device's order, as floats: x, y of point 0 of all streams, then point 1 ...
using Points = std::vector<float>;

inline Points flat(const std::vector<float2>& points) {
    Points out;
    for (const float2 point : points) out.insert(out.end(), {point.x, point.y});
    return out;
}

inline Rows rows_of(const Points& points, int streams) {
    Rows rows(streams);
    for (size_t i = 0; i < points.size(); ++i) rows[i / 2 % streams].push_back(points[i]);
    return rows;
}

inline Points joined(Points first, const Points& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace
