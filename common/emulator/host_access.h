// SPDX-License-Identifier: MIT
// Connects the checker that tracks host memory in flight (checks/host_watch.h) with the pages that
// are closed to the host (runtime/host_watch/host_pages.h).
#pragma once

#include <vector>

#include "checks/checks.h"
#include "runtime/host_watch/fault_handler.h"

namespace emulator {

// Does nothing when none of the checkers watches the host. Call it while the library is loaded,
// before the fault handler is installed. `on_reported` is called after every access that was
// reported.
void watch_host_accesses(const std::vector<checks::Checker>& checkers, runtime::FaultHooks& hooks,
                         void (*on_reported)());

}  // namespace emulator
