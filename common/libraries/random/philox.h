// SPDX-License-Identifier: MIT
// Philox4x32-10: random numbers as a function of a key and a counter (J. K. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Every number of the sequence costs
// the same.
#pragma once

#include <array>
#include <cstdint>

namespace random_numbers {

class Philox {
public:
    explicit Philox(uint64_t seed) : key_{uint32_t(seed), uint32_t(seed >> 32)} {}

    // Number `index` of the sequence. Four numbers share one counter.
    uint32_t operator()(uint64_t index) {
        if (index / 4 != counter_) {
            counter_ = index / 4;
            block_ = block(counter_);
        }
        return block_[index % 4];
    }

private:
    std::array<uint32_t, 4> block(uint64_t counter) const {
        std::array<uint32_t, 4> c{uint32_t(counter), uint32_t(counter >> 32), 0, 0};
        std::array<uint32_t, 2> key = key_;
        for (int round = 0; round < 10; ++round) {
            const uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
            c = {uint32_t(b >> 32) ^ c[1] ^ key[0],
                 uint32_t(b),
                 uint32_t(a >> 32) ^ c[3] ^ key[1],
                 uint32_t(a)};
            key[0] += 0x9E3779B9u;
            key[1] += 0xBB67AE85u;
        }
        return c;
    }

    std::array<uint32_t, 2> key_;
    uint64_t counter_ = ~uint64_t(0);
    std::array<uint32_t, 4> block_{};
};

}  // namespace random_numbers
