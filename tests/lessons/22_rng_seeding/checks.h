// SPDX-License-Identifier: MIT
// The battery of lesson 22: whether streams are uniform and independent of each other.
//
// Statistics are bounded at 5 sigma, with the formula of sigma beside each; the seeds are fixed, so
// a run never depends on luck. The value of pi is not tested, since streams that are all alike give
// it too. The scatter of estimates is.
#pragma once

#include <algorithm>
#include <set>
#include <unordered_set>

#include "lesson_test.h"
#include "reference.h"

namespace {

// Checks that low <= value <= high, which a NaN is not. `below` and `above` say what is wrong with
// the streams otherwise.
inline void check_within(const char* what, double value, double low, double high, const char* above,
                         const char* below) {
    const bool within = value >= low && value <= high;
    INFO((value > high ? above : below)
         << ": " << what << " is " << value << ", and chance allows " << low << " to " << high);
    CHECK(within);
}
inline void check_within(const char* what, double value, double low, double high,
                         const char* wrong) {
    check_within(what, value, low, high, wrong, wrong);
}

inline void check_range(const Rows& rows) {
    size_t outside = 0, count = 0;
    for (const auto& row : rows) {
        count += row.size();
        for (const float draw : row) outside += !(draw >= 0 && draw <= 1);
    }
    const bool all_inside = outside == 0;
    INFO(outside << " of " << count << " draws were never written, or are outside [0, 1]");
    REQUIRE(all_inside);
}

// Whether all draws together are uniform: mean, variance, and chi2 of 100 bins.
inline void check_uniform(const Rows& rows) {
    std::vector<double> bins(100);
    double count = 0, sum = 0, squares = 0;
    for (const auto& row : rows) {
        for (const float draw : row) {
            ++count;
            sum += draw;
            squares += (draw - 0.5) * (draw - 0.5);
            ++bins[std::min(99, int(draw * 100))];
        }
    }
    const double mean_sigma = std::sqrt(1 / (12 * count));
    check_within("the mean of all",
                 sum / count,
                 0.5 - 5 * mean_sigma,
                 0.5 + 5 * mean_sigma,
                 "the draws are too large",
                 "the draws are too small");
    const double variance = 1 / 12.0, sigma = std::sqrt(1 / (180 * count));
    check_within("the variance of all",
                 squares / count,
                 variance - 5 * sigma,
                 variance + 5 * sigma,
                 "too many draws are near 0 and 1",
                 "too many draws are near 1/2");
    double chi2 = 0;  // 99 degrees of freedom: mean 99, sigma sqrt(2 * 99)
    for (const double bin : bins) chi2 += (bin - count / 100) * (bin - count / 100) / (count / 100);
    const double chi2_sigma = std::sqrt(2 * 99.0);
    check_within("chi2 of 100 bins",
                 chi2,
                 99 - 5 * chi2_sigma,
                 99 + 5 * chi2_sigma,
                 "the draws are not uniform: some ranges of [0, 1) have too many, others too few",
                 "the draws fill [0, 1) more evenly than chance does: they follow a pattern");
}

// Whether draw k of a stream is related to draw k of the next stream.
inline void check_neighbours(const Rows& rows) {
    const size_t length = rows[0].size(), pairs = rows.size() - 1;
    size_t fewest = pairs;
    for (size_t k = 0; k < length; ++k) {
        std::set<float> differences;  // modulo 1
        for (size_t s = 1; s < rows.size(); ++s) {
            const float difference = rows[s][k] - rows[s - 1][k];
            differences.insert(difference < 0 ? difference + 1 : difference);
        }
        fewest = std::min(fewest, differences.size());
    }
    check_within("the number of distinct differences between neighbours at one draw",
                 double(fewest),
                 0.9 * double(pairs),
                 double(pairs),
                 "neighbouring streams differ by the same few constants");
    double all = 0, worst = 0;  // 12 times a product of deviations has mean 0 and sigma 1
    for (size_t s = 1; s < rows.size(); ++s) {
        double sum = 0;
        for (size_t k = 0; k < length; ++k) sum += 12 * (rows[s][k] - 0.5) * (rows[s - 1][k] - 0.5);
        worst = std::max(worst, std::fabs(sum / double(length)));
        all += sum;
    }
    const double count = double(pairs * length), bound = 5 / std::sqrt(count);
    check_within("the correlation of the worst pair",
                 worst,
                 0,
                 5 / std::sqrt(double(length)),
                 "two neighbouring streams are related");
    check_within("the correlation of all pairs",
                 all / count,
                 -bound,
                 bound,
                 "neighbouring streams are related: their draws rise and fall together",
                 "neighbouring streams are related: where one has large draws, the other has small "
                 "ones");
}

// Whether two successive draws of a stream are equal or related.
inline void check_successive(const Rows& rows) {
    double equal = 0, sum = 0, count = 0;
    for (const auto& row : rows) {
        for (size_t k = 0; k + 1 < row.size(); ++k, ++count) {
            equal += row[k] == row[k + 1];  // 24 bits: by chance once in 16 million
            sum += 12 * (row[k] - 0.5) * (row[k + 1] - 0.5);
        }
    }
    check_within("the number of draws that equal the one before",
                 equal,
                 0,
                 1,
                 "a stream gives the same draw twice in a row");
    const double bound = 5 / std::sqrt(count);
    check_within("the correlation of successive draws",
                 sum / count,
                 -bound,
                 bound,
                 "a draw is related to the one before it");
}

// Counts runs of three draws (72 bits: a chance of 1e-12 in all) that have occurred before.
inline size_t repeats(const std::vector<Rows>& seeds) {
    std::unordered_set<uint64_t> seen;
    size_t again = 0;
    for (const Rows& rows : seeds) {
        for (const auto& row : rows) {
            for (size_t k = 0; k + 2 < row.size(); ++k) {
                uint64_t hash = 0;
                for (size_t j = k; j < k + 3; ++j)
                    hash = wb::splitmix64(hash ^ uint64_t(row[j] * 16777216.0f));
                again += !seen.insert(hash).second;
            }
        }
    }
    return again;
}

// All of the above, the most telling first. `seeds` holds the streams of each of several seeds.
inline void check_independent(const std::vector<Rows>& seeds) {
    for (const Rows& rows : seeds) check_range(rows);
    check_within("the number of runs of three draws that occur again, in any stream or seed",
                 double(repeats(seeds)),
                 0,
                 0,
                 "streams overlap: the same draws occur in two places");
    for (const Rows& rows : seeds) {
        check_neighbours(rows);
        check_successive(rows);
    }
    for (const Rows& rows : seeds) check_uniform(rows);
}

}  // namespace
