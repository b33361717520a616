// Variant: a tile is sorted in shared memory first, and equal digits are stored side by side.
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

__device__ static unsigned sortable(int key) {
    return static_cast<unsigned>(key) ^ 0x80000000u;
}
__device__ static unsigned sortable(float key) {
    const unsigned bits = __float_as_uint(key), sign = 0x80000000u;
    return bits & sign ? ~bits : bits | sign;
}
__device__ static unsigned long long sortable(double key) {
    const unsigned long long bits = __double_as_longlong(key), sign = 1ull << 63;
    return bits & sign ? ~bits : bits | sign;
}
template <class Bits>
__device__ unsigned digit_of(Bits bits, int shift, int width) {
    return static_cast<unsigned>(bits >> shift) & ((1u << width) - 1);
}

// Called by all 32 lanes of a warp. Returns how many of the lanes before this one have the same
// digit; `count` becomes the number of all lanes with that digit, including this one.
__device__ static int rank_in_warp(unsigned digit, int& count) {
    const unsigned same = __match_any_sync(kAllLanes, digit);
    const unsigned before = (1u << (threadIdx.x % kLanes)) - 1;
    count = __popc(same);
    return __popc(same & before);
}

// Called by all threads of a block; may be called again and again. In thread d, `next` is the place
// of the next element with digit d; the call adds the number of its elements with digit d. Returns
// the place of this thread's element. If the digit is kNoDigit, the result is not defined.
__device__ static int place_in_block(unsigned digit, int& next) {
    __shared__ int table[kWarps][kDigits];
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    for (int d = lane; d < kDigits; d += kLanes) table[warp][d] = 0;
    __syncwarp();  // other lanes store counts over the zeros of this lane
    int count;
    const int rank = rank_in_warp(digit, count);
    if (digit != kNoDigit && rank == 0) table[warp][digit] = count;
    __syncthreads();  // below, a thread reads the counts of all warps
    for (int w = 0; w < kWarps; ++w) {
        const int of_warp = table[w][threadIdx.x];
        table[w][threadIdx.x] = next;
        next += of_warp;
    }
    __syncthreads();  // below, a warp reads the places from all threads
    const int place = digit != kNoDigit ? table[warp][digit] + rank : 0;
    __syncwarp();  // the next call overwrites the row that is read above
    return place;
}

// One block for each tile: counts[d * tiles + tile] becomes the number of its keys with digit d.
template <class Key>
__global__ void count_kernel(const Key* keys, int n, int shift, int width, int* counts) {
    __shared__ int bins[kDigits];
    bins[threadIdx.x] = 0;
    __syncthreads();  // all bins are 0 before any thread counts
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, n);
    for (int i = begin + threadIdx.x; i < end; i += kThreads)
        atomicAdd(&bins[digit_of(sortable(keys[i]), shift, width)], 1);
    __syncthreads();  // all threads have counted
    counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
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

// The functions below sort a tile in shared memory before they store it, so that all elements with
// the same digit are stored side by side.
static constexpr int kWideThreads = 384;
static constexpr int kWideWarps = kWideThreads / kLanes;
static constexpr int kBlocksEach = 2;       // blocks that should fit on a multiprocessor
constexpr int items_of(size_t key_bytes) {  // of each thread
    return key_bytes == 8 ? 11 : 19;
}
template <class Key>
static constexpr int kItems = items_of(sizeof(Key));
template <class Key>
static constexpr int kWideTile = items_of(sizeof(Key)) * kWideThreads;
static_assert(kWideTile<unsigned> >= kTile && kWideTile<double> >= kTile, "room in scratch");

template <class Key>
struct Tile {
    // For each warp and digit: first the number of elements, then the place of the next one in
    // `keys`.
    int table[kWideWarps][kDigits];
    Key keys[kWideTile<Key>];  // later the values
    int to[kDigits];           // added to a place in `keys`, gives the place in the output
    int of_warp[kWideWarps];
    int number;
};

// Element r of a lane is element lane + 32 * r of its warp's part of the tile.
template <class Key>
__device__ int first_of(int tile) {
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    return tile * kWideTile<Key> + warp * kItems<Key> * kLanes + lane;
}

