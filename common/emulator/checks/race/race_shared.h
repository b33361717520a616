// SPDX-License-Identifier: MIT
// The checker of `race-shared`: two threads of a block access the same shared memory, one of them
// writes, and no barrier, warp sync or fence with a flag orders them. Policy: detector.h.
#pragma once

#include <memory>

#include "checks/report/report.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

// Global accesses, too: a lock in global memory may guard shared data.
constexpr uint32_t kRaceSharedInterest = machine::kLaunchEvents | machine::kBlockEvents |
                                         machine::kSharedAccess | machine::kGlobalAccess |
                                         machine::kSyncEvents;

// `report` and `memory` must outlive the checker.
std::unique_ptr<machine::Observer> make_race_shared(Report& report, machine::Memory& memory);

}  // namespace checks
