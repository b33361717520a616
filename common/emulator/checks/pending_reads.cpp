// SPDX-License-Identifier: MIT
#include "checks/pending_reads.h"

#include <algorithm>
#include <bit>

namespace checks {
namespace {

// Warp accesses that wait at one time; beyond, a read is reported at once.
constexpr size_t kMost = 1 << 14;
constexpr unsigned kGranule = 4;

}  // namespace

void PendingReads::add(const machine::AccessEvent& event, uint32_t lanes, const void* owner) {
    Read read;
    read.block = *event.warp->block;
    read.warp = event.warp->index;
    read.valid = event.warp->valid;
    read.lanes = lanes;
    read.site = event.site;
    read.kind = event.kind;
    read.weak =
        event.order == machine::MemoryOrder::kWeak && event.kind == machine::AccessKind::kLoad;
    read.bytes = event.bytes;
    read.element_bytes = event.element_bytes;
    read.owner = owner;
    std::copy_n(event.address, machine::kWarpSize, read.address);
    if (reads_.size() >= kMost) {
        report_(read);
        return;
    }
    const uint32_t index = uint32_t(reads_.size());
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t last = (event.address[lane] + event.bytes - 1) >> kGranule;
        for (uint64_t at = event.address[lane] >> kGranule; at <= last; ++at) {
            by_address_[at].push_back(index * machine::kWarpSize + lane);
        }
    }
    reads_.push_back(read);
}

bool PendingReads::races(const Read& read, uint32_t lane, const machine::AccessEvent& store,
                         uint32_t store_lane) const {
    if (!read.weak && store.order != machine::MemoryOrder::kWeak) return false;
    const machine::WarpInfo& warp = *store.warp;
    if (warp.block->serial != read.block.serial) return !per_block_;
    if (warp.index == read.warp && lane == store_lane) return false;
    return !read.block_synced && !(warp.index == read.warp && read.warp_synced);
}

void PendingReads::on_store(const machine::AccessEvent& event, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t first = event.address[lane], last = first + event.bytes - 1;
        for (uint64_t at = first >> kGranule; at <= last >> kGranule; ++at) {
            const auto found = by_address_.find(at);
            if (found == by_address_.end()) continue;
            for (const uint32_t key : found->second) {
                Read& read = reads_[key / machine::kWarpSize];
                const uint32_t reader = key % machine::kWarpSize;
                const uint64_t start = read.address[reader];
                if (start > last || first > start + read.bytes - 1) continue;
                if (races(read, reader, event, lane)) read.lanes &= ~(1u << reader);
            }
        }
    }
}

void PendingReads::on_block_barrier(uint64_t block_serial, bool settles) {
    if (settles) {
        settle_block(block_serial);
        return;
    }
    for (Read& read : reads_) read.block_synced |= read.block.serial == block_serial;
}

void PendingReads::on_warp_sync(uint64_t block_serial, uint32_t warp) {
    for (Read& read : reads_) {
        read.warp_synced |= read.block.serial == block_serial && read.warp == warp;
    }
}

void PendingReads::settle_block(uint64_t block_serial) {
    const bool all = std::all_of(reads_.begin(), reads_.end(), [&](const Read& read) {
        return read.block.serial == block_serial || read.lanes == 0;
    });
    if (all) {
        settle();
        return;
    }
    for (Read& read : reads_) {
        if (read.block.serial != block_serial || read.lanes == 0) continue;
        report_(read);
        read.lanes = 0;
    }
}

void PendingReads::settle() {
    for (const Read& read : reads_) {
        if (read.lanes) report_(read);
    }
    reads_.clear();
    by_address_.clear();
}

}  // namespace checks
