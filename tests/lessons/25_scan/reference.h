// SPDX-License-Identifier: MIT
// Lesson 25 on the host: input data, their correct scans for both kinds and all operations, and the
// results of common mistakes.
//
// Inputs for running maxima are negative numbers that grow, so that every element matters and 0 is
// larger than all. Inputs for Fill have stretches of zeros that are longer than a tile.
#pragma once

#include <algorithm>
#include <climits>

#include "lesson_test.h"
#include "scan.h"

namespace {

using Ints = std::vector<int>;
using Scan = std::function<void(const int*, int*, int)>;

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr Operation kOperations[] = {Operation::kSum, Operation::kFill};
constexpr int kSizes[] = {
    1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8191, 8192, 12289, 70001, 100003};
constexpr int kLarge = (1 << 20) + 1;

inline int identity(Operation op) {
    return op == Operation::kMax ? INT_MIN : 0;
}
inline int combined(Operation op, int a, int b) {
    if (op == Operation::kMax) return std::max(a, b);
    if (op == Operation::kFill) return b != 0 ? b : a;
    return int(unsigned(a) + unsigned(b));
}

inline Ints data(Operation op, int n, uint64_t seed) {
    Ints x = wb::random_ints(n, seed, -1000, 1000);
    for (int i = 0; i < n; ++i) {
        if (op == Operation::kMax) x[i] += i / 8 - n - 2000;
        if (op == Operation::kFill && (i / 9000 % 2 || x[i] % 8 || x[i] == 0)) x[i] = 0;
    }
    // The first element counts for all of them.
    if (op == Operation::kFill && n > 0) x[0] = 4321;
    return x;
}

// The correct scan of each group of `group` elements. `before(first)` is the carry of the group
// that begins with element `first`, where it is not the identity.
inline Ints scanned(Operation op, Kind kind, const Ints& x, size_t group,
                    const std::function<int(size_t)>& before = nullptr) {
    Ints out(x.size());
    int sum = identity(op);
    for (size_t i = 0; i < x.size(); ++i) {
        if (i % group == 0) sum = before ? before(i) : identity(op);
        if (kind == Kind::kExclusive) out[i] = sum;
        sum = combined(op, sum, x[i]);
        if (kind == Kind::kInclusive) out[i] = sum;
    }
    return out;
}

// The results of common mistakes for `x`, scanned in groups of `group`, by rounds of `round`
// threads.
inline std::vector<wb::Mistake<int>> mistakes(Operation op, Kind kind, const Ints& x, size_t group,
                                              size_t round) {
    const Kind other = kind == Kind::kInclusive ? Kind::kExclusive : Kind::kInclusive;
    const auto of_groups = [=](size_t size, auto&& before) {
        return scanned(op, kind, x, size, [=](size_t first) { return before(first); });
    };
    const auto sum_of = [=](size_t first, size_t last) {
        int sum = identity(op);
        for (size_t i = first; i < std::min(last, x.size()); ++i) sum = combined(op, sum, x[i]);
        return sum;
    };
    std::vector<wb::Mistake<int>> all{
        {kind == Kind::kExclusive ? "an inclusive scan: each element counts itself"
                                  : "an exclusive scan: no element counts itself",
         [=] { return scanned(op, other, x, group); }},
        {"each warp begins anew: the sum of the warps before it is missing",
         [=] { return scanned(op, kind, x, 32); }},
        {"the input, as it is", [=] { return x; }},
        {"each element is combined with its neighbour only: one step is done",
         [=] {
             Ints out = x;
             for (size_t i = 1; i < x.size(); ++i)
                 if (i % 32) out[i] = combined(op, x[i - 1], x[i]);
             return out;
         }},
        {"the two values are combined in the wrong order: which one comes first?",
         [=] {
             Ints out(x.size());
             int sum = identity(op);
             for (size_t i = 0; i < x.size(); ++i) {
                 if (i % group == 0) sum = identity(op);
                 if (kind == Kind::kExclusive) out[i] = sum;
                 sum = combined(op, x[i], sum);
                 if (kind == Kind::kInclusive) out[i] = sum;
             }
             return out;
         }},
    };
    // The mistake shows in all elements, or only in a block's first warp: other warps add totals.
    for (const size_t reach : {group, size_t(32)})
        if (op == Operation::kMax)
            all.push_back(
                {"0 is among the values, though it is no element: what is the identity?", [=] {
                     Ints out = scanned(op, kind, x, group);
                     for (size_t i = 0; i < out.size(); ++i)
                         if (i % group < reach) out[i] = std::max(out[i], 0);
                     return out;
                 }});
    if (group == 32)
        all.push_back({"lanes below `step` are combined as well: __shfl_up_sync gives them their "
                       "own value",
                       [=] {
                           Ints out = x;
                           for (size_t step = 1; step < 32; step *= 2) {
                               const Ints before = out;
                               for (size_t i = 0; i < x.size(); ++i) {
                                   const size_t from = i % 32 < step ? i : i - step;
                                   out[i] = combined(op, before[from], before[i]);
                               }
                           }
                           return out;
                       }});
    if (round < group && round < x.size()) {
        all.push_back({"each round of a block begins anew: where is the carry?",
                       [=] { return scanned(op, kind, x, round); }});
        all.push_back(
            {"a round's carry is the total of the round before alone, not of all before", [=] {
                 return of_groups(round, [=](size_t first) {
                     return first % group ? sum_of(first - round, first) : identity(op);
                 });
             }});
    }
    if (group >= x.size())
        all.push_back({"a tile's carry holds its own total already: are the totals scanned "
                       "inclusively?",
                       [=] {
                           return of_groups(kTile,
                                            [=](size_t first) { return sum_of(0, first + kTile); });
                       }});
    if (group >= x.size() && x.size() > kTile) {
        all.push_back({"each tile begins anew: its carry is missing",
                       [=] { return scanned(op, kind, x, kTile); }});
        all.push_back(
            {"a tile's carry is the total of the tile before alone, not of all before", [=] {
                 return of_groups(kTile, [=](size_t first) {
                     return first ? sum_of(first - kTile, first) : identity(op);
                 });
             }});
        all.push_back({"a tile's carry is its own total", [=] {
                           return of_groups(
                               kTile, [=](size_t first) { return sum_of(first, first + kTile); });
                       }});
    }
    return all;
}

}  // namespace