// The lanes that have this digit: a vote for each of its bits.
__device__ static unsigned lanes_with(unsigned digit) {
    unsigned same = kAllLanes;
#pragma unroll
    for (int bit = 0; bit < kDigitBits; ++bit) {
        const bool is_set = (digit >> bit & 1) != 0;
        const unsigned votes = __ballot_sync(kAllLanes, is_set);
        same &= is_set ? votes : ~votes;
    }
    return same;
}

// Called by all threads of a block, once in a kernel. Returns the sum of the values of all threads
// before this one; of_warp has a place for each warp.
__device__ static int sum_before(int value, int* of_warp) {
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    int up_to = value;
    for (int step = 1; step < kLanes; step *= 2) {
        const int before = __shfl_up_sync(kAllLanes, up_to, step);
        if (lane >= step) up_to += before;
    }
    if (lane == kLanes - 1) of_warp[warp] = up_to;
    __syncthreads();  // below, all threads read the totals of all warps
    int before = up_to - value;
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    return before;
}

// The digit by which a pass sorts.
struct Pass {
    int n, shift, width;
    // Elements past the end have the largest digit: they come last in their tile.
    template <bool kWhole, class Key>
    __device__ unsigned digit(Key key, int i) const {
        return kWhole || i < n ? digit_of(sortable(key), shift, width) : (1u << width) - 1;
    }
};

// Counts the digits of each warp's elements in its row of the table, which holds zeros.
template <bool kWhole, class Key>
__device__ void load_and_count(const Key* in, Pass pass, int number, Key (&keys)[kItems<Key>],
                               Tile<Key>& tile) {
    const int first = first_of<Key>(number);
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const int i = first + r * kLanes;
        keys[r] = kWhole || i < pass.n ? in[i] : Key{};
    }
    int* row = tile.table[threadIdx.x / kLanes];
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r)
        atomicAdd(&row[pass.digit<kWhole>(keys[r], first + r * kLanes)], 1);
}

// Thread d: turns column d of the table from counts into places, and returns the sum of the counts;
// `announce` is called with that sum as soon as it is known. `start` becomes the first place.
template <class Key, class Announce>
__device__ int scan_table(Tile<Key>& tile, int& start, const Announce& announce) {
    const int d = threadIdx.x;
    int count = 0;
    if (d < kDigits) {
#pragma unroll
        for (int w = 0; w < kWideWarps; ++w) {
            const int of_warp = tile.table[w][d];
            tile.table[w][d] = count;
            count += of_warp;
        }
        announce(count);
    }
    start = sum_before(count, tile.of_warp);
    if (d < kDigits)
#pragma unroll
        for (int w = 0; w < kWideWarps; ++w) tile.table[w][d] += start;
    return count;
}

// Stores the keys in order in tile.keys, and remembers the place of each of this thread's keys.
template <bool kWhole, class Key>
__device__ void stage_keys(const Key (&keys)[kItems<Key>], Pass pass, int number, Tile<Key>& tile,
                           int (&ranks)[kItems<Key>]) {
    const int lane = threadIdx.x % kLanes, first = first_of<Key>(number);
    int* row = tile.table[threadIdx.x / kLanes];
    const unsigned before = (1u << lane) - 1;
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const unsigned digit = pass.digit<kWhole>(keys[r], first + r * kLanes);
        const unsigned same = lanes_with(digit);
        const int leader = __ffs(same) - 1;
        int next = 0;
        if (lane == leader) next = atomicAdd(&row[digit], __popc(same));
        ranks[r] = __shfl_sync(kAllLanes, next, leader) + __popc(same & before);
        tile.keys[ranks[r]] = keys[r];
    }
}

// Stores the tile, whose keys are staged. Then the values are staged and stored in the same way.
template <bool kWhole, class Key>
__device__ void store_tile(ConstPairs<Key> in, Pairs<Key> out, Pass pass, int number,
                           Tile<Key>& tile, const int (&ranks)[kItems<Key>]) {
    const int in_tile = pass.n - number * kWideTile<Key>;
    int places[kItems<Key>];
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const int p = threadIdx.x + r * kWideThreads;
        if (!kWhole && p >= in_tile) continue;
        const Key key = tile.keys[p];
        places[r] = tile.to[digit_of(sortable(key), pass.shift, pass.width)] + p;
        out.keys[places[r]] = key;
    }
    if (in.values == nullptr) return;
    unsigned values[kItems<Key>];
    auto* staged = reinterpret_cast<unsigned*>(tile.keys);
    const int first = first_of<Key>(number);
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const int i = first + r * kLanes;
        values[r] = kWhole || i < pass.n ? in.values[i] : 0;
    }
    __syncthreads();  // below, values overwrite the keys that are read above
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) staged[ranks[r]] = values[r];
    __syncthreads();  // below, a thread reads elements that others have staged
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const int p = threadIdx.x + r * kWideThreads;
        if (kWhole || p < in_tile) out.values[places[r]] = staged[p];
    }
}

