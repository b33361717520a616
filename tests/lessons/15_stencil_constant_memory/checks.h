// SPDX-License-Identifier: MIT
// What the tests of lesson 15 share.
//
// Tolerance: the reference works in double. A sum of m products in float, in any order, with or
// without fused multiply-add, is off by at most (m + 1) * 2^-24 * sum |w x|, to first order; a mean
// of m elements by (m + 1) * 2^-24 * sum |x| / m. Outputs start as NaN.
#pragma once

#include "lesson_test.h"
#include "stencil_constant_memory.h"

// Messages name it as the student's code does.
template <>
struct Catch::StringMaker<Border> {
    static std::string convert(Border value) {
        constexpr const char* kNames[] = {"kClamp", "kZero"};
        return kNames[int(value)];
    }
};

namespace {

constexpr size_t kGuard = 2048;  // elements on each side of every array, on a real GPU
constexpr double kUlp = 0x1p-24;
constexpr int kSizes[] = {1, 2, 5, 31, 32, 33, 100, 255, 256, 257, 1000, 1023, 4099};

struct Reference {
    std::vector<float> value;
    std::vector<double> bound;
};

inline void check_close(const std::vector<float>& got, const Reference& want) {
    CHECK_ARRAYS(got, want.value, [&](size_t i) { return want.bound[i]; });
}

}  // namespace
