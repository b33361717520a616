// Unusual: Begin and end are pointers; a fixed grid walks over the lists; long lists are read in
// steps of 64 with two sums for each lane.
// SPDX-License-Identifier: MIT
// Lesson 13, ragged arrays: lists of unequal length, from their offsets and their content.
// Start with README.md in this directory; `make 13` checks this file.
#include "ragged_arrays.h"

constexpr int kThreads = 128;

static unsigned blocks_for(long long threads) {
    return unsigned((threads + kThreads - 1) / kThreads);
}

// One thread for each list.
__global__ void list_sums_kernel(const float* content, const int* offsets, float* sums, int lists) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < lists; k += gridDim.x * blockDim.x) {
        float sum = 0;
        const float* end = content + offsets[k + 1];
        for (const float* p = content + offsets[k]; p != end; ++p) sum += *p;
        sums[k] = sum;
    }
}

void list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists) {
    if (lists == 0) return;
    list_sums_kernel<<<min(blocks_for(lists), 32u), kThreads>>>(
        d_content, d_offsets, d_sums, lists);
    CUDA_CHECK(cudaGetLastError());
}

// The sum of `value` over the 32 lanes of the warp, in lane 0 (lesson 19 shows how). All 32 lanes
// must call it.
__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

// One warp for each list. The block size is a multiple of the warp's.
__global__ void long_list_sums_kernel(const float* content, const int* offsets, float* sums,
                                      int lists) {
    const long long thread = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
    const int k = int(thread / warpSize), lane = int(thread % warpSize);
    if (k >= lists) return;  // the whole warp, since k is the same for all its lanes
    const int end = offsets[k + 1];
    float even = 0, odd = 0;
    for (int i = offsets[k] + lane; i < end; i += 2 * warpSize) {
        even += content[i];
        if (i + warpSize < end) odd += content[i + warpSize];
    }
    const float sum = warp_sum(even + odd);
    if (lane == 0) sums[k] = sum;
}

void long_list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists) {
    if (lists == 0) return;
    const long long threads = 32ll * lists;
    long_list_sums_kernel<<<blocks_for(threads), kThreads>>>(d_content, d_offsets, d_sums, lists);
    CUDA_CHECK(cudaGetLastError());
}

// What was found in one event.
struct Heaviest {
    float mass;
    bool valid;
};

// The heaviest pair of opposite charge among the electrons [first, last).
__device__ Heaviest heaviest_pair(Electrons e, int first, int last) {
    Heaviest best{0.0f, false};
    for (int i = first; i < last; ++i)
        for (int j = i + 1; j < last; ++j) {
            if (e.d_charge[i] == e.d_charge[j]) continue;
            const float mass =
                pair_mass(e.d_pt[i], e.d_eta[i], e.d_phi[i], e.d_pt[j], e.d_eta[j], e.d_phi[j]);
            if (mass > best.mass) best.mass = mass;
            best.valid = true;
        }
    return best;
}

__global__ void heaviest_pairs_kernel(Electrons electrons, const int* offsets, float* mass,
                                      unsigned char* valid, int events) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= events) return;
    const Heaviest best = heaviest_pair(electrons, offsets[k], offsets[k + 1]);
    mass[k] = best.mass;
    valid[k] = best.valid;
}

void heaviest_pairs(Electrons electrons, const int* d_offsets, float* d_mass,
                    unsigned char* d_valid, int events) {
    if (events == 0) return;
    heaviest_pairs_kernel<<<blocks_for(events), kThreads>>>(
        electrons, d_offsets, d_mass, d_valid, events);
    CUDA_CHECK(cudaGetLastError());
}
