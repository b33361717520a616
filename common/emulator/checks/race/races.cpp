// SPDX-License-Identifier: MIT
// Feeds each event to the happens-before relation first, and then to the memory that it concerns.
#include "checks/race/races.h"

namespace checks {

using machine::AccessEvent;
using ptx::Space;

Races::Races(Report& report, machine::Memory& memory, RaceKinds kinds) {
    if (uint8_t(kinds) & uint8_t(RaceKinds::kShared)) shared_.emplace(order_, report);
    if (uint8_t(kinds) & uint8_t(RaceKinds::kGlobal)) global_.emplace(order_, report, memory);
}

void Races::on_launch_begin(const machine::LaunchInfo& launch) {
    order_.on_launch_begin(launch);
    if (shared_) shared_->begin_launch();
    if (global_) global_->begin_launch(launch);
}

void Races::on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary& summary) {
    order_.on_launch_end();
    if (shared_) shared_->end_launch();
    if (global_) global_->end_launch(summary);
}

void Races::on_block_end(const machine::BlockInfo& block) {
    order_.on_block_end(block);
    if (shared_) shared_->end_block(block);
}

void Races::on_access(const AccessEvent& event) {
    const bool shared = event.space == Space::kShared;
    if (!shared && event.space != Space::kGlobal) return;
    uint32_t published = 0;  // the lanes whose write publishes something
    if (is_strong(event)) {
        WarpOrder& warp = order_.warp(*event.warp);
        warp.used = true;
        published = order_.on_strong_access(event, warp);
    }
    if (shared && shared_) shared_->access(event, published);
    if (!shared && global_) global_->access(event, published);
}

uint64_t Races::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    if (next.space == Space::kShared) return shared_ ? shared_->foresee(next, step, most) : most;
    return global_ ? global_->foresee(next, step, most) : most;
}

void Races::on_access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    if (first.space == Space::kShared) {
        if (shared_) shared_->access_run(first, step, count);
    } else if (global_) {
        global_->access_run(first, step, count);
    }
}

void Races::on_fence(const machine::FenceEvent& event) {
    order_.on_fence(event);
    if (global_) global_->fence(event);
}

}  // namespace checks
