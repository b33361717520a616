// SPDX-License-Identifier: MIT
#include "checks/uninitialized/uninitialized.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "checks/report/places.h"

namespace checks {
namespace {

using machine::AccessEvent;
using machine::AccessKind;

// A store of undefined values: a copy of what is unwritten, so the copy is, too.
void stay_unwritten(const AccessEvent& event, Bits& bits, uint64_t base, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1)
        bits.reset(event.address[std::countr_zero(m)] - base, event.bytes);
}

// Lanes that read bytes none of which was written; all lanes' bytes are written afterwards, unless
// it is still open whether the value will be used. `base` is the address of the first bit.
uint32_t unwritten_lanes(const AccessEvent& event, Bits& bits, uint64_t base, uint32_t lanes) {
    const uint32_t width = event.bytes;
    if (event.contiguous && lanes == machine::kAllLanes) {
        const uint64_t start = event.address[0] - base;
        if (event.kind == AccessKind::kStore) {
            bits.set(start, uint64_t(width) * 32);
            return 0;
        }
        if (bits.all(start, uint64_t(width) * 32)) return 0;
    }
    uint32_t missing = 0;
    // A small area that all lanes keep to is often written as a whole.
    const uint64_t span = event.highest - event.lowest;
    if (event.kind != AccessKind::kStore && event.highest && span < 2048 && !event.bad_lanes &&
        lanes == event.mask && bits.all(event.lowest - base, span + width))
        return 0;
    if (event.kind == AccessKind::kStore) {
        for (uint32_t m = lanes; m; m &= m - 1) {
            bits.set_small(event.address[std::countr_zero(m)] - base, width);
        }
        return 0;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        if (!bits.all_small(event.address[lane] - base, width)) missing |= 1u << lane;
    }
    if (!missing) return 0;
    uint32_t empty = 0;
    for (uint32_t m = missing; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        if (!bits.any(event.address[lane] - base, width)) empty |= 1u << lane;
    }
    if (event.undefined_load) return empty;
    // Only now, so that lanes that read the same byte all count.
    const uint32_t settled = event.kind == AccessKind::kLoad ? empty : missing;
    for (uint32_t m = settled; m; m &= m - 1) {
        bits.set_small(event.address[std::countr_zero(m)] - base, width);
    }
    return empty;
}

// atom.exch gives back the old value but does not compute with it.
bool is_exchange(const AccessEvent& event) {
    return event.kind != AccessKind::kLoad && !event.wrote_only_if_equal &&
           opcode_of(event).find(".exch") != std::string_view::npos;
}

using Read = PendingReads::Read;

// The finding for a read, once it is sure that nothing was written.
void add_finding(ThreadFindings& findings, const char* code, const Read& read, uint64_t subject,
                 const char* who, const std::function<Array()>& name) {
    machine::WarpInfo warp;
    warp.block = &read.block;
    warp.index = read.warp;
    warp.valid = read.valid;
    findings.add(code, read.site, warp, read.lanes, subject, read.address, [&](uint32_t lane) {
        Draft draft;
        draft.array = name();
        const std::string element = draft.array.elements_at(read.address[lane], read.bytes);
        const bool several = element.find("` to `") != std::string::npos;
        Finding& finding = draft.finding;
        finding.message = element + (several ? " are " : " is ") + done_by(read.kind) + ", but " +
                          who + " has ever written " + (several ? "them" : "it");
        finding.allocation = draft.array.description;
        finding.address = hex(read.address[lane]);
        finding.bytes = read.bytes;
        if (!draft.array.name.empty()) finding.facts.add("array", draft.array.name);
        finding.facts.add("access", access_name(read.kind));
        return draft;
    });
}

// What a load finds where nothing was written: tells the machine, and returns whether it is this
// checker's to report. Else a store left an undefined value there, whose origin is known.
bool follow(const AccessEvent& event, uint32_t empty, const LeftValues& left) {
    if (!event.undefined_load) return true;
    event.undefined_load->lanes |= empty;
    const uint32_t origin =
        left.empty() ? 0 : left.origin(event, uint32_t(std::countr_zero(empty)));
    if (!origin) return true;
    event.undefined_load->origin = origin;
    return false;
}

bool begins_initialised(const machine::Allocation& allocation) {
    return !allocation.marked && allocation.kind != machine::MemoryKind::kDevice &&
           allocation.kind != machine::MemoryKind::kHeap &&
           allocation.kind != machine::MemoryKind::kArray;
}

}  // namespace

