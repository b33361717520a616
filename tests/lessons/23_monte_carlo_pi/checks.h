// SPDX-License-Identifier: MIT
// What the tests of lesson 23 say of a wrong count, and of a number that should lie between two
// bounds.
#pragma once

#include "lesson_test.h"
#include "reference.h"

namespace {

// `of`: which samples, in words.
inline void check_hits(const std::string& of, uint64_t got, uint64_t want) {
    const bool right = got == want;
    INFO("hits of " << of << ": got " << got << ", want " << want);
    CHECK(right);
}

inline void check_within(const std::string& what, double value, double low, double high) {
    INFO(what << ": " << value << ", allowed " << low << " to " << high);
    const bool within = value >= low && value <= high;
    CHECK(within);
}

}  // namespace
