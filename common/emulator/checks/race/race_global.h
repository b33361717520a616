// SPDX-License-Identifier: MIT
// The checker of `race-global`: two threads, launches or copies access the same global memory, one
// of them writes, and nothing orders them. Policy: detector.h; streams: stream_order.h.
#pragma once

#include <memory>

#include "checks/report/report.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

// Shared accesses, too: a flag or barrier object in shared memory may guard global data.
constexpr uint32_t kRaceGlobalInterest =
    machine::kLaunchEvents | machine::kBlockEvents | machine::kSharedAccess |
    machine::kGlobalAccess | machine::kSyncEvents | machine::kMemoryEvents | machine::kHostEvents;

// `report` and `memory` must outlive the checker.
std::unique_ptr<machine::Observer> make_race_global(Report& report, machine::Memory& memory);

}  // namespace checks
