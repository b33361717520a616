// Variant: rows and entries of a matrix are merged into one list, of which each warp takes an equal
// part.
// SPDX-License-Identifier: MIT
// Lesson 28, group-by and SpMV: sums of runs of equal keys, and of the rows of a sparse matrix.
// Start with README.md in this directory; `make 28` checks this file.
#include "group_by_and_spmv.h"

#include <type_traits>

static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kScanThreads = 1024;

// A mask of the lanes up to and with this one.
__device__ static unsigned lanes_up_to_mine() {
    return kAllLanes >> (kLanes - 1 - threadIdx.x % kLanes);
}

// Called by all 32 lanes of a warp. Bit l of `heads` is set if a segment begins at lane l; at lane
// 0 a segment always begins. Returns the sum of the values from the beginning of this lane's
// segment up to and with this lane.
__device__ static float sum_in_warp(float value, unsigned heads) {
    const int lane = threadIdx.x % kLanes;
    const unsigned before = heads & lanes_up_to_mine();
    const int begin = before != 0 ? kLanes - 1 - __clz(before) : 0;
    for (int step = 1; step < kLanes; step *= 2) {
        const float below = __shfl_up_sync(kAllLanes, value, step);
        if (lane - step >= begin) value += below;
    }
    return value;
}

// Whether a group begins at row i, and whether one ends there. 0 <= i < n.
__device__ static bool is_head(const int* key, int i) {
    return i == 0 || key[i] != key[i - 1];
}
__device__ static bool is_last(const int* key, int i, int n) {
    return i + 1 == n || key[i] != key[i + 1];
}

// One warp for each tile: counts[tile] becomes the number of groups that begin in the tile, or
// kNotSorted if a key of the tile is smaller than the key before it.
__global__ void count_kernel(const int* key, int n, int* counts) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (begin >= n) return;  // all lanes of the warp
    int heads = 0;
    bool sorted = true;
    for (int first = begin; first < end; first += kLanes) {
        const int i = first + lane;
        const int mine = i < end ? key[i] : 0;
        const int before = i < end && i > 0 ? key[i - 1] : mine;
        heads += __popc(__ballot_sync(kAllLanes, i == 0 || mine != before));
        if (mine < before) sorted = false;
    }
    sorted = __all_sync(kAllLanes, sorted);
    if (lane == 0) counts[tile] = sorted ? heads : kNotSorted;
}

// One block of kScanThreads: the exclusive scan of the tiles' counts, in place, as in lesson 25;
// counts[tiles] becomes the sum of all, or kNotSorted if one of the counts is.
__global__ void scan_counts_kernel(int* counts, int tiles) {
    __shared__ int levels[kScanThreads];
    const int t = threadIdx.x;
    int carry = 0;
    bool sorted = true;
    for (int first = 0; first < tiles; first += kScanThreads) {
        const int i = first + t;
        const int count = i < tiles ? counts[i] : 0;
        if (__syncthreads_or(count == kNotSorted)) sorted = false;
        int sum = count;
        for (int step = 1; step < kScanThreads; step *= 2) {
            levels[t] = sum;
            __syncthreads();  // other threads have stored the values that are read next
            if (t >= step) sum += levels[t - step];
            __syncthreads();  // the next level overwrites the values that are read above
        }
        if (i < tiles) counts[i] = carry + sum - count;
        levels[t] = sum;
        __syncthreads();  // the last thread has stored the round's sum
        carry += levels[kScanThreads - 1];
        __syncthreads();  // the next round overwrites it
    }
    if (t == 0) counts[tiles] = sorted ? carry : kNotSorted;
}

// The open sums of a tile: the sums over its rows of the group that continues after the tile.
struct Open {
    float sum[kColumns];
};

// The layout of the scratch memory: for each tile the number of groups that begin before it, then
// the number of all groups, then the open sums of the tiles.
static int tiles_of(int n) {
    return (n + kTile - 1) / kTile;
}
static Open* open_in(void* d_scratch, int n) {
    return static_cast<Open*>(d_scratch) + tiles_of(n) / 4 + 1;
}

// Each lane has neighbouring rows and adds them up by itself. The sums of groups that go on in
// other lanes are then passed from lane to lane, once for all rows.
static constexpr int kOfLane = 4;
static constexpr int kOfRound = kLanes * kOfLane;

