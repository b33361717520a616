// SPDX-License-Identifier: MIT
// `*(volatile int*)n = *(volatile int*)n + 1`: a strong load and a strong store that change a word
// in two steps. Neither races with a flag's reader, yet what another thread stores in between is
// lost, and only an atomic operation would do.
#pragma once

#include "machine/events.h"

namespace checks {

// Whether the value that instruction `load` loads is changed and then written by instruction
// `store` of the same function. Moves do not change it, nor do operations that are idempotent (and,
// or, minimum, maximum): no update of a flag is lost with those. Analyses the function at each
// call.
bool is_lost_update(machine::SiteId load, machine::SiteId store);

}  // namespace checks
