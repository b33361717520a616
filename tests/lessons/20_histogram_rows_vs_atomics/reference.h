// SPDX-License-Identifier: MIT
// Lesson 20 on the host: axes, values like the masses of muon pairs, and their histograms.
//
// A bin is defined by its real edges; the reference works in double. Three float operations move x
// by less than 4 * 2^-24 * bins bin widths, 1e-3 for 4096 bins, so random values keep 2e-3 bin
// widths away from inner edges: every sound way to compute the bin agrees there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "common/host/data.h"
#include "histogram_rows_vs_atomics.h"

// Messages name it as the student's code does.
template <>
struct Catch::StringMaker<Overflow> {
    static std::string convert(Overflow value) {
        constexpr const char* kNames[] = {"kDrop", "kClamp"};
        return kNames[int(value)];
    }
};

namespace {

using Counts = std::vector<unsigned>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Overflow kRules[] = {Overflow::kDrop, Overflow::kClamp};
constexpr int kBins[] = {1, 10, 64, 120, 1000, 1200, 4096};

inline Axis masses_axis(int bins) {
    return {bins, 0.0f, 120.0f};
}

inline double in_bins(float x, Axis axis) {
    return (double(x) - axis.low) * axis.bins / (double(axis.high) - axis.low);
}

inline int bin_of(float x, Axis axis, Overflow overflow) {
    if (std::isnan(x)) return kNoBin;
    if (x < axis.low) return overflow == Overflow::kClamp ? 0 : kNoBin;
    if (x >= axis.high) return overflow == Overflow::kClamp ? axis.bins - 1 : kNoBin;
    return int(in_bins(x, axis));
}

// The values' bits, in which a NaN equals itself.
inline std::vector<uint32_t> bits_of(const std::vector<float>& values) {
    std::vector<uint32_t> bits(values.size());
    if (!values.empty()) std::memcpy(bits.data(), values.data(), 4 * values.size());
    return bits;
}

// Moves values that lie too close to an inner edge into the middle of a bin.
inline void clear_of_edges(std::vector<float>& values, Axis axis) {
    for (float& x : values) {
        if (!(x >= axis.low && x < axis.high)) continue;
        const double place = in_bins(x, axis), edge = std::nearbyint(place);
        if (std::fabs(place - edge) < 2e-3)
            x += (edge < axis.bins ? 0.25f : -0.25f) * (axis.high - axis.low) / axis.bins;
    }
}

// n numbers like the masses of muon pairs in GeV: a third are the marker -1 for no pair, the rest a
// falling background and the resonances at 0.782, 1.019, 3.097, 9.46 and 91.19. Then special
// values.
inline std::vector<float> masses(int n, uint64_t seed, Axis axis) {
    std::vector<float> values(n);
    for (int i = 0; i < n; ++i) {
        const float kind = wb::uniform_float(seed, 3 * i), u = wb::uniform_float(seed, 3 * i + 1);
        const float v = wb::uniform_float(seed, 3 * i + 2);
        const float background = -25.0f * std::log(1.0f - u);
        const float bell = std::sqrt(-2.0f * std::log(1.0f - u)) * std::cos(6.2831853f * v);
        const int peak = std::min(4, int((kind - 0.7f) / 0.06f));
        const float at[] = {0.782f, 1.019f, 3.097f, 9.46f, 91.19f};
        const float width[] = {0.02f, 0.02f, 0.05f, 0.1f, 2.5f};
        values[i] = kind < 0.33f ? -1.0f : kind < 0.7f ? background : at[peak] + width[peak] * bell;
    }
    clear_of_edges(values, axis);
    const float tiny = axis.low == 0 ? 1e-40f : 1.03f;  // next to 0, which must be no inner edge
    const float special[] = {axis.low,
                             axis.high,
                             std::nextafter(axis.high, axis.low),
                             -0.05f,
                             kNan,
                             kInfinity,
                             -kInfinity,
                             tiny,
                             -tiny,
                             1e30f,
                             -1e30f,
                             -0.0f};
    for (size_t i = 0; i < std::size(special) && 7 * i < values.size(); ++i)
        values[7 * i] = special[i];
    return values;
}

inline Counts histogram(const std::vector<float>& values, Axis axis, Overflow overflow) {
    Counts counts(axis.bins, 0u);
    for (const float x : values) {
        const int bin = bin_of(x, axis, overflow);
        if (bin != kNoBin) ++counts[bin];
    }
    return counts;
}

inline Counts random_counts(size_t n, uint64_t seed, int most = 1000) {
    const auto random = wb::random_ints(n, seed, 0, most);
    return {random.begin(), random.end()};
}

inline Counts plus(Counts a, const Counts& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

inline uint64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

}  // namespace
