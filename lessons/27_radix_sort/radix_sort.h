// SPDX-License-Identifier: MIT
// Lesson 27, radix sort: what radix_sort.cu implements and the test calls.
//
// Keys are sorted in ascending order, and each value moves with its key. The sort is *stable*:
// equal keys keep their order. Floats and doubles are in the total order of IEEE 754: NaNs whose
// sign bit is set, -inf, negative numbers, -0, +0, positive numbers, inf, other NaNs.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap, and inputs
// are not changed. 0 <= n < 2^30; for n = 0 no kernel is launched. Everything runs in the default
// stream.
#pragma once

#include "cuda_check.h"

// n keys and n values: values[i] belongs to keys[i]. If `values` is nullptr in all arguments of a
// call, only the keys are sorted.
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

// A digit has at most 8 bits. Only the last digit of a key may have fewer.
inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
// The digit of a lane or thread that has no element.
inline constexpr unsigned kNoDigit = kDigits;

// Threads in a block, one for each digit, and elements in a tile, which one block processes.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;
static_assert(kThreads == kDigits);

// The bits [shift, shift + width) of each key as a number. Keys that are not unsigned are first
// converted to unsigned numbers of the same size and in the same order. 1 <= width <= kDigitBits.
void digits_of(const unsigned* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const int* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const float* d_keys, int n, int shift, int width, unsigned* d_digits);
void digits_of(const double* d_keys, int n, int shift, int width, unsigned* d_digits);

// For each 32 elements [32 * w, 32 * (w + 1)): d_ranks[i] is the number of elements before element
// i with the same digit, and d_counts[i] the number of all elements with that digit, including i.
void rank_in_warps(const unsigned* d_digits, int n, int* d_ranks, int* d_counts);

// The places of n elements, computed by one block: the first element with digit d gets place
// d_first[d], the next one with digit d gets d_first[d] + 1, and so on. d_first: kDigits numbers.
void places_in_block(const unsigned* d_digits, int n, const int* d_first, int* d_places);

// Number of tiles t, each [kTile * t, kTile * (t + 1)).
constexpr int tiles_of(int n) {
    return n / kTile + (n % kTile != 0);
}

// d_counts[d * tiles_of(n) + t] is the number of keys of tile t with digit d.
void count_digits(const unsigned* d_keys, int n, int shift, int width, int* d_counts);

// The size of d_scratch for the functions below: a count for each digit of each tile, and 16 KB
// more. It is aligned to 16 bytes, and its contents are not defined.
constexpr size_t scratch_bytes(int n) {
    return sizeof(int) * kDigits * (static_cast<size_t>(tiles_of(n)) + 16);
}

// One pass: sorts by the bits [shift, shift + width) of the keys, and by nothing else.
void sort_by_digit(ConstPairs<unsigned> in, Pairs<unsigned> out, int n, int shift, int width,
                   void* d_scratch);

// Sorts by all bits of the keys. `spare` has room for n pairs; its contents are not defined.
void radix_sort(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                void* d_scratch);
void radix_sort(ConstPairs<int> in, Pairs<int> out, Pairs<int> spare, int n, void* d_scratch);
void radix_sort(ConstPairs<float> in, Pairs<float> out, Pairs<float> spare, int n, void* d_scratch);
void radix_sort(ConstPairs<double> in, Pairs<double> out, Pairs<double> spare, int n,
                void* d_scratch);

// Sorts by the lowest `bits` bits of the keys, and by nothing else. 1 <= bits <= 32.
void sort_by_low_bits(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                      int bits, void* d_scratch);
