// SPDX-License-Identifier: MIT
// uninitialized-shared. See uninitialized.cpp for global memory.
#include "checks/uninitialized/uninitialized.h"

#include <bit>

#include "checks/report/places.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

Bits& UninitializedShared::shadow(const machine::BlockInfo& block) {
    if (current_bits_ && current_ == block.serial) return *current_bits_;
    const auto [entry, fresh] = blocks_.try_emplace(block.serial);
    if (fresh) {
        const uint64_t bytes = block.launch->shared_bytes;
        if (!spare_.empty() && spare_.back().bytes() >= bytes / 8 + 16) {
            entry->second = std::move(spare_.back());
            spare_.pop_back();
            entry->second.clear();
        } else {
            spare_.clear();  // of a kernel with less shared memory
            entry->second = Bits(bytes);
        }
    }
    current_ = block.serial;
    current_bits_ = &entry->second;
    return *current_bits_;
}

void UninitializedShared::on_block_end(const machine::BlockInfo& block) {
    if (!pending_.empty()) pending_.settle_block(block.serial);
    const auto found = blocks_.find(block.serial);
    if (found == blocks_.end()) return;
    if (current_bits_ == &found->second) current_bits_ = nullptr;
    if (spare_.size() < 64) spare_.push_back(std::move(found->second));
    blocks_.erase(found);
}

void UninitializedShared::access(const AccessEvent& event, machine::UndefinedLoad* answer) {
    const uint32_t good = event.mask & ~event.bad_lanes;
    if (!good) return;
    Bits& bits = shadow(*event.warp->block);
    if (event.variable) {
        touch(event, *event.variable, bits, good, answer);
        return;
    }
    for (uint32_t left = good; left;) {
        const machine::LaunchInfo& launch = *event.warp->block->launch;
        const auto* variable =
            machine::shared_variable_at(launch, event.address[std::countr_zero(left)]);
        uint32_t same = 1u << std::countr_zero(left);
        for (uint32_t m = left & ~same; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (machine::shared_variable_at(launch, event.address[lane]) == variable)
                same |= 1u << lane;
        }
        left &= ~same;
        if (variable) touch(event, *variable, bits, same, answer);
    }
}

void UninitializedShared::touch(const AccessEvent& event, const machine::SharedVariable& variable,
                                Bits& bits, uint32_t lanes, machine::UndefinedLoad* answer) {
    // Bit 0 stands for the block's first compact byte.
    const uint64_t base = variable.address - variable.offset;
    if (event.kind == AccessKind::kStore && !pending_.empty()) pending_.on_store(event, lanes);
    const uint32_t empty = unwritten_lanes(event, bits, base, lanes);
    if (event.undefined_store) {
        stay_unwritten(event, bits, base, lanes & event.undefined_store);
        left_.store(event, lanes & event.undefined_store);
    }
    if (empty && !is_exchange(event))
        note_read({this, pending_, left_}, event, empty, &variable, answer);
}

void UninitializedShared::on_block_barrier(const machine::BarrierEvent& event) {
    if (!pending_.empty() && event.expected == 0) pending_.settle_block(event.block->serial);
}

void UninitializedShared::on_warp_sync(const machine::WarpSyncEvent& event) {
    if (!pending_.empty()) pending_.on_warp_sync(event.warp->block->serial, event.warp->index);
}

// Blocks of a launch that was stopped do not end.
void UninitializedShared::on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) {
    pending_.settle();
    pending_.forget();
    left_.clear();
    blocks_.clear();
    current_bits_ = nullptr;
}

void UninitializedShared::report(const PendingReads::Read& read) {
    const auto& variable = *static_cast<const machine::SharedVariable*>(read.owner);
    const auto block = blocks_.find(read.block.serial);
    if (block != blocks_.end())  // one omission is one finding
        for (uint32_t m = read.lanes; m; m &= m - 1)
            block->second.set_small(
                read.address[std::countr_zero(m)] - variable.address + variable.offset, read.bytes);
    add_finding(
        findings_, "uninitialized-shared", read, variable.address, "no thread of its block", [&] {
            return name_shared(*read.block.launch, variable, read.element_bytes);
        });
}

}  // namespace checks
