// SPDX-License-Identifier: MIT
// The common part of the two race checkers: they share one happens-before relation, so that
// synchronisation through either space counts for both, and one of them feeds it events. Only
// RaceGlobal handles streams and host operations: shared memory does not outlive a block.
#pragma once

#include <memory>

#include "checks/race/detector.h"

namespace checks {

class RaceObserver : public machine::Observer {
public:
    RaceObserver(const char* code, Report& report, machine::Memory& memory)
        : memory_(memory), order_(HappensBefore::of(memory)), detector_(code, *order_, report) {
        order_->attach(this);
    }
    ~RaceObserver() override { order_->detach(this); }

    void on_launch_begin(const machine::LaunchInfo& launch) override {
        if (drives()) order_->on_launch_begin(launch);
    }
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override {
        detector_.settle();
        if (drives()) order_->on_launch_end();
    }
    void on_block_begin(const machine::BlockInfo& block) override {
        if (drives()) order_->on_block_begin(block);
    }
    void on_block_end(const machine::BlockInfo& block) override {
        if (drives()) order_->on_block_end(block);
    }
    void on_block_barrier(const machine::BarrierEvent& event) override {
        if (drives()) order_->on_block_barrier(event);
    }
    void on_warp_sync(const machine::WarpSyncEvent& event) override {
        if (drives()) order_->on_warp_sync(event);
    }
    void on_fence(const machine::FenceEvent& event) override {
        if (drives()) order_->on_fence(event);
    }

protected:
    bool drives() const { return order_->drives(this); }
    // Enters a strong access into the relation, once per event. Returns the publishing lanes.
    uint32_t follow(const machine::AccessEvent& event) {
        if (!is_strong(event)) return 0;
        WarpOrder& warp = order_->warp(*event.warp);
        warp.used = true;
        return order_->on_strong_access(event, warp);
    }
    // An access to the other checker's space: only entered when that checker is absent.
    void on_foreign_access(const machine::AccessEvent& event) {
        if (is_strong(event) && order_->alone()) follow(event);
    }

    machine::Memory& memory_;
    std::shared_ptr<HappensBefore> order_;
    RaceDetector detector_;
};

}  // namespace checks
