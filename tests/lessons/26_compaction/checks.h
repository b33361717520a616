// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 26.
//
// Tolerance: none, elements are copied. All elements are different, so that an output element shows
// where it came from. Outputs start as NaN, and the places after the kept elements must stay NaN.
#pragma once

#include <algorithm>
#include <limits>

#include "compaction.h"
#include "lesson_test.h"

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int>;

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr float kLimit = 0.25f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kSizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8193, 70001};

// n different floats: those with keep(i) above the limit, the others below it or equal to it.
inline Floats elements(int n, uint64_t seed, const std::function<bool(int)>& keep) {
    Floats x(n);
    for (int i = 0; i < n; ++i) {
        // The fraction is random, the rest is the index.
        const float size = 1.0f + float(i) + 0.5f * wb::uniform_float(seed, i);
        x[i] = keep(i) ? kLimit + size : kLimit - size;
    }
    return x;
}

// About `percent` of all are kept.
inline Floats random_elements(int n, uint64_t seed, int percent = 40) {
    return elements(
        n, seed, [=](int i) { return int(wb::random_bits(seed + 1, i) % 100) < percent; });
}

// Compared as whole numbers, since a NaN is not equal to itself.
inline Ints bits_of(const Floats& x) {
    Ints bits(x.size());
    if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
    return bits;
}

inline bool passes(float value) {
    return value > kLimit;
}

inline int number_of(const Floats& x) {
    return int(std::count_if(x.begin(), x.end(), passes));
}

// Checks a returned number; `before_last`: the number of kept elements in all tiles but the last.
inline void check_number(int got, int want, int before_last,
                         const std::vector<wb::Mistake<int>>& others = {}) {
    const bool right = got == want;
    INFO("the returned number: got " << got << ", want " << want);
    CHECK(right);
    std::vector<wb::Mistake<int>> mistakes = others;
    mistakes.push_back({"the returned number leaves out the kept elements of the last tile",
                        [&] { return Ints{before_last}; }});
    mistakes.push_back({"the returned number counts only the last tile",
                        [&] { return Ints{want - before_last}; }});
    wb::recognize<int>({got}, {want}, mistakes);
}

// Scratch memory of exactly the promised size.
struct Scratch {
    explicit Scratch(int n) : memory(scratch_bytes(n) / sizeof(uint64_t), wb::guard(kGuard)) {}
    ~Scratch() { CHECK(memory.intact()); }
    wb::GuardedBuffer<uint64_t> memory;
};

// Data for which mistakes are likely.
inline void check_patterns(int n, const std::function<void(const Floats&)>& check) {
    check(elements(n, 11, [](int) { return false; }));
    check(elements(n, 12, [](int) { return true; }));
    check(elements(n, 13, [](int i) { return i % 2 == 1; }));
    check(elements(n, 14, [n](int i) { return i == n - 1; }));
    check(elements(n, 15, [](int i) { return i == 0; }));
    check(elements(n, 16, [](int i) { return i / 32 % 2 == 0; }));
}

}  // namespace
