// SPDX-License-Identifier: MIT
#include "checks/uninitialized/pending_reads.h"

#include <algorithm>
#include <bit>

namespace checks {
namespace {

// Warp accesses that may be pending; beyond that number, a read is reported at once.
constexpr size_t kMost = 1 << 14;
constexpr unsigned kGranule = 4;
constexpr size_t kMostUnused = 1 << 16;  // beyond, later uses are not reported

// The lanes of `readers` whose value has been used by `lanes`. After a copy through shared memory
// or a shuffle, other lanes use it, and all readers count. Out of line: g++ 12.2 takes the wrong
// operands for the choice where it is inlined.
[[gnu::noinline]] uint32_t users(uint32_t readers, uint32_t lanes) {
    const uint32_t common = readers & lanes;
    return common ? common : readers;
}

}  // namespace

uint64_t PendingReads::add(const machine::AccessEvent& event, uint32_t lanes, const void* owner,
                           bool counts) {
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
    read.used = counts ? lanes : 0;
    if (reads_.size() >= kMost) settle();
    const uint64_t token = first_ + reads_.size();
    const uint32_t index = uint32_t(reads_.size());
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t last = (event.address[lane] + event.bytes - 1) >> kGranule;
        for (uint64_t at = event.address[lane] >> kGranule; at <= last; ++at) {
            by_address_[at].push_back(index * machine::kWarpSize + lane);
        }
    }
    reads_.push_back(read);
    return token;
}

void PendingReads::use(uint64_t token, uint32_t lanes) {
    if (token >= first_ && token - first_ < reads_.size()) {
        Read& read = reads_[token - first_];
        read.used |= users(read.lanes, lanes);
        return;
    }
    const auto found = unused_.find(token);
    if (found == unused_.end()) return;
    Read read = found->second;
    read.lanes = users(read.lanes, lanes);
    found->second.lanes &= ~read.lanes;
    if (!found->second.lanes) unused_.erase(found);
    report_(read);
}

// Reports what has been used, and keeps the rest for later.
void PendingReads::settle(Read& read, uint64_t token) {
    Read used = read;
    used.lanes &= read.used;
    if (used.lanes) report_(used);
    read.lanes &= ~read.used;
    if (read.lanes && unused_.size() < kMostUnused) unused_.emplace(token, read);
    read.lanes = 0;
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
    for (size_t i = 0; i < reads_.size(); ++i) {
        if (reads_[i].block.serial == block_serial && reads_[i].lanes)
            settle(reads_[i], first_ + i);
    }
}

void PendingReads::settle() {
    for (size_t i = 0; i < reads_.size(); ++i) {
        if (reads_[i].lanes) settle(reads_[i], first_ + i);
    }
    first_ += reads_.size();
    reads_.clear();
    by_address_.clear();
}

}  // namespace checks
