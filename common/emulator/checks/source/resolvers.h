// SPDX-License-Identifier: MIT
// From places in running programs to source lines.
#pragma once

#include <functional>

#include "machine/events.h"

namespace checks {

// Converts a HostSite to file and line; set by the library.
using HostResolver = std::function<ptx::SourceLine(machine::HostSite)>;
void set_host_resolver(HostResolver resolver);
ptx::SourceLine resolve_host(machine::HostSite site);

// Where checkers look up the line of an instruction: machine::code_site, unless a test replaces it.
using SiteResolver = const machine::CodeSite& (*)(machine::SiteId);
void set_site_resolver(SiteResolver resolver);  // null: machine::code_site again
const machine::CodeSite& site_of(machine::SiteId site);

}  // namespace checks
