// SPDX-License-Identifier: MIT
// The plain load in front of a loop of compare-and-swap. The programming guide writes atomics that
// the hardware lacks in this way ("Atomic Functions": atomicAdd of double): an older value only
// makes the first exchange fail, so such a load races with no atomic.
#pragma once

#include "machine/events.h"

namespace checks {

// Whether what the load at `instruction` brings is what a compare-and-swap of its function expects
// to find: directly, or after moves; true where the function is not known. Looks through the
// function each time.
bool may_be_expected(machine::SiteId instruction);

}  // namespace checks