uint64_t LeftValues::key(const AccessEvent& event, uint32_t lane) {
    // Every block has its own shared memory.
    const bool shared = event.space == ptx::Space::kShared;
    return event.address[lane] ^ (shared ? event.warp->block->serial << 32 : 0);
}

void LeftValues::store(const AccessEvent& event, uint32_t lanes) {
    constexpr size_t kMost = 1 << 20;
    for (uint32_t m = lanes; m && origins_.size() < kMost; m &= m - 1)
        origins_[key(event, uint32_t(std::countr_zero(m)))] = event.undefined_origin;
}

uint32_t LeftValues::origin(const AccessEvent& event, uint32_t lane) const {
    const auto found = origins_.find(key(event, lane));
    return found == origins_.end() ? 0 : found->second;
}

void UninitializedGlobal::on_alloc(const machine::Allocation& allocation) {
    if (begins_initialised(allocation)) return;
    if (allocation.id >= shadows_.size()) shadows_.resize(allocation.id + 1);
    shadows_[allocation.id] = Bits(allocation.bytes);
}

void UninitializedGlobal::take_host_writes(const machine::Allocation& allocation, Bits& bits,
                                           uint64_t start, uint64_t count) {
    if (!allocation.marked || bits.all(start, count)) return;
    for (uint64_t at = start & ~uint64_t(3); at < start + count; at += 4) {
        const uint64_t width = std::min<uint64_t>(4, allocation.bytes - at);
        uint32_t word = 0;
        std::memcpy(&word, allocation.host + at, width);
        if (width < 4 || word != machine::unwritten_word(allocation.address + at))
            bits.set(at, width);
    }
}

void UninitializedGlobal::on_free(const machine::Allocation& allocation) {
    if (Bits* bits = shadow(allocation)) *bits = Bits();
}

void UninitializedGlobal::on_host_access(const machine::HostAccess& access) {
    using Kind = machine::HostAccess::Kind;
    if (!access.allocation || access.bytes == 0 || access.kind >= Kind::kFree) return;
    if (access.kind == Kind::kRead) {
        if (access.ordering == machine::HostAccess::Ordering::kLibrary) {
            read_by_library(access);
        } else {
            copied_to_host(access);
        }
        return;
    }
    Bits* to = shadow(*access.allocation);
    if (!access.allocation->contains(access.address, access.bytes)) return;
    const uint64_t start = access.address - access.allocation->address;
    Bits* from = nullptr;
    if (access.kind == Kind::kCopy && access.source &&
        access.source->contains(access.source_address, access.bytes)) {
        from = shadow(*access.source);
    }
    const uint64_t from_start = from ? access.source_address - access.source->address : 0;
    if (from) take_host_writes(*access.source, *from, from_start, access.bytes);
    if (from && from->all(from_start, access.bytes)) from = nullptr;
    if (from && !to && !begins_initialised(*access.allocation)) {
        // Wholly written so far, and now it gets a gap.
        shadows_[access.allocation->id] = Bits(access.allocation->bytes);
        to = &shadows_[access.allocation->id];
        to->set(0, access.allocation->bytes);
    }
    if (from && to) {
        to->copy(start, *from, from_start, access.bytes);
    } else if (to && access.bytes == access.allocation->bytes) {
        *to = Bits();  // all of it is written now, and stays so
    } else if (to) {
        to->set(start, access.bytes);
    }
}

