// SPDX-License-Identifier: MIT
// `race-shared`: two threads of a block access the same shared memory, one of them writes, and no
// barrier, warp sync or fence with a flag orders them. Policy: detector.h.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "checks/race/async_shadow.h"
#include "checks/race/detector.h"

namespace checks {

// Part of Races, which has entered each event into `order` before.
class SharedRaces {
public:
    SharedRaces(HappensBefore& order, Report& report)
        : order_(order), report_(report), detector_("race-shared", order, report) {}

    void begin_launch();
    void end_launch() { detector_.settle(); }
    void end_block(const machine::BlockInfo& block);
    // `published`: what HappensBefore::on_strong_access returned.
    void access(const machine::AccessEvent& event, uint32_t published);
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most);
    void access_run(const machine::AccessEvent& first, int64_t step, uint64_t count);
    void async_copy(const machine::AsyncCopyEvent& copy);

private:
    Shadow& shadow(const machine::BlockInfo& block) {
        return last_ && last_serial_ == block.serial ? *last_ : shadow_of(block);
    }
    Shadow& shadow_of(const machine::BlockInfo& block);
    void enter(const machine::AccessEvent& event, uint32_t published);
    void compare_with_copies(const machine::AccessEvent& event);

    HappensBefore& order_;
    Report& report_;
    RaceDetector detector_;
    std::unordered_map<uint64_t, std::unique_ptr<Shadow>> blocks_;  // by serial
    std::vector<std::unique_ptr<Shadow>> spare_;                    // wiped
    uint64_t last_serial_ = 0;
    Shadow* last_ = nullptr;
    AsyncShadow copies_;
    std::set<machine::SiteId> met_;  // copies of this launch that a thread did not wait for
};

}  // namespace checks