// One block for each tile: counts[d * tiles + tile] becomes the number of its keys with digit d.
template <class Key>
__global__ void __launch_bounds__(kWideThreads)
    wide_count_kernel(const Key* keys, Pass pass, int* counts) {
    __shared__ int bins[kDigits];
    if (threadIdx.x < kDigits) bins[threadIdx.x] = 0;
    __syncthreads();  // all bins are 0 before any thread counts
    const int begin = blockIdx.x * kWideTile<Key>;
    Key some[kItems<Key>];
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r) {
        const int i = begin + r * kWideThreads + threadIdx.x;
        some[r] = i < pass.n ? keys[i] : Key{};
    }
#pragma unroll
    for (int r = 0; r < kItems<Key>; ++r)
        if (begin + r * kWideThreads + static_cast<int>(threadIdx.x) < pass.n)
            atomicAdd(&bins[digit_of(sortable(some[r]), pass.shift, pass.width)], 1);
    __syncthreads();  // all threads have counted
    if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

template <bool kWhole, class Key>
__device__ void sort_tile(ConstPairs<Key> in, Pairs<Key> out, Pass pass, const int* starts,
                          const int* counts, Tile<Key>& tile) {
    Key keys[kItems<Key>];
    int ranks[kItems<Key>], start;
    load_and_count<kWhole>(in.keys, pass, blockIdx.x, keys, tile);
    __syncthreads();  // below, a thread reads the counts of all warps
    scan_table(tile, start, [](int) {});
    const int d = threadIdx.x;
    if (d < kDigits) tile.to[d] = starts[d] + counts[d * gridDim.x + blockIdx.x] - start;
    __syncthreads();  // below, warps read the places that thread d has stored
    stage_keys<kWhole>(keys, pass, blockIdx.x, tile, ranks);
    __syncthreads();  // below, all threads read elements that others have staged
    store_tile<kWhole>(in, out, pass, blockIdx.x, tile, ranks);
}

template <class Key>
__global__ void __launch_bounds__(kWideThreads, kBlocksEach)
    scatter_kernel(ConstPairs<Key> in, Pairs<Key> out, Pass pass, const int* starts,
                   const int* counts) {
    __shared__ Tile<Key> tile;
    for (int k = threadIdx.x; k < kWideWarps * kDigits; k += kWideThreads)
        tile.table[k / kDigits][k % kDigits] = 0;
    __syncthreads();  // all counts are 0 before any thread counts
    if (static_cast<int>(blockIdx.x + 1) * kWideTile<Key> <= pass.n)
        sort_tile<true>(in, out, pass, starts, counts, tile);
    else
        sort_tile<false>(in, out, pass, starts, counts, tile);
}

template <class Key>
static void sort_pass(ConstPairs<Key> in, Pairs<Key> out, int n, int shift, int width,
                      void* d_scratch) {
    auto* d_starts = static_cast<int*>(d_scratch);
    auto* d_counts = d_starts + kDigits;
    const int tiles = (n + kWideTile<Key> - 1) / kWideTile<Key>;
    const Pass pass{n, shift, width};
    wide_count_kernel<<<tiles, kWideThreads>>>(in.keys, pass, d_counts);
    CUDA_CHECK(cudaGetLastError());
    scan_counts(d_counts, tiles, d_starts);
    scatter_kernel<<<tiles, kWideThreads>>>(in, out, pass, d_starts, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

template <class Key>
static void sort_all(ConstPairs<Key> in, Pairs<Key> out, Pairs<Key> spare, int n, int bits,
                     void* d_scratch) {
    if (n == 0) return;
    const int passes = (bits + kDigitBits - 1) / kDigitBits;
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = pass * kDigitBits;
        const int width = bits - shift < kDigitBits ? bits - shift : kDigitBits;
        const Pairs<Key> to = (passes - pass) % 2 == 1 ? out : spare;
        sort_pass(in, to, n, shift, width, d_scratch);
        in = {to.keys, to.values};
    }
}

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
