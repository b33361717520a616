// SPDX-License-Identifier: MIT
// Lesson 13, ragged arrays: what ragged_arrays.cu implements and the test calls.
//
// `lists` lists of unequal length lie one behind the other in `content`. List k is made of the
// elements [d_offsets[k], d_offsets[k + 1]): d_offsets holds lists + 1 ints that never decrease.
// Lists may be empty, and the first offset need not be 0: then `content` also holds elements of
// nobody, which must not be read. Offsets are at least 0. Everything lies in device memory and runs
// in the default stream; for 0 lists nothing is launched; a refused launch throws wb::CudaError.
#pragma once

#include <cmath>

#include "cuda_check.h"

// d_sums[k] = the sum of list k, 0 for an empty one. One thread for each list.
void list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists);

// The same, one warp for each list: for long lists.
void long_list_sums(const float* d_content, const int* d_offsets, float* d_sums, int lists);

// The electrons of all events, one column for each quantity, events one behind the other. pt in
// GeV, eta, phi in radians; charge is +1 or -1.
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
// 0; and d_mass[e] = the largest mass of such a pair. A mass may be 0. Where d_valid[e] is 0,
// d_mass[e] is 0 too, and means nothing. d_offsets: events + 1 ints, as above; d_mass: events
// floats; d_valid: events bytes. No list has more than 2^15 electrons.
void heaviest_pairs(Electrons electrons, const int* d_offsets, float* d_mass,
                    unsigned char* d_valid, int events);
