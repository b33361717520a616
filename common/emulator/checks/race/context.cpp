// SPDX-License-Identifier: MIT
#include "checks/race/context.h"

#include <cstring>

namespace checks {

using machine::AccessEvent;

uint32_t rank(const AccessContext& c, Epoch e, uint32_t lane) {
    if (e < c.floor) return 0;
    const Segment segment = segment_of(e);
    if (c.partial || segment < c.order.launch_first()) {
        if (unordered_lane(c, e, lane) == kNoLane) return 0;
        if (segment < c.order.launch_first()) return 3;
    }
    const uint32_t warp = c.order.warp_of(segment);
    if (warp == c.warp.number) {
        const bool same_thread = lane_of(e) == lane && second_lane_of(e) == lane;
        return same_thread || segment < c.warp.floor ? 0 : 1;
    }
    if (!c.order.same_block(warp, c.warp)) return 3;
    return segment < c.warp.block->floor ? 0 : 2;
}

namespace {

// Lane by lane the same thread: nothing to order.
bool same_lanes(Epoch a, Epoch b) {
    return lane_of(a) == lane_of(b) && shape_of(a).log2 == shape_of(b).log2;
}

}  // namespace

bool pattern_ordered(const AccessContext& c, Epoch e, Epoch mine, bool load) {
    if (e < c.ordered_floor) return true;
    const Segment segment = segment_of(e);
    if (segment >= c.order.launch_first() && c.order.warp_of(segment) == c.warp.number)
        return segment < c.warp.floor || same_lanes(e, mine);
    return load ? c.order.loads_ordered_for_all(segment, c.warp)
                : c.order.ordered_for_all(segment, c.warp);
}

uint32_t pattern_rank(const AccessContext& c, Epoch e, Epoch mine) {
    if (pattern_ordered(c, e, mine)) return 0;
    const Segment segment = segment_of(e);
    if (segment < c.order.launch_first()) return 3;
    const uint32_t warp = c.order.warp_of(segment);
    return warp == c.warp.number ? 1 : c.order.same_block(warp, c.warp) ? 2 : 3;
}

const std::byte* held_at(const AccessContext& c, uint64_t address, uint32_t lane) {
    if (c.allocation)
        return c.allocation->host ? c.allocation->host + (address - c.allocation->address)
                                  : nullptr;
    const std::byte* held = machine::current_bytes(c.event, lane);
    return held ? held + (address - c.event.address[lane]) : nullptr;
}

bool stores_what_is_there(const AccessContext& c, Epoch writer, uint32_t byte, uint32_t bytes,
                          uint32_t lane) {
    const AccessEvent& event = c.event;
    if (!event.values) return false;
    const uint64_t address = c.address(byte);
    const auto stored_by = [&](uint32_t l) {
        return event.values + l * event.value_stride + (address - event.address[l]);
    };
    if (segment_of(writer) == c.segment && instruction_of(writer) == c.id) {
        // Perhaps another lane of this very instruction, which is not in memory yet.
        for (uint32_t l = lane; l-- > 0;) {
            if (!((event.mask & ~event.bad_lanes) >> l & 1) || address < event.address[l] ||
                address + bytes > event.address[l] + event.bytes)
                continue;
            return std::memcmp(stored_by(lane), stored_by(l), bytes) == 0;
        }
    }
    const std::byte* now = held_at(c, address, lane);
    return now && std::memcmp(stored_by(lane), now, bytes) == 0;
}

}  // namespace checks
