// SPDX-License-Identifier: MIT
// Connects the checker that tracks host memory in flight (checks/host_watch.h) with the pages that
// are closed to the host (runtime/host_watch/host_pages.h).
#pragma once

#include <cstdint>
#include <vector>

#include "checks/checks.h"
#include "runtime/host_watch/fault_handler.h"

namespace emulator {

// Does nothing when none of the checkers watches the host. Call it while the library is loaded,
// before the fault handler is installed. `on_reported` is called after every access that was
// reported.
void watch_host_accesses(const std::vector<checks::Checker>& checkers, runtime::FaultHooks& hooks,
                         void (*on_reported)());

// Host code of the library function `api` reads or writes these bytes now. Device memory is a
// finding, and the result is 1; so is memory in flight, with the result 0.
int host_uses(const char* api, const void* address, uint64_t bytes, bool writes);

}  // namespace emulator
