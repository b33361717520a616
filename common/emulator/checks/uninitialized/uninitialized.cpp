// SPDX-License-Identifier: MIT
// uninitialized-global. See uninitialized_shared.cpp for shared memory.
#include "checks/uninitialized/uninitialized.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "checks/report/places.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

namespace {

bool begins_initialised(const machine::Allocation& allocation) {
    if (allocation.imported) return true;  // as far as this process can know
    return !allocation.marked && allocation.kind != machine::MemoryKind::kDevice &&
           allocation.kind != machine::MemoryKind::kHeap &&
           allocation.kind != machine::MemoryKind::kArray;
}

}  // namespace

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

void UninitializedGlobal::on_share(const machine::Allocation& allocation) {
    on_free(allocation);
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
        // All of it was written so far; this copy makes a part of it unwritten.
        shadows_[access.allocation->id] = Bits(access.allocation->bytes);
        to = &shadows_[access.allocation->id];
        to->set(0, access.allocation->bytes);
    }
    if (from && to) {
        to->copy(start, *from, from_start, access.bytes);
    } else if (to && access.bytes == access.allocation->bytes) {
        *to = Bits();  // all of it is written from now on
    } else if (to) {
        to->set(start, access.bytes);
    }
}

void UninitializedGlobal::copied_to_host(const machine::HostAccess& access) {
    const machine::Allocation& allocation = *access.allocation;
    Bits* bits = shadow(allocation);
    if (!bits || !allocation.contains(access.address, access.bytes)) return;
    const uint64_t start = access.address - allocation.address;
    // Copies of rectangles are reported row by row: then the whole allocation must be unwritten.
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

void UninitializedGlobal::access(const AccessEvent& event, machine::UndefinedLoad* answer) {
    const uint32_t good = event.mask & ~event.bad_lanes;
    if (event.allocation) {
        if (Bits* bits = shadow(*event.allocation))
            touch(event, *event.allocation, *bits, good, answer);
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
        if (Bits* bits = shadow(*allocation)) touch(event, *allocation, *bits, same, answer);
    }
}

void UninitializedGlobal::touch(const AccessEvent& event, const machine::Allocation& allocation,
                                Bits& bits, uint32_t lanes, machine::UndefinedLoad* answer) {
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
    if (empty && !is_exchange(event))
        note_read({this, pending_, left_}, event, empty, &allocation, answer);
}

void UninitializedGlobal::on_block_barrier(const machine::BarrierEvent& event) {
    if (pending_.empty() || event.expected != 0) return;
    // In a cooperative launch it may be part of a grid-wide barrier.
    pending_.on_block_barrier(event.block->serial, event.block->launch->cooperative);
}

void UninitializedGlobal::on_warp_sync(const machine::WarpSyncEvent& event) {
    if (!pending_.empty()) pending_.on_warp_sync(event.warp->block->serial, event.warp->index);
}

void UninitializedGlobal::report(const PendingReads::Read& read) {
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

}  // namespace checks
