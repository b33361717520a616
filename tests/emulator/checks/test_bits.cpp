// SPDX-License-Identifier: MIT
// The bitmap of written bytes against one flag per byte.
#include <algorithm>
#include <random>
#include <vector>

#include "catch/catch.h"
#include "checks/uninitialized/bits.h"

TEST_CASE("bits: agree with one flag per byte", "[checks][bits]") {
    std::mt19937 random(7);
    const uint64_t size = 700;
    checks::Bits bits(size), other(size);
    std::vector<bool> flags(size), other_flags(size);
    for (int round = 0; round < 20000; ++round) {
        const uint64_t start = random() % size;
        const uint64_t count = 1 + random() % std::min<uint64_t>(size - start, 1 + random() % 600);
        switch (random() % 6) {
        case 0:
            bits.set(start, count);
            std::fill_n(flags.begin() + start, count, true);
            break;
        case 1:
            bits.reset(start, count);
            std::fill_n(flags.begin() + start, count, false);
            break;
        case 2: {
            const uint32_t few = uint32_t(std::min<uint64_t>(count, 16));
            bits.set_small(start, few);
            std::fill_n(flags.begin() + start, few, true);
            break;
        }
        case 3: {
            const uint64_t from = random() % (size - count + 1);
            bits.copy(start, other, from, count);
            std::copy_n(other_flags.begin() + from, count, flags.begin() + start);
            break;
        }
        case 4: {
            const uint64_t from = random() % (size - count + 1);
            bits.copy(start, bits, from, count);
            std::vector<bool> moved(flags.begin() + from, flags.begin() + from + count);
            std::copy(moved.begin(), moved.end(), flags.begin() + start);
            break;
        }
        default:
            other.set(start, count);
            std::fill_n(other_flags.begin() + start, count, true);
            if (random() % 3 == 0)
                other.clear(), std::fill(other_flags.begin(), other_flags.end(), false);
        }
        const uint64_t at = random() % size;
        const uint64_t length = 1 + random() % std::min<uint64_t>(size - at, 520);
        const auto first = flags.begin() + at, last = first + length;
        CHECK(bits.all(at, length) == (std::find(first, last, false) == last));
        CHECK(bits.any(at, length) == (std::find(first, last, true) != last));
        if (length <= 16) CHECK(bits.all_small(at, uint32_t(length)) == bits.all(at, length));
    }
}
