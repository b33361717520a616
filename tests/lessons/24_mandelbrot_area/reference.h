// SPDX-License-Identifier: MIT
// Lesson 24 on the host: the right points, steps, verdicts and counts, and those of common
// mistakes, so that the grader can name them. For the lesson's test only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mandelbrot_area.h"

namespace {

struct Point {
    float x, y;
};

inline Point true_point(uint64_t word) {
    const auto upper = uint32_t(word >> 40), lower = uint32_t(word >> 8) & 0xFFFFFF;
    return {std::fma(3.0f, float(upper) / 16777216, -2.0f),
            std::fma(3.0f, float(lower) / 16777216, -1.5f)};
}

inline Point next(Point z, Point c) {
    return {std::fma(z.x, z.x, std::fma(-z.y, z.y, c.x)), std::fma(2 * z.x, z.y, c.y)};
}

inline Verdict true_floyd(Point c, int most) {
    Point hare{0, 0}, tortoise{0, 0};
    for (int trips = 1; trips <= most; ++trips) {
        hare = next(next(hare, c), c);
        if (std::fma(hare.x, hare.x, hare.y * hare.y) > 4) return Verdict::kOutside;
        tortoise = next(tortoise, c);
        if (hare.x == tortoise.x && hare.y == tortoise.y) return Verdict::kInside;
    }
    return Verdict::kUndecided;
}

// Negative inside the cardioid or the disc, positive outside, near 0 at their borders.
inline double shortcut(double x, double y) {
    const double q = (x - 0.25) * (x - 0.25) + y * y;
    return std::min(q * (q + x - 0.25) - y * y / 4, (x + 1) * (x + 1) + y * y - 1 / 16.0);
}

inline Counts true_counts(uint64_t seed, uint64_t first, uint64_t n, int most,
                          Counts before = {0, 0}) {
    for (uint64_t i = first; i < first + n; ++i) {
        const Point c = true_point(random_word(seed, i));
        const Verdict verdict = shortcut(c.x, c.y) <= 0 ? Verdict::kInside : true_floyd(c, most);
        before.inside += verdict == Verdict::kInside;
        before.undecided += verdict == Verdict::kUndecided;
    }
    return before;
}

// Mistakes that the grader recognises by their verdicts and counts. For display only.
enum class Slip {
    kOnlyX,           // the hare has met the tortoise when x is equal
    kNearlyEqual,     // or when the two are close to each other
    kNormNotSquared,  // |z|^2 is compared with 2
    kNormTwice,       // or with 16
    kCopies,          // of hare and tortoise are moved
    kBorderOutside,   // |z| = 2 is outside
    kAtTheTortoise,   // the tortoise decides whether the point is outside
    kHareOneStep,
    kTortoiseTwoSteps,
    kStartAtC,  // hare and tortoise start at c
    kOneMore,   // trips
    kOneLess,
    kUndecidedInside,
    kUndecidedOutside,
    kTortoiseLate,  // it is compared before its step
    // of the flat loop, in the order of its samples in a lane:
    kHareStays,  // where the last sample has left it
    kTortoiseStays,
    kTripsStay,  // all samples of a lane share the trips of one
    kSureNotCounted,
    kSureCountedTwice,
    kFirstSampleOnly,  // that takes a trip: then the lane stops
    kLastSampleCut,    // after one trip
    kUndecidedTwice,   // at the last allowed trip and after it
};

inline Verdict slip_trip(Point& hare, Point& tortoise, Point c, Slip slip, float eps) {
    if (slip == Slip::kCopies) {
        Point one = hare, other = tortoise;
        return slip_trip(one, other, c, Slip::kOneMore, eps);
    }
    hare = next(slip == Slip::kHareOneStep ? hare : next(hare, c), c);
    const Point seen = slip == Slip::kAtTheTortoise ? next(tortoise, c) : hare;
    const float norm = std::fma(seen.x, seen.x, seen.y * seen.y);
    const float most = slip == Slip::kNormNotSquared ? 2 : slip == Slip::kNormTwice ? 16 : 4;
    if (norm > most) return Verdict::kOutside;
    if (slip == Slip::kBorderOutside && norm == 4) return Verdict::kOutside;
    const Point before = tortoise;
    tortoise = next(slip == Slip::kTortoiseTwoSteps ? next(tortoise, c) : tortoise, c);
    bool met = hare.x == tortoise.x && (hare.y == tortoise.y || slip == Slip::kOnlyX);
    if (slip == Slip::kTortoiseLate) met = hare.x == before.x && hare.y == before.y;
    if (slip == Slip::kNearlyEqual)
        met = std::fabs(hare.x - tortoise.x) < eps && std::fabs(hare.y - tortoise.y) < eps;
    return met ? Verdict::kInside : Verdict::kUndecided;
}

inline Verdict slip_floyd(Point c, int most, Slip slip, float eps) {
    Point hare{0, 0}, tortoise{0, 0};
    if (slip == Slip::kStartAtC) hare = tortoise = c;
    most += (slip == Slip::kOneMore) - (slip == Slip::kOneLess);
    for (int trips = 1; trips <= most; ++trips) {
        const Verdict verdict = slip_trip(hare, tortoise, c, slip, eps);
        if (verdict != Verdict::kUndecided) return verdict;
    }
    return slip == Slip::kUndecidedInside    ? Verdict::kInside
           : slip == Slip::kUndecidedOutside ? Verdict::kOutside
                                             : Verdict::kUndecided;
}

// The words for mistakes of tasks 2 and 4.
struct NamedSlip {
    const char* words;
    Slip slip;
    float eps = 0;
};
constexpr const char* kCloseIsNotEqual =
    "hare and tortoise count as met when they are only close to each other";
const NamedSlip kOfFloyd[] = {
    {"hare and tortoise count as met when one coordinate is equal", Slip::kOnlyX},
    {kCloseIsNotEqual, Slip::kNearlyEqual, 1e-3f},
    {kCloseIsNotEqual, Slip::kNearlyEqual, 1e-4f},
    {kCloseIsNotEqual, Slip::kNearlyEqual, 1e-5f},
    {kCloseIsNotEqual, Slip::kNearlyEqual, 1e-6f},
    {kCloseIsNotEqual, Slip::kNearlyEqual, 1e-7f},
    {"the square of |z| is compared with 2, not with its square", Slip::kNormNotSquared},
    {"the square of |z| is compared with 16: 4 is the square already", Slip::kNormTwice},
    {"hare and tortoise stay at 0: copies of them are moved", Slip::kCopies},
    {"a point at the distance 2 counts as outside", Slip::kBorderOutside},
    {"the tortoise decides whether the point is outside, instead of the hare",
     Slip::kAtTheTortoise},
    {"the hare is as slow as the tortoise", Slip::kHareOneStep},
    {"the tortoise is as fast as the hare", Slip::kTortoiseTwoSteps},
    {"hare and tortoise start at c, not at 0", Slip::kStartAtC},
    {"one trip more than allowed", Slip::kOneMore},
    {"one trip fewer than allowed", Slip::kOneLess},
    {"undecided points count as inside", Slip::kUndecidedInside},
    {"undecided points count as outside", Slip::kUndecidedOutside},
    {"hare and tortoise are compared before the tortoise has taken its step", Slip::kTortoiseLate},
};
const NamedSlip kOfFlatLoop[] = {
    {"one trip more than allowed", Slip::kOneMore},
    {"one trip fewer than allowed", Slip::kOneLess},
    {"undecided samples count as inside", Slip::kUndecidedInside},
    {"undecided samples are not counted", Slip::kUndecidedOutside},
    {"the hare starts where the last sample of its lane has left it", Slip::kHareStays},
    {"the tortoise starts where the last sample of its lane has left it", Slip::kTortoiseStays},
    {"all samples of a lane share the trips of one", Slip::kTripsStay},
    {"samples in the cardioid or the disc are not counted", Slip::kSureNotCounted},
    {"samples in the cardioid or the disc are counted, and then take trips as well",
     Slip::kSureCountedTwice},
    {"a lane stops at its first sample that takes trips", Slip::kFirstSampleOnly},
    {"the loop ends when no samples are left to take: the last one of each lane is not finished",
     Slip::kLastSampleCut},
    {"a sample counts as undecided at its last allowed trip, and once more after it",
     Slip::kUndecidedTwice},
    {"hare and tortoise are compared before the tortoise has taken its step", Slip::kTortoiseLate},
};

// The counts of a flat loop with that mistake, lane by lane.
inline Counts slip_counts(uint64_t seed, uint64_t first, uint64_t n, int most, uint64_t threads,
                          Slip slip) {
    Counts counts{0, 0};
    const int allowed = most + (slip == Slip::kOneMore) - (slip == Slip::kOneLess);
    for (uint64_t thread = 0; thread < threads && thread < n; ++thread) {
        Point hare{0, 0}, tortoise{0, 0};
        int trips = 0;
        for (uint64_t i = first + thread; i < first + n; i += threads) {
            const Point c = true_point(random_word(seed, i));
            if (slip != Slip::kHareStays) hare = {0, 0};
            if (slip != Slip::kTortoiseStays) tortoise = {0, 0};
            if (slip != Slip::kTripsStay) trips = 0;
            if (shortcut(c.x, c.y) <= 0) {
                counts.inside += slip != Slip::kSureNotCounted;
                if (slip != Slip::kSureCountedTwice) continue;
            }
            Verdict verdict = Verdict::kUndecided;
            const bool cut =
                slip == Slip::kLastSampleCut && i + threads >= first + n && allowed > 0;
            for (; verdict == Verdict::kUndecided && trips < (cut ? 1 : allowed); ++trips)
                verdict = slip_trip(hare, tortoise, c, slip, 0);
            const bool decided = verdict != Verdict::kUndecided;
            counts.inside +=
                verdict == Verdict::kInside || (!decided && slip == Slip::kUndecidedInside);
            counts.undecided += slip == Slip::kUndecidedTwice && trips == allowed && allowed > 0;
            counts.undecided += !cut && !decided && slip != Slip::kUndecidedInside &&
                                slip != Slip::kUndecidedOutside;
            if (slip == Slip::kFirstSampleOnly) break;
        }
    }
    return counts;
}

constexpr uint64_t kSeed = 0xFEDCBA9876543210ull;

}  // namespace