template <class T>
__device__ void load_four(const T* from, int i, int end, bool aligned, T nothing, T (&to)[4]) {
    using Vector = std::conditional_t<std::is_same_v<T, int>, int4, float4>;
    if (aligned && i + kOfLane <= end) {
        const Vector v = *reinterpret_cast<const Vector*>(from + i);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
        for (int k = 0; k < kOfLane; ++k) to[k] = i + k < end ? from[i + k] : nothing;
    }
}

__device__ static bool is_aligned(const void* p) {
    return reinterpret_cast<size_t>(p) % sizeof(float4) == 0;
}

// One warp for each tile: begun[tile] is the number of groups that begin before the tile.
__global__ void sum_tiles_kernel(const int* key, ConstTable in, int n, const int* begun,
                                 int* group_key, Table sums, Open* open) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (begin >= n) return;  // all lanes of the warp
    const bool aligned_keys = is_aligned(key);
    int groups = begun[tile];  // that begin before the round
    Open carry = {};
    for (int first = begin; first < end; first += kOfRound) {
        const int i = first + lane * kOfLane;
        int keys[kOfLane];
        load_four(key, i, end, aligned_keys, 0, keys);
        // The keys before and after: from other lanes, and two more from memory.
        int before = __shfl_up_sync(kAllLanes, keys[kOfLane - 1], 1);
        int after = __shfl_down_sync(kAllLanes, keys[0], 1);
        if (lane == 0 && first > 0) before = key[first - 1];
        if (i < n && i + kOfLane < n && (lane == kLanes - 1 || i + kOfLane >= end))
            after = key[i + kOfLane];
        bool head[kOfLane], last[kOfLane];
        int own_heads = 0;
        for (int k = 0; k < kOfLane; ++k) {
            const int row = i + k;
            const int left = k > 0 ? keys[k > 0 ? k - 1 : 0] : before;
            const int right = k + 1 < kOfLane ? keys[k + 1 < kOfLane ? k + 1 : 0] : after;
            head[k] = row < end && (row == 0 || keys[k] != left);
            last[k] = row < end && (row + 1 == n || keys[k] != right);
            own_heads += head[k];
        }
        // Heads in the lanes before this one: an inclusive scan of small numbers.
        int up_to = own_heads;
        for (int step = 1; step < kLanes; step *= 2) {
            const int below = __shfl_up_sync(kAllLanes, up_to, step);
            if (lane >= step) up_to += below;
        }
        const unsigned lanes_with_heads = __ballot_sync(kAllLanes, own_heads > 0);
        const bool carried = (lanes_with_heads & lanes_up_to_mine() >> 1) == 0;
        const int first_group = groups + up_to - own_heads - 1;
        for (int k = 0, group = first_group; k < kOfLane; ++k) {
            group += head[k];
            if (head[k]) group_key[group] = keys[k];
        }
        for (int c = 0; c < kColumns; ++c) {
            float x[kOfLane];
            load_four(in.column[c], i, end, is_aligned(in.column[c]), 0.0f, x);
            float left_over = 0;  // from the lane's last head on, or all
            for (int k = 0; k < kOfLane; ++k) left_over = head[k] ? x[k] : left_over + x[k];
            const float in_warp = sum_in_warp(left_over, lanes_with_heads);
            float sum =
                __shfl_up_sync(kAllLanes, in_warp, 1);  // of the open group before this lane
            if (lane == 0) sum = 0;
            if (carried) sum += carry.sum[c];
            int group = first_group;
            for (int k = 0; k < kOfLane; ++k) {
                group += head[k];
                sum = head[k] ? x[k] : sum + x[k];
                if (last[k]) sums.column[c][group] = sum;
            }
            carry.sum[c] = __shfl_sync(kAllLanes, sum, kLanes - 1);
        }
        groups += __shfl_sync(kAllLanes, up_to, kLanes - 1);
    }
    if (lane == 0) open[tile] = carry;
}

