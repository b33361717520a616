// Variant: one thread sums a long list: 32 sectors for each request, idle lanes.
// verdict: efficient "efficient: a warp reads its list side by side"
// verdict: efficient "efficient: a long list occupies all lanes of its warp"
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
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= lists) return;
    float sum = 0;
    for (int i = offsets[k]; i < offsets[k + 1]; ++i) sum += content[i];
    sums[k] = sum;
}

void list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists) {
    if (lists == 0) return;
    list_sums_kernel<<<blocks_for(lists), kThreads>>>(d_content, d_offsets, d_sums, lists);
    CUDA_CHECK(cudaGetLastError());
}

void long_list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists) {
    if (lists == 0) return;
    list_sums(d_content, d_offsets, d_sums, lists);
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
