// SPDX-License-Identifier: MIT
// The checker of races: one observer with two codes, race-shared and race-global. Both kinds of
// memory share one happens-before relation, since synchronisation through either counts for both: a
// lock in global memory may guard shared data, and a flag in shared memory global data. Policy:
// detector.h.
#pragma once

#include <optional>

#include "checks/host_watch.h"
#include "checks/race/global_races.h"
#include "checks/race/happens_before.h"
#include "checks/race/shared_races.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

enum class RaceKinds : uint8_t { kShared = 1, kGlobal = 2, kBoth = 3 };

class Races final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kLaunchEvents | machine::kBlockEvents |
                                           machine::kSharedAccess | machine::kGlobalAccess |
                                           machine::kSyncEvents | machine::kMemoryEvents |
                                           machine::kHostEvents;

    // `kinds`: the memory whose races are reported. Synchronisation always counts in both.
    Races(Report& report, machine::Memory& memory, RaceKinds kinds = RaceKinds::kBoth);
    // Which bytes the host must not touch; null without race-global.
    HostWatch* host_watch() { return global_ ? &*global_ : nullptr; }

    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_launch_end(const machine::LaunchInfo& launch,
                       const machine::LaunchSummary& summary) override;
    void on_block_begin(const machine::BlockInfo& block) override { order_.on_block_begin(block); }
    void on_block_end(const machine::BlockInfo& block) override;
    void on_access(const machine::AccessEvent& event) override;
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most) override;
    void on_access_run(const machine::AccessEvent& first, int64_t step, uint64_t count) override;
    void on_async_copy(const machine::AsyncCopyEvent& event) override {
        if (shared_) shared_->async_copy(event);
    }
    void on_block_barrier(const machine::BarrierEvent& event) override {
        order_.on_block_barrier(event);
    }
    void on_warp_sync(const machine::WarpSyncEvent& event) override { order_.on_warp_sync(event); }
    void on_fence(const machine::FenceEvent& event) override;
    // Shared memory does not outlive a block: streams and the host do not concern it.
    void on_order(const machine::OrderEvent& event) override {
        if (global_) order_.on_order(event);
    }
    void on_host_access(const machine::HostAccess& access) override {
        if (global_) global_->host_access(access);
    }
    void on_free(const machine::Allocation& allocation) override {
        if (global_) global_->free(allocation);
    }

private:
    HappensBefore order_;
    std::optional<SharedRaces> shared_;
    std::optional<GlobalRaces> global_;
};

}  // namespace checks
