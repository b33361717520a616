// SPDX-License-Identifier: MIT
// The host's own accesses to memory in flight: the checker that knows what is in flight
// (checks/host_watch.h) and the pages that are closed to the host (runtime/host_pages.h), put
// together.
#pragma once

#include <vector>

#include "checks/checks.h"
#include "runtime/fault_handler.h"

namespace emulator {

// Nothing happens where none of the checkers watches the host. Call it before the fault handler is
// installed, and while the library is loaded; `told` runs behind every access that was told.
void watch_host_accesses(const std::vector<checks::Checker>& checkers, runtime::FaultHooks& hooks,
                         void (*told)());

}  // namespace emulator
