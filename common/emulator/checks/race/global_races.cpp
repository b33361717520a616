// SPDX-License-Identifier: MIT
#include "checks/race/global_races.h"

#include <algorithm>
#include <bit>

namespace checks {

using machine::AccessEvent;
using machine::Allocation;

namespace {

// Whether the host may meet it in memory of its own.
bool for_host(const machine::HostAccess& access) {
    return access.pinned || access.allocation->host_visible() ||
           (access.source && access.source->host_visible());
}

}  // namespace

Shadow& GlobalRaces::shadow(const Allocation& a) {
    if (a.id >= shadows_.size()) shadows_.resize(a.id + 16);
    auto& mine = shadows_[a.id];
    if (!mine) mine = std::make_unique<Shadow>(a.address - base(a) + a.bytes);
    return *mine;
}

// Segment numbers have started again.
void GlobalRaces::forget_old() {
    if (generation_ == order_.generation()) return;
    generation_ = order_.generation();
    shadows_.clear();
    made_.clear();
    unentered_.clear();
}

void GlobalRaces::begin_launch(const machine::LaunchInfo& launch) {
    forget_old();
    if (order_.concurrent()) enter_late();
    unentered_.clear();
    launch_ = &launch;
    system_fence_ = false;
    for (auto& shadow : shadows_)
        if (shadow && shadow->has_spilled() && !order_.concurrent()) shadow->drop_spilled();
}

void GlobalRaces::check(const AccessEvent& event, uint32_t lanes, uint32_t published,
                        const Allocation& a) {
    if (a.host_visible()) note_host_memory(event, lanes, a);
    if (!made_.empty()) check_made(event, uint32_t(std::countr_zero(lanes)), a);
    detector_.access(event, lanes, published, &a, shadow(a), 0 - base(a));
}

void GlobalRaces::access(const AccessEvent& event, uint32_t published) {
    const uint32_t lanes = event.mask & ~event.bad_lanes;
    if (!lanes) return;
    if (event.allocation) {
        check(event, lanes, published, *event.allocation);
        return;
    }
    for (uint32_t left = lanes; left;) {
        const Allocation* a = memory_.find(event.address[std::countr_zero(left)]);
        uint32_t together = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (a ? a->contains(event.address[lane], event.bytes)
                  : lane == uint32_t(std::countr_zero(left)))
                together |= 1u << lane;
        }
        if (!together) together = left & (0 - left);  // cannot happen for lanes that are not bad
        left &= ~together;
        if (a && a->contains(event.address[std::countr_zero(together)], event.bytes))
            check(event, together, published, *a);
    }
}

// Checks once per launch whether its stream has waited for the allocation.
void GlobalRaces::check_made(const AccessEvent& event, uint32_t lane, const Allocation& a) {
    const auto found = made_.find(a.id);
    const uint64_t launch = event.warp->block->launch->serial;
    if (found == made_.end() || found->second.launch == launch) return;
    found->second.launch = launch;
    const Segment made = found->second.segment;
    if (made >= order_.ordered_before() && !order_.streams().ordered(made))
        host_.too_early(event, lane, a, made);
}

uint64_t GlobalRaces::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    const Allocation& a = *next.allocation;
    return detector_.undisputed(next, step, most, &a, shadow(a), 0 - base(a));
}

void GlobalRaces::access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    const Allocation& a = *first.allocation;
    if (a.host_visible()) {
        note_host_memory(first, first.mask, a);
        const uint64_t from = first.address[std::countr_zero(first.mask)];
        const uint64_t to = from + uint64_t(step) * (count - 1);
        pages_.add(a, std::min(from, to), std::max(from, to) + first.bytes);
    }
    detector_.run(first, step, count, &a, shadow(a), 0 - base(a));
}

void GlobalRaces::note_host_memory(const AccessEvent& event, uint32_t lanes, const Allocation& a) {
    if (event.contiguous) {
        pages_.add(a, event.address[0], event.address[0] + machine::kWarpSize * event.bytes);
    } else {
        for (uint32_t m = lanes; m; m &= m - 1) {
            const uint64_t address = event.address[std::countr_zero(m)];
            pages_.add(a, address, address + event.bytes);
        }
    }
    if (event.kind != machine::AccessKind::kLoad && is_strong(event) &&
        (system_fence_ || event.order == machine::MemoryOrder::kVolatile ||
         event.scope == machine::Scope::kSys))
        order_.talks_to_host();
    name_launch();
}