void UninitializedGlobal::copied_to_host(const machine::HostAccess& access) {
    const machine::Allocation& allocation = *access.allocation;
    Bits* bits = shadow(allocation);
    if (!bits || !allocation.contains(access.address, access.bytes)) return;
    const uint64_t start = access.address - allocation.address;
    // Copies of rectangles come row by row: there, all of the memory must be unwritten.
    const bool is_row =
        access.api && (std::strstr(access.api, "2D") || std::strstr(access.api, "3D"));
    take_host_writes(allocation, *bits, 0, allocation.bytes);
    if (bits->any(is_row ? 0 : start, is_row ? allocation.bytes : access.bytes)) return;
    bits->set(start, access.bytes);  // once
    const Array array = name_global(nullptr, allocation, 0, false);
    Finding finding;
    finding.code = "uninitialized-global";
    finding.severity = Severity::kWarning;
    finding.place = place_of_host(access.site);
    finding.message = backticked(access.api ? access.api : "a copy") + " copies " +
                      plural(access.bytes, "byte") + " of device memory to the host, but nothing " +
                      "has ever written any of them";
    finding.allocation = array.description;
    finding.address = hex(access.address);
    finding.bytes = uint32_t(std::min<uint64_t>(access.bytes, 0xffffffffu));
    const Place made = place_of_host(allocation.allocated_at);
    if (made.line)
        finding.notes.push_back("it was allocated on " + line_text(made, finding.place.file));
    finding.count_text = "more times on the same line";
    report_.add(std::move(finding));
}

// A library uses every element that it reads, so one that was never written is an error.
void UninitializedGlobal::read_by_library(const machine::HostAccess& access) {
    const machine::Allocation& allocation = *access.allocation;
    Bits* bits = shadow(allocation);
    if (!bits || !allocation.contains(access.address, access.bytes)) return;
    const uint64_t start = access.address - allocation.address;
    take_host_writes(allocation, *bits, start, access.bytes);
    if (bits->all(start, access.bytes)) return;
    uint64_t unwritten = 0, first = 0;
    for (uint64_t at = 0; at < access.bytes; ++at) {
        if (bits->any(start + at, 1)) continue;
        if (unwritten++ == 0) first = at;
    }
    bits->set(start, access.bytes);  // once
    const Array array = name_global(nullptr, allocation, start + first, false);
    Finding finding;
    finding.code = "uninitialized-global";
    finding.place = place_of_host(access.site);
    finding.message =
        backticked(access.api) + " reads " + plural(access.bytes, "byte") + " as " +
        backticked(access.operand) + ", and nothing has written " +
        (unwritten == access.bytes ? "any of them" : std::to_string(unwritten) + " of them");
    finding.facts.add("operand", access.operand).add("unwritten", unwritten);
    finding.allocation = array.description;
    finding.address = hex(access.address + first);
    finding.bytes = uint32_t(std::min<uint64_t>(unwritten, 0xffffffffu));
    const Place made = place_of_host(allocation.allocated_at);
    if (made.line)
        finding.notes.push_back("it was allocated on " + line_text(made, finding.place.file));
    finding.count_text = "more times on the same line";
    report_.add(std::move(finding));
}

void UninitializedGlobal::on_access(const AccessEvent& event) {
    const uint32_t good = event.mask & ~event.bad_lanes;
    if (event.allocation) {
        if (Bits* bits = shadow(*event.allocation)) touch(event, *event.allocation, *bits, good);
        return;
    }
    for (uint32_t left = good; left;) {  // lanes in several arrays, or some of them out of bounds
        const uint32_t first = uint32_t(std::countr_zero(left));
        const machine::Allocation* allocation = memory_.find(event.address[first]);
        uint32_t same = 1u << first;
        for (uint32_t m = left & ~same; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (allocation && allocation->contains(event.address[lane], event.bytes))
                same |= 1u << lane;
        }
        left &= ~same;
        if (!allocation || !allocation->contains(event.address[first], event.bytes)) continue;
        if (Bits* bits = shadow(*allocation)) touch(event, *allocation, *bits, same);
    }
}

