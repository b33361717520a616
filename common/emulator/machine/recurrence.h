// SPDX-License-Identifier: MIT
// Whether a launch in which everybody polls can still come to an end: not once the same state has
// come again, registers and all, as what follows is the same each time.
#pragma once

#include <cstdint>

namespace machine {

// Finds a cycle of any length in a row of states and keeps only one of them (R. P. Brent, "An
// improved Monte Carlo factorization algorithm", BIT 20, 1980, section 2).
class Recurrence {
public:
    // Whether `state`, a hash, has come before; may say so a few cycles late.
    bool again(uint64_t state) {
        if (steps_ != 0 && state == kept_) return true;
        if (steps_ == power_ || steps_ == 0) {
            kept_ = state;
            power_ = steps_ == 0 ? 1 : power_ * 2;
            steps_ = 0;
        }
        ++steps_;
        return false;
    }

private:
    uint64_t kept_ = 0, power_ = 1, steps_ = 0;
};

// Hash of many 64-bit words, one after the other.
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
