// SPDX-License-Identifier: MIT
// Places in the host program: which line of the user's own source called into the library. Taking
// a site is cheap (a walk up the stack); turning it into file and line waits until somebody asks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/memory.h"
#include "ptx/module.h"

namespace runtime {

// The calling place of the API function that is running: the same call path gives the same site.
// Never fails; 0 when the stack cannot be walked. Thread-safe, and so is resolve_host_site.
machine::HostSite capture_host_site();

// Deep enough for the header templates between a user's line and the API at -O0.
constexpr size_t kMaxHostFrames = 40;

// A call path before it is kept as a site.
struct HostPath {
    std::array<uint64_t, kMaxHostFrames> pc;  // of the call instructions, innermost first
    size_t count = 0;
    uint64_t entry = 0;  // start of the API function that the innermost one called
};
// host_site_of_instruction() in two steps: the first takes no lock and allocates nothing, so that
// it can be taken in the middle of any code.
void walk_from_instruction(uint64_t pc, HostPath& path);
machine::HostSite host_site_of(const HostPath& path);
// The path of the call that is running, as capture_host_site() takes it.
void walk_from_here(HostPath& path);

// The same for an instruction that a signal handler's frame lies above, callers included. `pc` is
// the instruction itself, not a return address.
machine::HostSite host_site_of_instruction(uint64_t pc);
// The same for an instruction alone, where the stack below it cannot be walked.
machine::HostSite host_site_without_callers(uint64_t pc);

// Whether the address is code of this library; never in programs that link its parts themselves.
bool is_own_code(uint64_t pc);

// Whether the program drops what the API function that was called there returns; see result_use.h.
bool result_is_ignored_at(machine::HostSite site);

// File, line and function of the first frame in the user's own source: not this library, not the
// toolkit's or the system's headers. Without debug information `file` names the module (program
// or shared library), `line` is 0, and `function` comes from the symbol table if it is there.
ptx::SourceLine resolve_host_site(machine::HostSite site);

}  // namespace runtime
