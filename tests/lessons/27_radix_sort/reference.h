// SPDX-License-Identifier: MIT
// Lesson 27 on the host: keys, their correct order, and the results of common mistakes, by which
// the grader names a mistake. For the lesson's test only.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "lesson_test.h"
#include "radix_sort.h"

namespace {

using Ints = std::vector<int>;
using Words = std::vector<unsigned>;
template <class Key>
using Keys = std::vector<Key>;

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr int kSizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 12289};
constexpr int kLarge = (1 << 20) + 7;

inline double exact(size_t) {
    return 0.0;
}

// The bits of a key, and an unsigned number of the same size whose order is that of the keys.
template <class Key>
using BitsOf = std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t>;
template <class Key>
BitsOf<Key> bits_of(Key key) {
    BitsOf<Key> bits;
    std::memcpy(&bits, &key, sizeof bits);
    return bits;
}
template <class Key>
Keys<BitsOf<Key>> bits_of(const Keys<Key>& keys) {
    Keys<BitsOf<Key>> bits(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) bits[i] = bits_of(keys[i]);
    return bits;
}
template <class Key>
BitsOf<Key> sortable(Key key) {
    using Bits = BitsOf<Key>;
    const Bits bits = bits_of(key), sign = Bits(1) << (8 * sizeof(Key) - 1);
    if (std::is_unsigned_v<Key>) return bits;
    if (std::is_floating_point_v<Key> && (bits & sign)) return ~bits;
    return bits ^ sign;
}
template <class Bits>
unsigned digit(Bits bits, int shift, int width) {
    return unsigned(bits >> shift & ((Bits(1) << width) - 1));
}
template <class Key>
Key key_of(BitsOf<Key> bits) {
    Key key;
    std::memcpy(&key, &bits, sizeof key);
    return key;
}

// n random keys. Unsigned keys and ints have random bits; floats and doubles have both signs.
template <class Key>
Keys<Key> random_keys(int n, uint64_t seed) {
    Keys<Key> keys(n);
    for (int i = 0; i < n; ++i) {
        const uint64_t bits = wb::random_bits(seed, i);
        if constexpr (std::is_floating_point_v<Key>)
            keys[i] = Key((double(bits >> 11) * 0x1p-53 - 0.5) * (i % 3 ? 2e3 : 2e-3));
        else
            keys[i] = key_of<Key>(BitsOf<Key>(bits >> 32));
    }
    return keys;
}
// A few different keys, each many times.
template <class Key>
Keys<Key> few_keys(int n, uint64_t seed, int different) {
    const Keys<Key> all = random_keys<Key>(different, seed);
    Keys<Key> keys(n);
    for (int i = 0; i < n; ++i) keys[i] = all[wb::random_bits(seed + 1, i) % different];
    return keys;
}
inline Words random_words(int n, uint64_t seed) {
    return random_keys<unsigned>(n, seed);
}
inline Words random_digits(int n, uint64_t seed, unsigned different) {
    Words digits(n);
    for (int i = 0; i < n; ++i)
        digits[i] = unsigned(wb::random_bits(seed, i) % different * (kDigits / different));
    return digits;
}

// The correct result, and the results of common mistakes.
template <class Key>
struct Sorted {
    Keys<Key> keys;
    Words values;
};
template <class Key, class By>
Sorted<Key> sorted_by(const Keys<Key>& keys, const Words& values, const By& by) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(
        order.begin(), order.end(), [&](size_t a, size_t b) { return by(keys[a]) < by(keys[b]); });
    Sorted<Key> out;
    for (const size_t i : order) {
        out.keys.push_back(keys[i]);
        if (!values.empty()) out.values.push_back(values[i]);
    }
    return out;
}

