// SPDX-License-Identifier: MIT
// Comparing arrays so that a failure shows where and what: for the lessons' tests and workloads.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "details.h"

namespace wb {
namespace {

template <class T>
std::string shown(T value, int digits = 9) {
    std::ostringstream out;
    out.precision(digits);
    out << +value;
    return out.str();
}

// |a - b|; exact for integers, where a difference of 1 may be lost in a double.
template <class T>
double difference(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return a < b ? double(uint64_t(b) - uint64_t(a)) : double(uint64_t(a) - uint64_t(b));
    else
        return std::fabs(double(a) - double(b));
}

// "" when all elements agree within `tolerance` (absolute; 0: exactly), else a text with the first
// wrong ones, their values and how many more. NaN-safe: a NaN never agrees with a number. The
// form "element I: got X, want Y" is read by the grader's diagnosis: keep it. With `columns`, the
// array is a matrix in rows of that many elements, and an element is shown as `row R, column C`.
template <class T>
std::string mismatch(
    const std::vector<T>& got, const std::vector<T>& want,
    std::function<double(size_t)> tolerance = [](size_t) { return 0.0; },
    const char* what = "element", size_t columns = 0) {
    if (got.size() != want.size())
        return "got " + std::to_string(got.size()) + " elements, want " +
               std::to_string(want.size());
    std::ostringstream text;
    size_t wrong = 0;
    std::vector<uint8_t> is_wrong(got.size());
    for (size_t i = 0; i < got.size(); ++i) {
        const bool same = got[i] == want[i];  // infinities too
        if (same || difference(got[i], want[i]) <= tolerance(i)) continue;
        is_wrong[i] = 1;
        if (wrong++ >= 5) continue;
        text << (wrong > 1 ? "\n" : "") << what << " " << i;
        if (columns) text << " (row " << i / columns << ", column " << i % columns << ")";
        // Doubles may differ after the ninth digit.
        const int digits = shown(got[i]) == shown(want[i]) ? 17 : 9;
        text << ": got " << shown(got[i], digits) << ", want " << shown(want[i], digits);
    }
    if (wrong > 5) text << "\nand " << wrong - 5 << " more of " << got.size() << " wrong";
    if (wrong)
        details::note_arrays(
            details::Numbers(got), details::Numbers(want), is_wrong, what, columns);
    return text.str();
}

template <class T>
std::string matrix_mismatch(
    size_t columns, const std::vector<T>& got, const std::vector<T>& want,
    std::function<double(size_t)> tolerance = [](size_t) { return 0.0; }) {
    return mismatch(got, want, tolerance, "element", columns);
}

}  // namespace
}  // namespace wb
