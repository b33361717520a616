// SPDX-License-Identifier: MIT
// cp.async: copies from global to shared memory that a thread starts and waits for (PTX ISA
// "Non-bulk copy"). The source is read when the copy starts; the bytes reach shared memory when the
// thread waits for them, never before, so a program that forgets to wait reads the old contents.
// Copies that no thread waits for are dropped at the end of their block.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "machine/program/code.h"

namespace machine {

// The copies that the lanes of one warp have started and not waited for yet.
struct AsyncCopies {
    static constexpr uint32_t kOpen = 0xffffffffu;  // not committed to a group yet
    struct Batch {                                  // the copies of one instruction
        SiteId site = 0;
        uint32_t mask = 0;
        uint8_t bytes = 0;
        std::array<uint64_t, kWarpSize> address{};  // in the shared space
        std::array<std::byte*, kWarpSize> host{};
        std::array<uint32_t, kWarpSize> group{};
        alignas(16) std::byte data[kWarpSize][16];
    };
    std::vector<Batch> batches;                   // in the order in which they started
    std::array<uint32_t, kWarpSize> committed{};  // number of committed groups, by lane
};

struct AsyncCopyOp {
    MemoryOp source, destination;
    uint8_t bytes = 0;
    uint32_t size_row = kNoRow;    // .b32: bytes to read, the rest is zero
    uint32_t ignore_row = kNoRow;  // a predicate: read nothing
    uint32_t staging = kNoRow;     // 16 bytes per lane
};

void start_async_copy(Lanes& lanes, const Instr& in);  // op: AsyncCopyOp
void commit_async_copies(Lanes& lanes, const Instr& in);
void wait_async_copies(Lanes& lanes,
                       const Instr& in);  // extra: groups that may stay open; 0xffff: wait_all
// Completes the copies that `lanes` have started so far, committed or not.
void complete_async_copies(LaunchState& ex, uint32_t lanes);

}  // namespace machine
