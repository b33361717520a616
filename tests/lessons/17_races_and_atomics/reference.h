// SPDX-License-Identifier: MIT
// Lesson 17 on the host: sizes of arrays, and which of their elements are above a limit.
#pragma once

#include <vector>

#include "races_and_atomics.h"

namespace {

using Count = unsigned long long;

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr int kSizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4096, 10007};

inline std::vector<int> indexes_above(const std::vector<float>& x, float limit) {
    std::vector<int> found;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] > limit) found.push_back(int(i));
    return found;
}

}  // namespace
