// SPDX-License-Identifier: MIT
// Lesson 27, radix sort: stable passes over the digits of the keys, the lowest digit first.
// Start with README.md in this directory; `make 27` checks this file.
#include "radix_sort.h"

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kWarps = kThreads / kLanes;

// Converts a key to an unsigned number. The larger of two keys has the larger number.
__device__ static unsigned sortable(unsigned key) {
    return key;
}

// TODO 1 (about 15 lines): write `sortable` for int, float and double. Which bits of a key must be
// inverted, so that negative keys come first and are in the right order? Write `digit_of`: it
// returns the bits [shift, shift + width) of such a number.
__device__ static unsigned sortable(int key) {
    return static_cast<unsigned>(key);
}
__device__ static unsigned sortable(float key) {
    return __float_as_uint(key);
}
__device__ static unsigned long long sortable(double key) {
    return __double_as_longlong(key);
}
template <class Bits>
__device__ unsigned digit_of(Bits bits, int, int) {
    return static_cast<unsigned>(bits) % kDigits;
}
// END 1

// Called by all 32 lanes of a warp. Returns how many of the lanes before this one have the same
// digit; `count` becomes the number of all lanes with that digit, including this one.
__device__ static int rank_in_warp(unsigned digit, int& count) {
    // TODO 2 (about 4 lines): find the lanes with the same digit: __match_any_sync, as in lesson
    // 21. How many lanes are these, and how many of them are before this one?
    count = digit < kDigits;
    return threadIdx.x % kLanes;
    // END 2
}

// Called by all threads of a block; may be called again and again. In thread d, `next` is the place
// of the next element with digit d; the call adds the number of its elements with digit d. Returns
// the place of this thread's element. If the digit is kNoDigit, the result is not defined.
__device__ static int place_in_block(unsigned digit, int& next) {
    // TODO 3 (about 18 lines): each warp ranks its elements, and stores its counts in its row of a
    // table in shared memory, which it has set to zero before. Then thread d goes down column d:
    // from `next` on, each warp gets the places after those of the warps before it.
    next += digit < kDigits;
    return next;
    // END 3
}

// One block for each tile: counts[d * tiles + tile] becomes the number of its keys with digit d.
template <class Key>
__global__ void count_kernel(const Key* keys, int n, int shift, int width, int* counts) {
    // TODO 4 (about 11 lines): count the digits in shared memory, as in lesson 21, with one bin for
    // each thread. There is one block for each tile. digit_of(sortable(key), shift, width) is the
    // bin of a key.
    // END 4
}

// Called by all threads of a block; may be called again and again. Returns the sum of the values of
// all threads before this one; `total` becomes the sum of all (lesson 25).
__device__ static int scan_in_block(int value, int& total) {
    __shared__ int of_warp[kWarps];
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    int up_to = value;
    for (int step = 1; step < kLanes; step *= 2) {
        const int before = __shfl_up_sync(kAllLanes, up_to, step);
        if (lane >= step) up_to += before;
    }
    if (lane == kLanes - 1) of_warp[warp] = up_to;
    __syncthreads();  // below, all threads read the totals of all warps
    int before_warp = 0;
    total = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) before_warp = total;
        total += of_warp[w];
    }
    __syncthreads();  // the next call overwrites the row that is read above
    return before_warp + up_to - value;
}

// One block for each row of a matrix: the exclusive scan of the row, in place. If `totals` is
// nullptr, the sums of the rows are not stored.
__global__ void scan_rows_kernel(int* rows, int cols, int* totals) {
    int* row = rows + static_cast<size_t>(blockIdx.x) * cols;
    int carry = 0;
    for (int first = 0; first < cols; first += kThreads) {
        const int i = first + threadIdx.x;
        int total;
        const int before = scan_in_block(i < cols ? row[i] : 0, total);
        if (i < cols) row[i] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0 && totals) totals[blockIdx.x] = carry;
}

// Scans the counts of count_kernel. After it d_starts[d] is the number of keys with a digit below
// d, and d_counts[d * tiles + tile] the number of keys with digit d in the tiles before `tile`.
[[maybe_unused]] static void scan_counts(int* d_counts, int tiles, int* d_starts) {
    scan_rows_kernel<<<kDigits, kThreads>>>(d_counts, tiles, d_starts);
    CUDA_CHECK(cudaGetLastError());
    scan_rows_kernel<<<1, kThreads>>>(d_starts, kDigits, nullptr);
    CUDA_CHECK(cudaGetLastError());
}