void UninitializedGlobal::touch(const AccessEvent& event, const machine::Allocation& allocation,
                                Bits& bits, uint32_t lanes) {
    if (event.kind == AccessKind::kStore && !pending_.empty()) pending_.on_store(event, lanes);
    if (allocation.marked && event.kind != AccessKind::kStore)
        for (uint32_t m = lanes; m; m &= m - 1)
            take_host_writes(allocation,
                             bits,
                             event.address[std::countr_zero(m)] - allocation.address,
                             event.bytes);
    const uint32_t empty = unwritten_lanes(event, bits, allocation.address, lanes);
    if (event.undefined_store) {
        stay_unwritten(event, bits, allocation.address, lanes & event.undefined_store);
        left_.store(event, lanes & event.undefined_store);
    }
    if (!empty || is_exchange(event) || !follow(event, empty, left_)) return;
    const uint64_t token = pending_.add(event, empty, &allocation, !event.undefined_load);
    if (!event.undefined_load) return;
    event.undefined_load->by = this;
    event.undefined_load->token = token;
}

void UninitializedGlobal::on_block_barrier(const machine::BarrierEvent& event) {
    if (pending_.empty() || event.expected != 0) return;
    // In a cooperative launch it may be part of a grid-wide barrier.
    pending_.on_block_barrier(event.block->serial, event.block->launch->cooperative);
}

void UninitializedGlobal::on_warp_sync(const machine::WarpSyncEvent& event) {
    if (!pending_.empty()) pending_.on_warp_sync(event.warp->block->serial, event.warp->index);
}

void UninitializedGlobal::report(const Read& read) {
    const auto& allocation = *static_cast<const machine::Allocation*>(read.owner);
    if (Bits* bits = shadow(allocation))  // one omission is one finding
        for (uint32_t m = read.lanes; m; m &= m - 1)
            bits->set_small(read.address[std::countr_zero(m)] - allocation.address, read.bytes);
    add_finding(findings_, "uninitialized-global", read, allocation.id + 1ull, "nothing", [&] {
        return name_global(read.block.launch,
                           allocation,
                           read.element_bytes,
                           read.kind != AccessKind::kLoad,
                           read.address[std::countr_zero(read.lanes)]);
    });
}

uint64_t UninitializedGlobal::shadow_bytes() const {
    uint64_t total = 0;
    for (const Bits& bits : shadows_) total += bits.bytes();
    return total;
}

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

void UninitializedShared::on_access(const AccessEvent& event) {
    const uint32_t good = event.mask & ~event.bad_lanes;
    if (!good) return;
    Bits& bits = shadow(*event.warp->block);
    if (event.variable) {
        touch(event, *event.variable, bits, good);
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
        if (variable) touch(event, *variable, bits, same);
    }
}

void UninitializedShared::touch(const AccessEvent& event, const machine::SharedVariable& variable,
                                Bits& bits, uint32_t lanes) {
    // Bit 0 stands for the block's first compact byte.
    const uint64_t base = variable.address - variable.offset;
    if (event.kind == AccessKind::kStore && !pending_.empty()) pending_.on_store(event, lanes);
    const uint32_t empty = unwritten_lanes(event, bits, base, lanes);
    if (event.undefined_store) {
        stay_unwritten(event, bits, base, lanes & event.undefined_store);
        left_.store(event, lanes & event.undefined_store);
    }
    if (!empty || is_exchange(event) || !follow(event, empty, left_)) return;
    const uint64_t token = pending_.add(event, empty, &variable, !event.undefined_load);
    if (!event.undefined_load) return;
    event.undefined_load->by = this;
    event.undefined_load->token = token;
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

void UninitializedShared::report(const Read& read) {
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
