// SPDX-License-Identifier: MIT
// Lesson 27, radix sort: what radix_sort.cu implements and the test calls.
//
// Keys are sorted in ascending order, and each takes its value along. Sorting is *stable*: equal
// keys stay in the order in which they were. Floats and doubles are in the total order of IEEE 754:
// NaNs whose sign bit is set, -inf, negative numbers, -0, +0, positive numbers, inf, other NaNs.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap, and inputs
// stay as they are. 0 <= n < 2^30; for n = 0 no kernel is launched. Everything runs in the default
// stream.
#pragma once

#include "cuda_check.h"

// n keys and n values: values[i] belongs to keys[i]. Where `values` is nullptr in all arguments of
// a call, keys are sorted alone.
template <class Key>
struct Pairs {
    Key* keys;
    unsigned* values;
};
template <class Key>
struct ConstPairs {
    const Key* keys;
    const unsigned* values;
};

// A key is sorted by digits of at most 8 bits; most digits have 8.
inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
// The digit of a lane or thread that has no element.
inline constexpr unsigned kNoDigit = kDigits;

// Threads in a block, as many as there are digits, and the elements that a block takes: a tile.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;
static_assert(kThreads == kDigits);

// The bits [shift, shift + width) of each key as a number. Keys that are not unsigned are first
// made into unsigned numbers of as many bits and the same order. 1 <= width <= kDigitBits.
void digits_of(const unsigned* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const int* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const float* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const double* d_keys, int n, int shift, int width, unsigned* d_digits);

// Of each 32 elements [32 * w, 32 * (w + 1)): d_ranks[i] is how many elements before element i have
// its digit, and d_counts[i] how many have it in all, element i included.
void rank_in_warps(const unsigned* d_digits, int n, int* d_ranks, int* d_counts);

// Where n elements go, by one block: the first element of digit d to place d_first[d], the next one
// of digit d to d_first[d] + 1, and so on. d_first: kDigits numbers.
void places_in_block(const unsigned* d_digits, int n, const int* d_first, int* d_places);

// Number of tiles t, each [kTile * t, kTile * (t + 1)).
constexpr int tiles_of(int n) {
    return n / kTile + (n % kTile != 0);
}

// d_counts[d * tiles_of(n) + t]: how many keys of tile t have the digit d.
void count_digits(const unsigned* d_keys, int n, int shift, int width, int* d_counts);

// What d_scratch of the functions below must have room for: a count for each digit of each tile,
// and 16 KB more. It is aligned to 16 bytes. Its contents do not matter.
constexpr size_t scratch_bytes(int n) {
    return sizeof(int) * kDigits * (static_cast<size_t>(tiles_of(n)) + 16);
}

// One pass: sorts by the bits [shift, shift + width) of the keys, and by nothing else.
void sort_by_digit(ConstPairs<unsigned> in, Pairs<unsigned> out, int n, int shift, int width,
                   void* d_scratch);

// Sorts by all bits of the keys. `spare` has room for n pairs, whose contents do not matter.
void radix_sort(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                void* d_scratch);
void radix_sort(ConstPairs<int> in, Pairs<int> out, Pairs<int> spare, int n, void* d_scratch);
void radix_sort(ConstPairs<float> in, Pairs<float> out, Pairs<float> spare, int n, void* d_scratch);
void radix_sort(ConstPairs<double> in, Pairs<double> out, Pairs<double> spare, int n,
                void* d_scratch);

// Sorts by the lowest `bits` bits of the keys, and by nothing else. 1 <= bits <= 32.
void sort_by_low_bits(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                      int bits, void* d_scratch);
