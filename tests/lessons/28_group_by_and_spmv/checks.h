// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 28: sizes, scratch memory, tables.
//
// Tolerance: sums may be added up in any order, so the bound grows with the number of terms and
// their magnitude (bound_of_sum); sums of eighths are exact in every order. Outputs start as NaN.
#pragma once

#include "reference.h"

namespace {

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr int kSizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024};
constexpr int kLargeSizes[] = {1025, 2047, 2048, 2049, 8191, 8193, 33000};

// Scratch memory of exactly the promised size.
struct Scratch {
    explicit Scratch(int n) : memory(scratch_bytes(n) / sizeof(uint64_t), wb::guard(kGuard)) {}
    ~Scratch() { CHECK(memory.intact()); }
    void* get() { return memory.get(); }
    wb::GuardedBuffer<uint64_t> memory;
};

inline std::vector<unsigned char> random_heads(int n, uint64_t seed, int percent) {
    std::vector<unsigned char> heads(n);  // any number but 0 is one
    for (int i = 0; i < n; ++i)
        if (int(wb::random_bits(seed, i) % 100) < percent)
            heads[i] = static_cast<unsigned char>(1 + wb::random_bits(seed + 1, i) % 255);
    return heads;
}

// A table in device memory, with exactly as many rows for the sums as there are groups.
struct DeviceTable {
    // If `longest`, the length of the longest group, is given, the columns are eighths.
    DeviceTable(int n, uint64_t seed, int longest, int rows) {
        for (int c = 0; c < kColumns; ++c) {
            host.push_back(longest ? eighths(n, seed + 10 * c, longest)
                                   : wb::random_floats(n, seed + 10 * c, -3, 3));
            in.emplace_back(host[c], wb::guard(kGuard));
            sums.emplace_back(rows, wb::guard(kGuard));
        }
    }
    ConstTable input() { return {{in[0].get(), in[1].get(), in[2].get(), in[3].get()}}; }
    Table output() { return {{sums[0].get(), sums[1].get(), sums[2].get(), sums[3].get()}}; }
    std::vector<Floats> host;
    std::vector<wb::GuardedBuffer<float>> in, sums;
};

}  // namespace