// TODO 5 (about 30 lines): `scatter_kernel`, one block for each tile, goes through its tile in
// rounds of kThreads elements. It moves each key, with its value if there are values, to the place
// that place_in_block returns. At the beginning, thread d computes `next` for digit d from the
// results of scan_counts. `sort_pass` counts, scans and scatters; the scratch memory has room for
// the starts, followed by the counts.
template <class Key>
static void sort_pass(ConstPairs<Key>, Pairs<Key>, int, int, int, void*) {}
// END 5

// TODO 6 (about 12 lines): `sort_all` sorts by the bits [0, bits) of the keys: a pass for each
// kDigitBits bits, the lowest first; the last digit may have fewer bits. The first pass reads `in`,
// each later pass reads the array that the pass before has stored. Passes store to `out` and
// `spare` in turn: to which of them must the first pass store, so that the last pass stores to
// `out`? For n = 0 nothing is launched.
template <class Key>
static void sort_all(ConstPairs<Key>, Pairs<Key>, Pairs<Key>, int, int, void*) {}
// END 6

void radix_sort(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                void* d_scratch) {
    sort_all(in, out, spare, n, 32, d_scratch);
}
void radix_sort(ConstPairs<int> in, Pairs<int> out, Pairs<int> spare, int n, void* d_scratch) {
    sort_all(in, out, spare, n, 32, d_scratch);
}
void radix_sort(ConstPairs<float> in, Pairs<float> out, Pairs<float> spare, int n,
                void* d_scratch) {
    sort_all(in, out, spare, n, 32, d_scratch);
}
void radix_sort(ConstPairs<double> in, Pairs<double> out, Pairs<double> spare, int n,
                void* d_scratch) {
    sort_all(in, out, spare, n, 64, d_scratch);
}
void sort_by_low_bits(ConstPairs<unsigned> in, Pairs<unsigned> out, Pairs<unsigned> spare, int n,
                      int bits, void* d_scratch) {
    sort_all(in, out, spare, n, bits, d_scratch);
}

void sort_by_digit(ConstPairs<unsigned> in, Pairs<unsigned> out, int n, int shift, int width,
                   void* d_scratch) {
    if (n > 0) sort_pass(in, out, n, shift, width, d_scratch);
}

void count_digits(const unsigned* d_keys, int n, int shift, int width, int* d_counts) {
    if (n == 0) return;
    count_kernel<<<tiles_of(n), kThreads>>>(d_keys, n, shift, width, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void places_kernel(const unsigned* digits, int n, const int* first, int* places) {
    int next = first[threadIdx.x];
    for (int begin = 0; begin < n; begin += kThreads) {
        const int i = begin + threadIdx.x;
        const int place = place_in_block(i < n ? digits[i] : kNoDigit, next);  // all threads
        if (i < n) places[i] = place;
    }
}

void places_in_block(const unsigned* d_digits, int n, const int* d_first, int* d_places) {
    if (n == 0) return;
    places_kernel<<<1, kThreads>>>(d_digits, n, d_first, d_places);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void ranks_kernel(const unsigned* digits, int n, int* ranks, int* counts) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    int count;
    const int rank = rank_in_warp(i < n ? digits[i] : kNoDigit, count);  // all lanes
    if (i < n) ranks[i] = rank, counts[i] = count;
}

void rank_in_warps(const unsigned* d_digits, int n, int* d_ranks, int* d_counts) {
    if (n == 0) return;
    ranks_kernel<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_digits, n, d_ranks, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

template <class Key>
__global__ void digits_kernel(const Key* keys, int n, int shift, int width, unsigned* digits) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) digits[i] = digit_of(sortable(keys[i]), shift, width);
}

template <class Key>
static void digits_of_all(const Key* d_keys, int n, int shift, int width, unsigned* d_digits) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    digits_kernel<<<blocks, kThreads>>>(d_keys, n, shift, width, d_digits);
    CUDA_CHECK(cudaGetLastError());
}

void digits_of(const unsigned* d_keys, int n, int shift, int width, unsigned* d_digits) {
    digits_of_all(d_keys, n, shift, width, d_digits);
}
void digits_of(const int* d_keys, int n, int shift, int width, unsigned* d_digits) {
    digits_of_all(d_keys, n, shift, width, d_digits);
}
void digits_of(const float* d_keys, int n, int shift, int width, unsigned* d_digits) {
    digits_of_all(d_keys, n, shift, width, d_digits);
}
void digits_of(const double* d_keys, int n, int shift, int width, unsigned* d_digits) {
    digits_of_all(d_keys, n, shift, width, d_digits);
}
