// SPDX-License-Identifier: MIT
// Lesson 13 on the host: lists of any length, none of them special, events of electrons, and the
// heaviest pair of each, or the pair that a common mistake takes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/host/data.h"
#include "ragged_arrays.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr int kUnowned = 40;     // elements after the last list, where some come before the first
constexpr double kPi = 3.14159265358979323846;

using Sum = void (*)(const float*, const int*, float*, int);
using Lists = std::vector<std::vector<float>>;

// Lists of the given lengths, filled at random.
inline Lists lists_of(const std::vector<int>& lengths, uint64_t seed) {
    Lists out;
    for (size_t k = 0; k < lengths.size(); ++k)
        out.push_back(wb::random_floats(lengths[k], seed + 1000003 * k));
    return out;
}

// Offsets and content. `before` elements that belong to no list come first.
struct Ragged {
    explicit Ragged(const std::vector<int>& lengths, int before = 0)
        : offsets{before}, content_size(before) {
        for (const int length : lengths) offsets.push_back(content_size += length);
    }
    std::vector<int> offsets;
    int content_size;
};

inline std::vector<int> lengths_of(const Lists& lists) {
    std::vector<int> out;
    for (const auto& list : lists) out.push_back(int(list.size()));
    return out;
}

// For each list the sum from its begin + first to its end + last, in steps of `step`.
inline std::vector<float> sums_of_ranges(const Lists& lists, int first, int last, int step = 1) {
    std::vector<float> all, out;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    int at = 0;
    for (const auto& list : lists) {
        double total = 0;
        const int end = at + int(list.size());
        for (int i = std::max(0, at + first); i < end + last && i < int(all.size()); i += step)
            total += all[i];
        out.push_back(float(total));
        at = end;
    }
    return out;
}

// For each list what `of` returns for it and for the place in the content where it begins.
template <class F>
std::vector<float> by_list(const Lists& lists, F of) {
    std::vector<float> out;
    size_t at = 0;
    for (const auto& list : lists) {
        out.push_back(float(of(list, at)));
        at += list.size();
    }
    return out;
}

// The sum of what the lanes `first` to 31 have added, each in steps of `step`.
inline double of_lanes(const std::vector<float>& list, size_t first, size_t step) {
    double total = 0;
    for (size_t lane = first; lane < 32; ++lane)
        for (size_t i = lane; i < list.size(); i += step) total += list[i];
    return total;
}

// The sum of the first `most` elements of each list.
inline std::vector<float> sums_of_some(const Lists& lists, size_t most) {
    std::vector<float> out;
    for (const auto& list : lists) {
        double total = 0;
        for (size_t i = 0; i < std::min(most, list.size()); ++i) total += list[i];
        out.push_back(float(total));
    }
    return out;
}

struct Event {
    std::vector<float> pt, eta, phi;
    std::vector<int> charge;
    int size() const { return int(pt.size()); }
    void add(double p, double e, double f, int q) {
        pt.push_back(float(p));
        eta.push_back(float(e));
        phi.push_back(float(f));
        charge.push_back(q);
    }
};

inline Event random_event(int size, uint64_t seed) {
    Event out;
    const auto number = [&](uint64_t k) { return wb::uniform_float(seed, k); };
    for (int i = 0; i < size; ++i)
        out.add(-20 * std::log(1 - 0.999 * number(5 * i)),
                -2.4 + 4.8 * number(5 * i + 1),
                kPi * (2 * number(5 * i + 2) - 1),
                number(5 * i + 3) < 0.5f ? -1 : 1);
    return out;
}

// Which pair of an event is taken: the right one, or what is often written instead.
enum class Pick {
    kHeaviest,
    kAnyCharge,
    kEqual,
    kFirst,
    kLast,
    kLightest,
    kNeighbours,
    kWithFirst,
    kNotZero,
    kBreaksOff,     // the pairs of an electron, at the first one of equal charge
    kReturns,       // at the first pair of equal charge
    kSwapped,       // eta and phi
    kSameMomentum,  // pt of the first electron for both
};

