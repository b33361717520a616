// SPDX-License-Identifier: MIT
#include "checks/record/counter_rules.h"

#include <algorithm>
#include <array>
#include <bit>

namespace checks {
namespace {

using machine::AccessKind;
using machine::kWarpSize;

// A set of at most 64 numbers.
class SmallSet {
public:
    void insert(uint64_t value) {
        uint32_t at = uint32_t(value * 0x9e3779b97f4a7c15ull >> 57);
        // Bytes: no insertion waits for the one before, as it would for the bits of one word.
        while (const uint32_t number = number_[at]) {
            if (value_[number - 1] == value) return;
            at = (at + 1) % kSlots;
        }
        value_[count_++] = value;
        number_[at] = uint8_t(count_);
    }
    uint32_t count() const { return count_; }

private:
    static constexpr uint32_t kSlots = 128;
    std::array<uint64_t, 64> value_;
    std::array<uint8_t, kSlots> number_{};  // of the value in this slot, from 1 on; 0: free
    uint32_t count_ = 0;
};

// The most words that one bank must serve for these lanes; the same word counts once.
uint32_t bank_wavefronts(uint32_t lanes, const uint32_t* offset, uint32_t bytes) {
    constexpr uint32_t kBanks = 32, kNone = ~0u;
    const uint32_t words = bytes <= 4 ? 1 : bytes / 4;
    // Usually no bank has a second word: one table of first words, and lists only for the others.
    std::array<uint32_t, kBanks> first;
    first.fill(kNone);
    std::array<uint32_t, kWarpSize * 4> more;
    uint32_t others = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t word = offset[std::countr_zero(m)] / 4;
        for (uint32_t i = word; i < word + words; ++i) {
            uint32_t& here = first[i % kBanks];
            if (here == kNone) here = i;
            if (here != i) more[others++] = i;
        }
    }
    if (others == 0) return lanes ? 1 : 0;
    std::sort(more.begin(), more.begin() + others);
    std::array<uint32_t, kBanks> depth;
    depth.fill(1);
    for (uint32_t i = 0; i < others; ++i)
        if (i == 0 || more[i] != more[i - 1]) ++depth[more[i] % kBanks];
    return *std::max_element(depth.begin(), depth.end());
}

// Whether every active lane's partner (lane ^ distance) is inactive or on the same address.
bool paired(uint32_t lanes, const uint32_t* offset, uint32_t distance) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m)), partner = lane ^ distance;
        if (lanes >> partner & 1 && offset[lane] != offset[partner]) return false;
    }
    return true;
}

}  // namespace

uint32_t global_sectors(uint32_t mask, const uint64_t* address, uint32_t bytes) {
    uint64_t low = ~uint64_t(0), high = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t a = address[std::countr_zero(m)];
        low = std::min(low, a);
        high = std::max(high, a + bytes - 1);
    }
    const uint64_t base = low >> 5;
    if ((high >> 5) - base < 64) {
        uint64_t seen = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            const uint64_t a = address[std::countr_zero(m)];
            seen |= uint64_t(1) << ((a >> 5) - base) | uint64_t(1)
                                                           << (((a + bytes - 1) >> 5) - base);
        }
        return uint32_t(std::popcount(seen));
    }
    SmallSet seen;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t a = address[std::countr_zero(m)];
        seen.insert(a >> 5);
        if (a >> 5 != (a + bytes - 1) >> 5) seen.insert((a + bytes - 1) >> 5);
    }
    return seen.count();
}

uint32_t atomic_sectors(uint32_t mask, const uint64_t* address, uint32_t bytes) {
    (void)bytes;  // atomics are aligned: one segment each
    std::array<uint64_t, kWarpSize> sorted;
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1) sorted[n++] = address[std::countr_zero(m)];
    std::sort(sorted.begin(), sorted.begin() + n);
    uint32_t total = 0, most = 0, run = 0;
    for (uint32_t i = 0; i < n; ++i) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (i && sorted[i] >> 5 != sorted[i - 1] >> 5) {
            total += most;
            most = 0;
        }
        most = std::max(most, run);
    }
    return total + most;
}

SharedCost shared_cost(AccessKind kind, uint32_t mask, const uint32_t* offset, uint32_t bytes) {
    const uint32_t passes = bytes <= 4 ? 1 : bytes / 4, lanes = kWarpSize / passes;
    const bool merge = passes > 1 && kind == AccessKind::kLoad &&
                       (paired(mask, offset, 1) || paired(mask, offset, 2));
    const uint32_t width = merge ? lanes * 2 : lanes;
    SharedCost cost;
    for (uint32_t first = 0; first < kWarpSize; first += width) {
        const uint32_t these = width == kWarpSize ? mask : mask & ((1u << width) - 1) << first;
        if (!these) continue;
        const uint32_t wavefronts = bank_wavefronts(these, offset, bytes);
        cost.wavefronts += wavefronts;
        cost.conflicts += wavefronts - 1;
    }
    return cost;
}

}  // namespace checks
