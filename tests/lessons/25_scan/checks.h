// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 25: runs a scan and checks it for many lengths.
//
// Tolerance: none, everything is whole numbers.
#pragma once

#include "lesson_test.h"
#include "reference.h"

namespace {

// Runs `scan_it` on `x`, out of place or in place, and compares.
inline void check(const Scan& scan_it, Operation op, Kind kind, const Ints& x, size_t group,
                  size_t round, bool in_place = false) {
    const Ints want = scanned(op, kind, x, group);
    wb::GuardedBuffer<int> d_in(x, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_out(in_place ? 0 : x.size(), wb::guard(kGuard));
    scan_it(d_in.get(), in_place ? d_in.get() : d_out.get(), int(x.size()));
    CUDA_CHECK(cudaGetLastError());
    const Ints got = in_place ? d_in.download() : d_out.download();
    CHECK_ARRAYS(got, want);
    wb::recognize<int>(got, want, mistakes(op, kind, x, group, round));
    if (!in_place) wb::check_unchanged(d_in.download(), x);
    CHECK(d_in.intact());
    CHECK(d_out.intact());
}

}  // namespace
