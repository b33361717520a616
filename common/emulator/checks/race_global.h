// SPDX-License-Identifier: MIT
// The checker behind `race-global`: two threads, launches or copies touch the same global memory,
// one of them writing, and nothing orders them. Policy: race_common.h; streams:
// happens_before_streams.h.
#pragma once

#include <memory>

#include "checks/report.h"
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