// One warp for each tile. If a group from an earlier tile ends in this tile, the open sums of the
// earlier tiles are added to the sums of the group.
__global__ void add_open_kernel(const int* key, int n, const int* begun, Table sums,
                                const Open* open) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (tile == 0 || begin >= n) return;  // all lanes of the warp
    if (is_head(key, begin)) return;
    if (begun[tile] == begun[tile + 1] && !is_last(key, end - 1, n)) return;
    Open sum = {};
    for (int nearest = tile - 1;; nearest -= kLanes) {
        const int t = nearest - lane;
        const unsigned begins = __ballot_sync(kAllLanes, t >= 0 && begun[t] < begun[t + 1]);
        const int oldest = begins != 0 ? __ffs(begins) - 1 : kLanes - 1;
        if (lane <= oldest)
            for (int c = 0; c < kColumns; ++c) sum.sum[c] += open[t].sum[c];
        if (begins != 0) break;  // at the latest in tile 0, where the first group begins
    }
    for (int c = 0; c < kColumns; ++c) {
        for (int step = kLanes / 2; step > 0; step /= 2)
            sum.sum[c] += __shfl_xor_sync(kAllLanes, sum.sum[c], step);
        if (lane == 0) sums.column[c][begun[tile] - 1] += sum.sum[c];
    }
}

int count_groups(const int* d_key, int n, void* d_scratch) {
    if (n == 0) return 0;
    auto* d_counts = static_cast<int*>(d_scratch);
    const int tiles = tiles_of(n);
    const int blocks = (tiles + kThreads / kLanes - 1) / (kThreads / kLanes);
    count_kernel<<<blocks, kThreads>>>(d_key, n, d_counts);
    CUDA_CHECK(cudaGetLastError());
    scan_counts_kernel<<<1, kScanThreads>>>(d_counts, tiles);
    CUDA_CHECK(cudaGetLastError());
    int groups = 0;
    CUDA_CHECK(cudaMemcpy(&groups, d_counts + tiles, sizeof groups, cudaMemcpyDeviceToHost));
    return groups;
}

int sum_by_key(const int* d_key, ConstTable in, int n, int* d_group_key, Table sums,
               void* d_scratch) {
    const int groups = count_groups(d_key, n, d_scratch);
    if (groups == 0 || groups == kNotSorted) return groups;
    auto* d_begun = static_cast<int*>(d_scratch);
    Open* d_open = open_in(d_scratch, n);
    const int blocks = (tiles_of(n) + kThreads / kLanes - 1) / (kThreads / kLanes);
    sum_tiles_kernel<<<blocks, kThreads>>>(d_key, in, n, d_begun, d_group_key, sums, d_open);
    CUDA_CHECK(cudaGetLastError());
    add_open_kernel<<<blocks, kThreads>>>(d_key, n, d_begun, sums, d_open);
    CUDA_CHECK(cudaGetLastError());
    return groups;
}

// One thread for each row.
__global__ void multiply_by_threads_kernel(CsrMatrix a, const float* x, float* y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    float sum = 0;
    for (int i = a.row_begin[row]; i < a.row_begin[row + 1]; ++i)
        sum += a.value[i] * x[a.column[i]];
    y[row] = sum;
}

