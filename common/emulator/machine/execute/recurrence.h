// SPDX-License-Identifier: MIT
// Detects that a launch in which all warps poll cannot end: the same state, registers included, has
// recurred, so everything after it repeats as well.
#pragma once

#include <cstdint>

namespace machine {

// Finds a cycle of any length in a sequence of states and stores only one of them (R. P. Brent, "An
// improved Monte Carlo factorization algorithm", BIT 20, 1980, section 2).
class Recurrence {
public:
    // Whether `state`, a hash, has occurred before. May detect it a few cycles late.
    bool again(uint64_t state) {
        if (steps_ != 0 && state == saved_) return true;
        if (steps_ == power_ || steps_ == 0) {
            saved_ = state;
            power_ = steps_ == 0 ? 1 : power_ * 2;
            steps_ = 0;
        }
        ++steps_;
        return false;
    }

private:
    uint64_t saved_ = 0, power_ = 1, steps_ = 0;
};

// Hash of a sequence of 64-bit words.
class Fingerprint {
public:
    void add(uint64_t word) {
        value_ = (value_ ^ word) * 0x9e3779b97f4a7c15ull;
        value_ ^= value_ >> 29;
    }
    uint64_t value() const { return value_; }

private:
    uint64_t value_ = 0;
};

}  // namespace machine
