// SPDX-License-Identifier: MIT
// Which loads are deferred, and how they enter the shadow: see deferred_reads.h.
#include <utility>

#include "checks/race/detector.h"
#include "checks/race/lane_order.h"
#include "machine/program/lane_pattern.h"

namespace checks {

using machine::AccessEvent;

// A region is the time between two barriers of the whole block for shared memory, a launch for
// global memory. What happened earlier is ordered before all that happens in it.
bool RaceDetector::defer(const AccessEvent& event, uint32_t lanes,
                         const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    BlockOrder& block = order_.block_of(*event.warp);
    DeferredReads& reads = shadow.deferred();
    const Segment region = allocation ? order_.launch_first() : block.floor;
    if (reads.region() != region) {
        enter_deferred(shadow, allocation ? nullptr : &block);
        // Other streams may be writing what the launch loads; and the host asks what a launch has
        // done so far with memory of its own.
        const bool alone = !allocation || (order_.ordered_before() == order_.launch_first() &&
                                           !allocation->host_visible());
        reads.begin(region,
                    alone && shadow.written() < region && shadow.bytes() < uint64_t(1) << 32,
                    order_.warps_per_block());
    }
    if (!reads.open() || order_.partial() || order_.full()) return false;
    const machine::SiteId id = instructions_.identify(event);
    WarpOrder& w = block.warps[event.warp->index];
    DeferredReads::Load load{w.segment,
                             w.floor,
                             block.floor,
                             block.first_segment,
                             w.number,
                             id,
                             lanes,
                             event.bytes,
                             1,
                             false};
    if (event.contiguous) {
        load.group = machine::kWarpSize;
    } else if (event.pattern && event.pattern->group) {
        load.group = uint8_t(event.pattern->group);
        load.same = event.pattern->same;
    }
    if (!reads.add(load, event.address, shift)) return false;
    instructions_.enter(id, event, allocation);
    w.used = true;
    w.steps.note(event.site, w.segment);
    return true;
}

void RaceDetector::enter_deferred(Shadow& shadow, const BlockOrder* block) {
    DeferredReads& reads = shadow.deferred();
    reads.close();
    if (reads.empty()) return;
    // After a barrier, a load can only show that an atomic follows it, see guesses.h.
    const bool over = block ? reads.newest() < block->floor && !instructions_.occurred().atomic
                            : order_.streams().host_knows(reads.newest());
    if (!over && !order_.full()) {
        const HappensBefore::Earlier earlier(order_, reads, block == nullptr);
        AccessEvent event{};
        event.kind = machine::AccessKind::kLoad;
        BlockOrder at;
        WarpOrder warp;
        warp.block = &at;
        reads.each([&](const DeferredReads::Load& load, const uint64_t* offset) {
            at.first_warp = load.warp - load.warp % reads.warps_per_block();
            at.first_segment = load.block_first;
            at.floor = load.block_floor;
            warp.number = load.warp;
            warp.segment = load.segment;
            warp.floor = load.warp_floor;
            event.bytes = uint8_t(load.bytes);
            event.mask = load.lanes;
            event.address = offset;
            event.contiguous = load.group == machine::kWarpSize && !load.same;
            AccessContext c{
                event, warp, shadow, 0, nullptr, order_, instructions_, instructions_.occurred()};
            c.id = load.id;
            set_floors(c, block == nullptr);
            plain(c, load.lanes);
        });
    }
    reads.clear();
}

HappensBefore::Earlier::Earlier(HappensBefore& order, const DeferredReads& reads, bool global)
    : order_(order), launch_first_(reads.region()), ordered_before_(reads.region()),
      warps_per_block_(reads.warps_per_block()),
      launch_(global && reads.region() != order.launch_first_) {
    if (launch_) {
        // Of this memory, the shadow has no other entries of that launch.
        segment_warp_.resize(reads.newest() - reads.region() + 1);
        reads.each([&](const DeferredReads::Load& load, const uint64_t*) {
            segment_warp_[load.segment - reads.region()] = load.warp;
        });
    }
    swap();
}

void HappensBefore::Earlier::swap() {
    std::swap(order_.partial_, partial_);
    if (!launch_) return;
    std::swap(order_.launch_first_, launch_first_);
    std::swap(order_.ordered_before_, ordered_before_);
    std::swap(order_.warps_per_block_, warps_per_block_);
    std::swap(order_.segment_warp_, segment_warp_);
}

}  // namespace checks
