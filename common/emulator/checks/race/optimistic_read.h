// SPDX-License-Identifier: MIT
// The plain load before a compare-and-swap loop. The programming guide implements atomics that the
// hardware lacks in this way ("Atomic Functions": atomicAdd of double). An older value only makes
// the first exchange fail, so such a load does not race with an atomic.
#pragma once

#include "machine/events.h"

namespace checks {

// Whether a compare-and-swap in the same function expects the value of the load at `instruction`,
// directly or after moves; true where the function is not known. Analyses the function at each
// call.
bool may_be_expected(machine::SiteId instruction);

}  // namespace checks
