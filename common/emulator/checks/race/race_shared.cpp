// SPDX-License-Identifier: MIT
#include "checks/race/race_shared.h"

#include <bit>
#include <set>
#include <unordered_map>
#include <vector>

#include "checks/race/async_shadow.h"
#include "checks/race/race_observer.h"

namespace checks {
namespace {

using machine::AccessEvent;

class RaceShared final : public RaceObserver {
public:
    RaceShared(Report& report, machine::Memory& memory)
        : RaceObserver("race-shared", report, memory), report_(report) {}

    void on_launch_begin(const machine::LaunchInfo& launch) override {
        RaceObserver::on_launch_begin(launch);
        blocks_.clear();  // of a launch that was aborted
        copies_.clear();
        met_.clear();
        last_ = nullptr;
    }
    void on_block_end(const machine::BlockInfo& block) override;
    void on_access(const AccessEvent& event) override;
    uint64_t foresee(const AccessEvent& next, int64_t step, uint64_t most) override;
    void on_access_run(const AccessEvent& first, int64_t step, uint64_t count) override;
    void on_async_copy(const machine::AsyncCopyEvent& event) override;

private:
    Shadow& shadow(const machine::BlockInfo& block) {
        return last_ && last_serial_ == block.serial ? *last_ : shadow_of(block);
    }
    Shadow& shadow_of(const machine::BlockInfo& block);
    void enter(const AccessEvent& event, uint32_t published);
    void compare_with_copies(const AccessEvent& event);

    std::unordered_map<uint64_t, std::unique_ptr<Shadow>> blocks_;  // by serial
    std::vector<std::unique_ptr<Shadow>> spare_;                    // wiped
    uint64_t last_serial_ = 0;
    Shadow* last_ = nullptr;
    AsyncShadow copies_;
    std::set<machine::SiteId> met_;  // copies of this launch that a thread did not wait for
    Report& report_;
};

// The shadow lies in the order of the compact layout, so one suffices for all variables.
Shadow& RaceShared::shadow_of(const machine::BlockInfo& block) {
    auto& mine = blocks_[block.serial];
    if (!mine) {
        const uint64_t bytes = block.launch->shared_bytes;
        while (!spare_.empty() && !mine) {
            if (spare_.back()->bytes() >= bytes) mine = std::move(spare_.back());
            spare_.pop_back();
        }
        if (!mine) mine = std::make_unique<Shadow>(bytes);
    }
    last_ = mine.get();
    last_serial_ = block.serial;
    return *last_;
}

void RaceShared::on_block_end(const machine::BlockInfo& block) {
    RaceObserver::on_block_end(block);
    copies_.end_block(block.serial);
    const auto found = blocks_.find(block.serial);
    if (found == blocks_.end()) return;
    found->second->wipe(block.launch->shared_bytes);
    spare_.push_back(std::move(found->second));
    blocks_.erase(found);
    if (last_serial_ == block.serial) last_ = nullptr;
}

void RaceShared::on_access(const AccessEvent& event) {
    if (event.space != ptx::Space::kShared) {
        on_foreign_access(event);
        return;
    }
    const uint32_t published = follow(event);
    if (!copies_.empty()) compare_with_copies(event);
    enter(event, published);
}

// Plain accesses to global memory do not concern this checker.
uint64_t RaceShared::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    if (next.space != ptx::Space::kShared) return most;
    if (!copies_.empty()) return 0;
    return detector_.undisputed(next,
                                step,
                                most,
                                nullptr,
                                shadow(*next.warp->block),
                                next.variable->offset - next.variable->address);
}

void RaceShared::on_access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    if (first.space != ptx::Space::kShared) return;
    detector_.run(first,
                  step,
                  count,
                  nullptr,
                  shadow(*first.warp->block),
                  first.variable->offset - first.variable->address);
}

// Only its wait orders the write of a copy in progress: before that, even its own thread must not
// access those bytes.
void RaceShared::compare_with_copies(const AccessEvent& event) {
    copies_.overlaps(event, [&](uint32_t lane, uint64_t address, const AsyncShadow::Copy& copy) {
        Race race;
        race.event = &event;
        race.lane = lane;
        race.address = address;
        race.other_segment = copy.segment;
        race.other_lane = copy.lane;
        race.other_site = copy.site;
        race.other = {true, false, true, false, false};
        race.under_way = true;
        report_.add(describe_race("race-shared", *order_, race, 1));
        met_.insert(copy.site);
    });
}

void RaceShared::on_async_copy(const machine::AsyncCopyEvent& copy) {
    const AccessEvent& store = *copy.store;
    if (copy.kind == machine::AsyncCopyEvent::Kind::kStarted) {
        copies_.start(store, order_->warp(*store.warp).segment);
        return;
    }
    copies_.complete(store);
    // The store takes place now. Copies that were reported already are not reported again.
    if (!met_.contains(store.site)) enter(store, 0);
}

void RaceShared::enter(const AccessEvent& event, uint32_t published) {
    const uint32_t lanes = event.mask & ~event.bad_lanes;
    if (!lanes) return;
    Shadow& memory = shadow(*event.warp->block);
    if (event.variable) {
        detector_.access(event,
                         lanes,
                         published,
                         nullptr,
                         memory,
                         event.variable->offset - event.variable->address);
        return;
    }
    // Lanes in several variables, or some of them out of range.
    for (uint32_t left = lanes; left;) {
        const auto variable_of = [&](uint32_t lane) {
            return machine::shared_variable_at(*event.warp->block->launch, event.address[lane]);
        };
        const auto* variable = variable_of(uint32_t(std::countr_zero(left)));
        uint32_t together = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (variable_of(lane) == variable) together |= 1u << lane;
        }
        left &= ~together;
        if (variable)
            detector_.access(
                event, together, published, nullptr, memory, variable->offset - variable->address);
    }
}

}  // namespace

std::unique_ptr<machine::Observer> make_race_shared(Report& report, machine::Memory& memory) {
    return std::make_unique<RaceShared>(report, memory);
}

}  // namespace checks