void multiply_by_threads(CsrMatrix a, const float* d_x, float* d_y) {
    if (a.rows == 0) return;
    const int blocks = (a.rows + kThreads - 1) / kThreads;
    multiply_by_threads_kernel<<<blocks, kThreads>>>(a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
}

// Balanced: rows and entries are merged into one list, in which the end of a row comes after its
// last entry. Each warp takes kItems of the list, and each lane kOfThread of these, regardless of
// where rows begin and end.
static constexpr int kOfThread = 8;
static constexpr int kItems = kLanes * kOfThread;
static constexpr int kWarps = kThreads / kLanes;

// The number of rows that end before item `item` of the list. The other items before it are
// entries.
__device__ static int rows_before(const CsrMatrix& a, int first, long long item, int low,
                                  int high) {
    while (low < high) {
        const int row = low + (high - low) / 2;
        if (a.row_begin[row + 1] - first <= item - row - 1)
            low = row + 1;
        else
            high = row;
    }
    return low;
}

// The open sum of a warp's part, and the number of rows that end before the part.
struct Part {
    float open;
    int rows;
};

__global__ void multiply_parts_kernel(CsrMatrix a, const float* x, float* y, int parts,
                                      Part* of_parts) {
    __shared__ float products[kWarps][kItems];
    const int part = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    if (part >= parts) return;  // all lanes of the warp
    float* mine = products[threadIdx.x / kLanes];
    const int first = a.row_begin[0], entries = a.row_begin[a.rows] - first;
    const long long items = static_cast<long long>(a.rows) + entries;
    const long long begin = static_cast<long long>(part) * kItems;
    const long long end = min(begin + kItems, items);
    const auto rows_at = [&](long long item) {
        return rows_before(a,
                           first,
                           item,
                           static_cast<int>(max(item - entries, 0ll)),
                           static_cast<int>(min(item, static_cast<long long>(a.rows))));
    };
    const int first_row = rows_at(begin);
    const int first_entry = static_cast<int>(begin - first_row);
    const int last_row = rows_at(end);
    const int of_part = static_cast<int>(end - last_row) - first_entry;
    for (int k = lane; k < of_part; k += kLanes) {
        const int i = first + first_entry + k;
        mine[k] = a.value[i] * x[a.column[i]];
    }
    __syncwarp();  // below, a lane adds up products that other lanes have stored
    const long long from = min(begin + lane * kOfThread, end);
    const long long to = min(from + kOfThread, end);
    int row = rows_before(a,
                          first,
                          from,
                          static_cast<int>(max(from - entries, static_cast<long long>(first_row))),
                          static_cast<int>(min(from, static_cast<long long>(last_row))));
    int entry = static_cast<int>(from - row) - first_entry;
    float sum = 0, of_first_row = 0;
    int ended = 0;
    for (long long item = from; item < to; ++item) {
        if (row < a.rows && entry + first_entry < a.row_begin[row + 1] - first) {
            sum += mine[entry++];
            continue;
        }
        if (ended++ == 0)
            of_first_row = sum;  // lanes before this one may have a part of it
        else
            y[row] = sum;
        sum = 0;
        ++row;
    }
    const unsigned lanes_with_ends = __ballot_sync(kAllLanes, ended > 0);
    const float open = sum_in_warp(sum, lanes_with_ends);
    const float before = __shfl_up_sync(kAllLanes, open, 1);
    if (ended > 0) y[row - ended] = of_first_row + (lane > 0 ? before : 0.0f);
    if (lane == kLanes - 1) of_parts[part] = {open, first_row};
    if (lane == 0 && part == parts - 1) of_parts[parts].rows = a.rows;
}

// Like add_open_kernel: adds the open sums of earlier parts to the first row that ends in a part.
__global__ void add_parts_kernel(const Part* of_parts, int parts, float* y) {
    const int part = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    if (part == 0 || part >= parts) return;  // all lanes of the warp
    const int row = of_parts[part].rows;
    if (of_parts[part + 1].rows == row) return;  // no row ends here
    float sum = 0;
    for (int nearest = part - 1;; nearest -= kLanes) {
        const int p = nearest - lane;
        const unsigned ends =
            __ballot_sync(kAllLanes, p <= 0 || of_parts[p].rows < of_parts[p + 1].rows);
        const int oldest = ends != 0 ? __ffs(ends) - 1 : kLanes - 1;
        if (lane <= oldest) sum += of_parts[p].open;
        if (ends != 0) break;
    }
    for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    if (lane == 0) y[row] += sum;
}

// Their memory comes from the stream's pool; a library would get it from its caller.
struct Parts {
    explicit Parts(int n) { CUDA_CHECK(cudaMallocAsync(&parts, n * sizeof(Part), nullptr)); }
    ~Parts() { cudaFreeAsync(parts, nullptr); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    Part* parts = nullptr;
};

void multiply_by_warps(CsrMatrix a, const float* d_x, float* d_y) {
    if (a.rows == 0) return;
    const long long items = static_cast<long long>(a.rows) + a.entries;
    const int parts = static_cast<int>((items + kItems - 1) / kItems);
    const int blocks = (parts + kWarps - 1) / kWarps;
    const Parts memory(parts + 1);
    multiply_parts_kernel<<<blocks, kThreads>>>(a, d_x, d_y, parts, memory.parts);
    CUDA_CHECK(cudaGetLastError());
    add_parts_kernel<<<blocks, kThreads>>>(memory.parts, parts, d_y);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void sums_in_warps_kernel(const float* x, const unsigned char* head, int n,
                                     float* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned heads = __ballot_sync(kAllLanes, i < n && head[i] != 0);
    const float sum = sum_in_warp(i < n ? x[i] : 0.0f, heads);  // all lanes call it
    if (i < n) sums[i] = sum;
}

void sums_in_warps(const float* d_x, const unsigned char* d_head, int n, float* d_sums) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    sums_in_warps_kernel<<<blocks, kThreads>>>(d_x, d_head, n, d_sums);
    CUDA_CHECK(cudaGetLastError());
}