// What heaviest_pairs must find, in double; bound: how far off a float may be.
struct Answer {
    double mass = 0, bound = 0;
    bool valid = false;
};
inline Answer answer(const Event& e, Pick pick = Pick::kHeaviest) {
    Answer best;
    for (int i = 0; i < e.size(); ++i)
        for (int j = i + 1; j < e.size(); ++j) {
            if (pick == Pick::kBreaksOff && e.charge[i] == e.charge[j]) break;
            if (pick == Pick::kReturns && e.charge[i] == e.charge[j]) return best;
            if (pick != Pick::kAnyCharge && (e.charge[i] == e.charge[j]) != (pick == Pick::kEqual))
                continue;
            if (pick == Pick::kNeighbours && j != i + 1) continue;
            if (pick == Pick::kWithFirst && i > 0) continue;
            double deta = double(e.eta[i]) - e.eta[j], dphi = double(e.phi[i]) - e.phi[j];
            if (pick == Pick::kSwapped) std::swap(deta, dphi);
            const double other = e.pt[pick == Pick::kSameMomentum ? i : j];
            const double a = std::sinh(deta / 2), b = std::sin(dphi / 2);
            const double mass = 2 * std::sqrt(e.pt[i] * other * (a * a + b * b));
            const double opening = std::hypot(deta, std::remainder(dphi, 2 * kPi));
            const double wrap = std::fabs(dphi) > kPi ? 5e-7 / opening : 0;
            best.bound = std::max(best.bound, mass * (2e-6 + wrap));
            const bool better = pick == Pick::kLast       ? true
                                : pick == Pick::kFirst    ? !best.valid
                                : pick == Pick::kLightest ? !best.valid || mass < best.mass
                                                          : mass > best.mass;
            if (better) best.mass = mass;
            best.valid |= pick != Pick::kNotZero || mass > 0;
        }
    return best;
}

constexpr std::pair<Pick, const char*> kWrongPicks[] = {
    {Pick::kAnyCharge, "pairs of equal charge are taken as well"},
    {Pick::kEqual, "pairs of equal charge are taken, and opposite ones are not"},
    {Pick::kFirst, "the first pair of opposite charge is taken, not the heaviest"},
    {Pick::kLast, "the last pair of opposite charge is taken, not the heaviest"},
    {Pick::kLightest, "the lightest pair is taken"},
    {Pick::kNeighbours, "only neighbours in the list are paired"},
    {Pick::kWithFirst, "only pairs with the first electron of an event are looked at"},
    {Pick::kNotZero, "a pair whose mass is 0 is not counted as a pair"},
    {Pick::kBreaksOff, "the pairs of an electron end at the first one of equal charge"},
    {Pick::kReturns, "the search ends at the first pair of equal charge"},
    {Pick::kSwapped, "eta and phi are swapped"},
    {Pick::kSameMomentum, "both electrons of a pair have the pt of the first"},
};

inline std::vector<Event> random_events(int n, int most, uint64_t seed) {
    std::vector<Event> out;
    const auto sizes = wb::random_ints(n, seed, 0, most);
    for (int k = 0; k < n; ++k) out.push_back(random_event(sizes[k], seed + 7919 * (k + 1)));
    return out;
}

// Lists of eighths, 1/8 to 1: the sum of 100,000 is below 2^24 eighths. The bound above would let
// a long list of values of both signs lose many of them.
inline Lists eighths_of(const std::vector<int>& lengths, uint64_t seed) {
    Lists lists;
    for (size_t k = 0; k < lengths.size(); ++k) {
        lists.emplace_back();
        for (const int eighth : wb::random_ints(lengths[k], seed + k, 1, 8))
            lists.back().push_back(float(eighth) / 8);
    }
    return lists;
}

const Lists kThreeLists{{1.1f, 2.2f, 3.3f}, {}, {4.4f, 5.5f}};  // 6.6, 0, 9.9

}  // namespace
