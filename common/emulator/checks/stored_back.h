// SPDX-License-Identifier: MIT
// `*(volatile int*)n = *(volatile int*)n + 1`: a strong load and a strong store that change a word
// in two steps. Neither races with a flag's reader, yet what another thread stores in between is
// lost, and only an atomic operation would do.
#pragma once

#include "machine/events.h"

namespace checks {

// Whether what the load at instruction `load` brings goes, changed, into what the store at
// instruction `store` writes, both in one function. Changed: by more than moves and by operations
// that give the same when they are done twice (and, or, minimum, maximum), where nothing is lost
// that matters to a flag. Looks through the function each time.
bool is_stored_back(machine::SiteId load, machine::SiteId store);

}  // namespace checks
