// SPDX-License-Identifier: MIT
// Lesson 13, ragged arrays: what ragged_arrays.cu implements and the test calls.
//
// `lists` lists of unequal length are stored one after the other in `content`. List k consists of
// the elements [d_offsets[k], d_offsets[k + 1]): d_offsets holds lists + 1 ints from 0 to 2^30 that
// never decrease. There are at most 2^25 lists. Lists may be empty. The first offset need not be 0,
// and the last one need not be the end: `content` may hold elements before and after that belong to
// no list and must not change any result. Every array is in device memory. For 0 lists nothing is
// launched. A refused launch throws wb::CudaError. Events are lists, too.
#pragma once

#include <cmath>

#include "cuda_check.h"

// d_sums[k] = the sum of list k, 0 for an empty one. One thread for each list.
void list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists);

// The same with one warp for each list, which suits long lists.
void long_list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists);

// The electrons of all events, one array for each quantity, event after event. pt is in GeV, eta
// has no unit, phi is in radians; charge is +1 or -1.
struct Electrons {
    const float* d_pt;
    const float* d_eta;
    const float* d_phi;
    const int* d_charge;
};

// The invariant mass of two electrons, in GeV (lesson 10).
__host__ __device__ inline float pair_mass(float pt1, float eta1, float phi1, float pt2, float eta2,
                                           float phi2) {
    const float a = std::sinh(0.5f * (eta1 - eta2)), b = std::sin(0.5f * (phi1 - phi2));
    return 2 * std::sqrt(pt1 * pt2 * (a * a + b * b));
}

// For every event e in [0, events): d_valid[e] = 1 if it has two electrons of opposite charge, else
// 0; and d_mass[e] = the largest mass of such a pair, which may be 0. Where d_valid[e] is 0,
// d_mass[e] is 0 too. d_offsets holds events + 1 ints, as above; d_mass has events floats and
// d_valid events bytes. An event has at most 1024 electrons. One thread for each event,
// which looks at each pair once.
void heaviest_pairs(Electrons electrons, const int* d_offsets, float* d_mass,
                    unsigned char* d_valid, int events);