// The launch outlives its end in messages about memory that the host touches too early.
void GlobalRaces::name_launch() {
    if (!launch_) return;
    auto names = std::make_shared<LaunchNames>();
    names->launch = *launch_;
    if (launch_->parameters) names->parameters = *launch_->parameters;
    names->arguments.assign(launch_->arguments.begin(), launch_->arguments.end());
    names->launch.parameters = &names->parameters;
    names->launch.arguments = names->arguments;
    names->launch.shared = nullptr;
    order_.name_launch(std::move(names));
    launch_ = nullptr;
}

void GlobalRaces::end_launch(const machine::LaunchSummary& summary) {
    detector_.settle();
    launch_ = nullptr;
    if (summary.status == machine::LaunchStatus::kOk) return;
    order_.host_sees_all();
}

void GlobalRaces::free(const Allocation& allocation) {
    if (allocation.kind != machine::MemoryKind::kHeap) {
        order_.on_free();
        unentered_.clear();  // the host has waited for them
    }
    if (allocation.id < shadows_.size()) shadows_[allocation.id].reset();
    pages_.forget(allocation);
    made_.erase(allocation.id);
}

void GlobalRaces::review(const Page& page, const std::function<void()>& nothing) {
    if (!order_.streams().any_in_flight()) {
        pages_.clear();
        nothing();
        return;
    }
    const bool knows_more = knowledge_ != order_.host_knowledge();
    knowledge_ = order_.host_knowledge();
    pages_.review(knows_more, [&](uint32_t id, uint64_t address) {
        const Allocation& a = memory_.by_id(id);
        PageUse use;
        const Shadow* shadow = a.live ? shadow_of(a) : nullptr;
        if (shadow) {
            // As offsets in the shadow; the first may be after the page's first byte.
            const uint64_t begin = std::max(address, a.address) - base(a);
            const uint64_t end = std::min(address + kHostPageBytes, a.address + a.bytes) - base(a);
            host_.add_use(*shadow, address - base(a), begin, end, use);
        }
        page(a, address, use);
        return std::any_of(use.touched.begin(), use.touched.end(), [](uint64_t w) { return w; });
    });
}

void GlobalRaces::host_touched(const HostTouch& touch) {
    const Allocation* a = memory_.find(touch.address);
    const Shadow* shadow = a && a->live && a->host_visible() ? shadow_of(*a) : nullptr;
    const uint64_t end = std::min(touch.address + touch.bytes, a ? a->address + a->bytes : 0);
    if (shadow && touch.address >= a->address && touch.address < end)
        host_.host_touch(touch, *a, *shadow, touch.address - base(*a), end - base(*a));
}

void GlobalRaces::host_access(const machine::HostAccess& access) {
    const Segment segment = order_.on_host_access(access);
    if (segment == 0) return;
    using Kind = machine::HostAccess::Kind;
    if (access.kind == Kind::kAllocate) {
        made_[access.allocation->id] = {segment, 0};
        return;
    }
    if (!order_.concurrent() && !for_host(access)) {
        if (unentered_.size() == kUnentered) unentered_.pop_front();
        unentered_.push_back({access, segment});
        return;
    }
    enter_late();
    host_ranges(access, segment, false);
}

void GlobalRaces::enter_late() {
    for (const Unentered& late : unentered_)
        if (!order_.streams().host_knows(late.segment))
            host_ranges(late.access, late.segment, true);
    unentered_.clear();
}

void GlobalRaces::host_ranges(const machine::HostAccess& access, Segment segment, bool ordered) {
    using Kind = machine::HostAccess::Kind;
    if (access.allocation)
        host_range(access,
                   *access.allocation,
                   access.address,
                   access.kind != Kind::kRead,
                   segment,
                   ordered);
    if (access.kind == Kind::kCopy && access.source)
        host_range(access, *access.source, access.source_address, false, segment, ordered);
    if (access.pinned)
        host_range(
            access, *access.pinned, access.pinned_address, access.writes_pinned, segment, ordered);
}

void GlobalRaces::host_range(const machine::HostAccess& access, const Allocation& a,
                             uint64_t address, bool writes, Segment segment, bool ordered) {
    if (!a.contains(address, access.bytes) || access.bytes == 0) return;
    // (A free that does not wait for the allocation does not wait for its use either.)
    if (const auto made = made_.find(a.id); made != made_.end() &&
                                            access.kind != machine::HostAccess::Kind::kFree &&
                                            !order_.ordered_before_host(made->second.segment))
        host_.too_early(access, a, made->second.segment, writes);
    const uint64_t begin = address - base(a);
    if (a.host_visible()) pages_.add(a, address, address + access.bytes);
    Shadow& memory = shadow(a);
    detector_.enter_deferred(memory);
    if (writes) memory.note_write(segment);
    host_.host_access(access, a, segment, memory, begin, begin + access.bytes, writes, ordered);
}

}  // namespace checks
