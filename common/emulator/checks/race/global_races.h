// SPDX-License-Identifier: MIT
// `race-global`: two threads, launches or copies access the same global memory, one of them writes,
// and nothing orders them. Policy: detector.h; streams: stream_order.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/host_watch.h"
#include "checks/race/detector.h"
#include "checks/race/host_races.h"
#include "checks/race/touched_pages.h"

namespace checks {

// Part of Races, which has entered each event of the device into `order` before.
class GlobalRaces final : public HostWatch {
public:
    GlobalRaces(HappensBefore& order, Report& report, machine::Memory& memory)
        : order_(order), memory_(memory), detector_("race-global", order, report),
          host_("race-global", order, detector_.instructions(), report) {}

    void begin_launch(const machine::LaunchInfo& launch);
    void end_launch(const machine::LaunchSummary& summary);
    void fence(const machine::FenceEvent& event) {
        system_fence_ |= event.scope == machine::Scope::kSys;
    }
    // `published`: what HappensBefore::on_strong_access returned.
    void access(const machine::AccessEvent& event, uint32_t published);
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most);
    void access_run(const machine::AccessEvent& first, int64_t step, uint64_t count);
    void host_access(const machine::HostAccess& access);
    void free(const machine::Allocation& allocation);

    bool has_news() const override {
        return pages_.any() && (pages_.has_news() || knowledge_ != order_.host_knowledge());
    }
    bool uses_host_memory() const override { return pages_.any(); }
    void review(const Page& page, const std::function<void()>& nothing) override;
    void host_touched(const HostTouch& touch) override;

private:
    // Offsets count from the sector that the allocation begins in.
    static uint64_t base(const machine::Allocation& a) {
        return a.address & ~uint64_t(kSectorBytes - 1);
    }
    Shadow& shadow(const machine::Allocation& a);
    const Shadow* shadow_of(const machine::Allocation& a) const {
        return a.id < shadows_.size() ? shadows_[a.id].get() : nullptr;
    }
    void forget_old();
    void check(const machine::AccessEvent& event, uint32_t lanes, uint32_t published,
               const machine::Allocation& a);
    void check_made(const machine::AccessEvent& event, uint32_t lane, const machine::Allocation& a);
    void note_host_memory(const machine::AccessEvent& event, uint32_t lanes,
                          const machine::Allocation& a);
    void name_launch();
    void host_ranges(const machine::HostAccess& access, Segment segment, bool ordered);
    void host_range(const machine::HostAccess& access, const machine::Allocation& a,
                    uint64_t address, bool writes, Segment segment, bool ordered);
    void enter_late();

    // Memory that was allocated in the order of a stream: in which segment, and the launch that was
    // checked last.
    struct Made {
        Segment segment = 0;
        uint64_t launch = 0;
    };

    // Copies and fills since the last launch of a program that has only the default stream so far.
    // They enter the shadow when there is another stream, which may not wait for them.
    struct Unentered {
        machine::HostAccess access;
        Segment segment;
    };
    static constexpr size_t kUnentered = 4096;

    HappensBefore& order_;
    machine::Memory& memory_;
    RaceDetector detector_;
    HostRaces host_;
    std::deque<Unentered> unentered_;
    std::vector<std::unique_ptr<Shadow>> shadows_;  // by allocation id
    std::unordered_map<uint32_t, Made> made_;       // the same
    uint64_t generation_ = 0;
    TouchedPages pages_;
    uint64_t knowledge_ = 0;                       // of the host, at the last review
    const machine::LaunchInfo* launch_ = nullptr;  // the running one, until it has been named
    bool system_fence_ = false;                    // in the running launch
};

}  // namespace checks
