// SPDX-License-Identifier: MIT
#include "machine/program/lane_pattern.h"

#include <algorithm>

namespace machine {
namespace {

// Whether all groups of so many lanes step by `step` bytes from lane to lane.
bool in_groups(const int32_t* distance, uint32_t lanes, int32_t step) {
    for (uint32_t i = 0; i < kWarpSize; ++i)
        if (distance[i] != distance[i - i % lanes] + int32_t(i % lanes) * step) return false;
    return true;
}

}  // namespace

void LanePattern::learn(uint32_t bytes) {
    static uint64_t latest = 0;
    serial = ++latest;
    least = *std::min_element(distance, distance + kWarpSize);
    greatest = *std::max_element(distance, distance + kWarpSize);
    bits = group = 0;
    for (const int32_t d : distance) bits |= uint32_t(d);
    for (uint32_t lanes = kWarpSize; lanes >= 4 && !group; lanes /= 2) {
        same = in_groups(distance, lanes, 0);
        if (same || in_groups(distance, lanes, int32_t(bytes))) group = lanes;
    }
}

}  // namespace machine
