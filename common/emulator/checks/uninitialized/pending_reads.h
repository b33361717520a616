// SPDX-License-Identifier: MIT
// Reads of unwritten memory that are not reported yet. If another thread stores the byte later, and
// nothing orders the two, the bug is a missing barrier: the checker of races reports it, and the
// read merely came first in the emulator's order. Such lanes are taken back. If something orders
// the two, or no thread ever stores the byte, the read is reported. Where the machine follows
// undefined values, a read only counts once its value is used: copying memory that is written in
// part (a struct with a field that is only valid at times) is no bug.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "machine/events.h"

namespace checks {

class PendingReads {
public:
    struct Read {
        machine::BlockInfo block;  // a copy: events do not outlive their call
        uint32_t warp = 0, valid = 0, lanes = 0;
        machine::SiteId site = 0;
        machine::AccessKind kind{};
        bool weak = true;
        uint8_t bytes = 0, element_bytes = 0;
        const void* owner = nullptr;  // Allocation or SharedVariable
        bool warp_synced = false;     // its warp met since
        bool block_synced = false;    // its block met since
        uint32_t used = 0;            // of `lanes`: those whose value mattered
        uint64_t address[machine::kWarpSize];
    };
    using Report = std::function<void(const Read&)>;

    // `per_block`: every block has its own memory at these addresses.
    PendingReads(bool per_block, Report report)
        : per_block_(per_block), report_(std::move(report)) {}

    // The `lanes` of the event read bytes of `owner` that nothing has written.
    // `counts`: at once. Returns a number for use().
    uint64_t add(const machine::AccessEvent& event, uint32_t lanes, const void* owner, bool counts);
    // The values that those lanes read with that number have been used.
    void use(uint64_t token, uint32_t lanes);
    bool empty() const { return reads_.empty(); }
    // A store: takes back the reads that it races with.
    void on_store(const machine::AccessEvent& event, uint32_t lanes);
    // All threads of the block have met. `settles`: no other thread can race with its reads any
    // more.
    void on_block_barrier(uint64_t block_serial, bool settles);
    void on_warp_sync(uint64_t block_serial, uint32_t warp);
    // Reports what is left of one block, or of all, and forgets it.
    void settle_block(uint64_t block_serial);
    void settle();
    // The launch is over: what has not been used by now never will be.
    void forget() { unused_.clear(); }

private:
    void settle(Read& read, uint64_t token);

    bool races(const Read& read, uint32_t lane, const machine::AccessEvent& store,
               uint32_t store_lane) const;

    bool per_block_;
    Report report_;
    std::vector<Read> reads_;
    uint64_t first_ = 1;  // the number of reads_[0]
    // Settled, but (in part) not used so far; by number.
    std::unordered_map<uint64_t, Read> unused_;
    // Granule of 16 bytes -> the reads (index * 32 + lane) that touch it.
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_address_;
};

}  // namespace checks
