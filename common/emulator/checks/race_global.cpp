// SPDX-License-Identifier: MIT
#include "checks/race_global.h"

#include <bit>
#include <vector>

#include "checks/race_observer.h"

namespace checks {
namespace {

using machine::AccessEvent;
using machine::Allocation;

class RaceGlobal final : public RaceObserver {
public:
    RaceGlobal(Report& report, machine::Memory& memory)
        : RaceObserver("race-global", report, memory) {}

    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_access(const AccessEvent& event) override;
    uint64_t foresee(const AccessEvent& next, int64_t step, uint64_t most) override;
    void on_streak(const AccessEvent& first, int64_t step, uint64_t count) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_order(const machine::OrderEvent& event) override { order_->on_order(event); }
    void on_free(const Allocation& allocation) override {
        if (allocation.kind != machine::MemoryKind::kHeap) order_->on_free();
        if (allocation.id < shadows_.size()) shadows_[allocation.id].reset();
    }

private:
    // Offsets count from the sector that the allocation begins in.
    static uint64_t base(const Allocation& a) { return a.address & ~uint64_t(kSectorBytes - 1); }
    Shadow& shadow(const Allocation& a);
    void host_range(const machine::HostAccess& access, const Allocation& a, uint64_t address,
                    bool writes, Segment segment);

    std::vector<std::unique_ptr<Shadow>> shadows_;  // by allocation id
    uint64_t generation_ = 0;
};

Shadow& RaceGlobal::shadow(const Allocation& a) {
    if (a.id >= shadows_.size()) shadows_.resize(a.id + 16);
    auto& mine = shadows_[a.id];
    if (!mine) mine = std::make_unique<Shadow>(a.address - base(a) + a.bytes);
    return *mine;
}

void RaceGlobal::on_launch_begin(const machine::LaunchInfo& launch) {
    RaceObserver::on_launch_begin(launch);
    for (auto& shadow : shadows_)
        if (shadow && shadow->has_spilled() && !order_->concurrent()) shadow->drop_spilled();
}

void RaceGlobal::on_access(const AccessEvent& event) {
    if (event.space != ptx::Space::kGlobal) {
        on_foreign_access(event);
        return;
    }
    if (generation_ != order_->generation()) {
        generation_ = order_->generation();
        shadows_.clear();
    }
    const uint32_t published = follow(event);
    const uint32_t lanes = event.mask & ~event.bad_lanes;
    if (!lanes) return;
    if (event.allocation) {
        const Allocation& a = *event.allocation;
        detector_.access(event, lanes, published, &a, shadow(a), 0 - base(a));
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
            detector_.access(event, together, published, a, shadow(*a), 0 - base(*a));
    }
}

// Plain accesses to shared memory are nothing to this checker.
uint64_t RaceGlobal::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    if (next.space != ptx::Space::kGlobal) return most;
    const Allocation& a = *next.allocation;
    return detector_.undisputed(next, step, most, &a, shadow(a), 0 - base(a));
}

void RaceGlobal::on_streak(const AccessEvent& first, int64_t step, uint64_t count) {
    if (first.space != ptx::Space::kGlobal) return;
    const Allocation& a = *first.allocation;
    detector_.streak(first, step, count, &a, shadow(a), 0 - base(a));
}

void RaceGlobal::on_host_access(const machine::HostAccess& access) {
    const Segment segment = order_->on_host_access(access);
    if (segment == 0) return;
    using Kind = machine::HostAccess::Kind;
    if (access.allocation)
        host_range(access, *access.allocation, access.address, access.kind != Kind::kRead, segment);
    if (access.kind == Kind::kCopy && access.source)
        host_range(access, *access.source, access.source_address, false, segment);
}

void RaceGlobal::host_range(const machine::HostAccess& access, const Allocation& a,
                            uint64_t address, bool writes, Segment segment) {
    if (!a.contains(address, access.bytes) || access.bytes == 0) return;
    const uint64_t begin = address - base(a);
    detector_.host_access(access, a, segment, shadow(a), begin, begin + access.bytes, writes);
}

}  // namespace

std::unique_ptr<machine::Observer> make_race_global(Report& report, machine::Memory& memory) {
    return std::make_unique<RaceGlobal>(report, memory);
}

}  // namespace checks
