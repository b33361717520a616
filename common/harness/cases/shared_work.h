// SPDX-License-Identifier: MIT
// Whether the threads of a grid share the work. By counters: that enough threads were launched,
// that the lanes of a warp work together, and that no warp does the work of others. Where an array
// is written, the emulator's record of who wrote a word tells the same.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "lesson_test.h"

namespace wb {
namespace {

// How many elements of an array on the device were last written by one warp, for the warp with the
// most; `by_kernels` counts all that any kernel wrote. Empty on a real GPU.
struct Shares {
    size_t busiest_warp = 0, by_kernels = 0;
};
template <class T>
std::optional<Shares> shares_of(const T* device, size_t elements) {
    const auto get = (int (*)(uint64_t, EmulatorWriter*))dlsym(RTLD_DEFAULT, "emulatorWriterOf");
    if (!get) return std::nullopt;
    Shares shares;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, size_t> written;
    for (size_t i = 0; i < elements; ++i) {
        EmulatorWriter writer{};
        writer.size = sizeof writer;
        if (get(uint64_t(device + i), &writer) != 0) return std::nullopt;
        if (writer.by != 1) continue;
        const auto& [x, y, z] = writer.thread;
        const uint32_t thread = x + writer.block_size[0] * (y + writer.block_size[1] * z);
        const auto& [block_x, block_y, block_z] = writer.block;
        const size_t count = ++written[{block_x, block_y, block_z, thread / 32}];
        shares.busiest_warp = std::max(shares.busiest_warp, count);
        ++shares.by_kernels;
    }
    return shares;
}

// Fails the test where one warp wrote more than 1/`warps` of the array that `function` computed.
template <class T>
void check_shared_work(const char* function, const T* device, size_t elements, size_t warps = 64) {
    const auto shares = shares_of(device, elements);
    if (!shares) {
        WARN("this device keeps no record of who wrote what: graded on the emulator");
        return;
    }
    {
        const auto by_kernels = measured("written_by_kernels", shares->by_kernels);
        INFO(function << "(): of " << elements << " elements, kernels wrote " << by_kernels);
        CHECK(by_kernels == elements);
    }
    const size_t most = elements / warps;
    const auto busiest_warp = measured("written_by_busiest_warp", shares->busiest_warp);
    INFO(function << "(): a single warp wrote " << busiest_warp << " of " << elements
                  << " elements, want at most " << most << " for each warp");
    CHECK(busiest_warp <= most);
}

// `threads`: how many must be launched at least; `lanes`: how many must be active in a warp
// instruction, on average; `busiest`: how many instructions the busiest warp may execute. Sums over
// all warps cannot tell one warp that works for the grid among idle ones, nor one thread that adds
// for its block after the others have worked: the busiest warp can.
template <class Most = uint64_t>
void check_shared_work(const Counters& counted, uint64_t threads, double lanes,
                       const Most& busiest = ~0ull) {
    {
        INFO((counted.threads >= threads ? "" : "only ")
             << counted.threads << " threads were launched, and " << counted.active_lanes()
             << " of a warp's 32 lanes work at a time on average; want at least " << threads
             << " threads and " << lanes << " lanes");
        CHECK(counted.threads >= threads);
        CHECK(counted.active_lanes() >= lanes);
    }
    INFO("the busiest warp executes " << counted.busiest_warp_instructions << " of all "
                                      << counted.warp_instructions
                                      << " warp instructions; want at most " << busiest);
    CHECK(counted.busiest_warp_instructions <= busiest);
}

}  // namespace
}  // namespace wb