// The mistakes of a sort by the bits [0, bits).
template <class Key>
std::vector<wb::Mistake<Key>> mistakes(const Keys<Key>& keys, int bits) {
    const auto by = [&keys](auto&& f) { return sorted_by(keys, {}, f).keys; };
    const auto low = [](int count) {
        return [count](Key key) {
            return count >= int(8 * sizeof(Key))
                       ? sortable(key)
                       : BitsOf<Key>(sortable(key) & ((BitsOf<Key>(1) << count) - 1));
        };
    };
    const int last = (bits - 1) / kDigitBits * kDigitBits;  // where the last digit begins
    return {
        {"the input, as it is", [&keys] { return keys; }},
        {"negative keys come after the others",
         [=] { return by([](Key k) { return bits_of(k); }); }},
        {"negative keys are in the opposite order: only their sign is inverted",
         [=] {
             const auto sign = BitsOf<Key>(1) << (8 * sizeof(Key) - 1);
             return by([=](Key k) { return BitsOf<Key>(bits_of(k) ^ sign); });
         }},
        {"sorted by the lowest digit only: one pass is done", [=] { return by(low(kDigitBits)); }},
        {"the last pass is missing, or its result is in the other array",
         [=] { return by(low(last)); }},
        {"bits above the lowest `bits` are not ignored",
         [=] { return by([](Key k) { return sortable(k); }); }},
        {"the last digit has 8 bits, and not only those that matter",
         [=] { return by(low(last + kDigitBits)); }},
        {"sorted only by the highest digit: does each pass read the result of the one before?",
         [=] {
             return by([=](Key k) {
                 return digit(sortable(k), last, std::min(kDigitBits, bits - last));
             });
         }},
        {"sorted by the lowest bits that fill whole digits",
         [=] { return by(low(bits / kDigitBits * kDigitBits)); }},
        {"the highest digit comes first: each pass destroys the order of the one before",
         [=] {
             Keys<Key> now = keys;
             for (int shift = last; shift >= 0; shift -= kDigitBits)
                 now = sorted_by(now, {}, [=](Key k) {
                           return digit(sortable(k), shift, std::min(kDigitBits, bits - shift));
                       }).keys;
             return now;
         }},
        {"in descending order", [=] {
             Keys<Key> now = by(low(bits));
             std::reverse(now.begin(), now.end());
             return now;
         }}};
}

template <class Key>
void compare_keys(const Keys<Key>& got, const Keys<Key>& want,
                  const std::vector<wb::Mistake<Key>>& known) {
    const bool nan = std::any_of(want.begin(), want.end(), [](Key k) { return k != k; });
    if (!nan) CHECK_ARRAYS(got, want, exact, "key");
    wb::recognize<Key>(got, want, known);
    // Equal keys may have different bits (-0 and +0), and a NaN is not equal to itself.
    if (nan || got == want) CHECK_ARRAYS(bits_of(got), bits_of(want), exact, "bits of key");
}

// Equal keys cannot be told apart, but their values can.
inline void compare_values(const Words& got, const Words& want, const Words& before,
                           bool keys_right) {
    CHECK_ARRAYS(got, want, exact, "value");
    if (!keys_right) return;
    wb::recognize<unsigned>(
        got,
        want,
        {{"only the keys are moved: the values stay at their old places", [&] { return before; }},
         {"the keys are right, and equal keys have changed places: the sort is not stable", [&] {
              Words some = got, all = want;
              std::sort(some.begin(), some.end());
              std::sort(all.begin(), all.end());
              return some == all ? got : Words();
          }}});
}

template <class Key>
Keys<Key> special_floats() {
    using Limits = std::numeric_limits<Key>;
    const Key nan = Limits::quiet_NaN();
    return {Key(0),
            -Key(0),
            Limits::infinity(),
            -Limits::infinity(),
            nan,
            -nan,
            Limits::max(),
            -Limits::max(),
            Limits::min(),
            -Limits::min(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Key(1),
            Key(-1),
            std::nextafter(Key(1), Key(2))};
}
template <class Key>
Keys<Key> with_special_values(int n, uint64_t seed) {
    Keys<Key> keys = random_keys<Key>(n, seed);
    const Keys<Key> special = special_floats<Key>();
    for (int i = 0; i < n; i += 3) keys[i] = special[wb::random_bits(seed + 1, i) % special.size()];
    return keys;
}

}  // namespace
