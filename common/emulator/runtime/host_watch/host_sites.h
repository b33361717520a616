// SPDX-License-Identifier: MIT
// Places in the host program: the line of the user's own source that called into the library.
// Capturing a site is cheap (it walks the stack); resolving it to file and line is deferred until
// it is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/memory.h"
#include "ptx/module.h"

namespace runtime {

// The calling place of the running API function; equal call paths have equal sites. Never fails; 0
// if the stack cannot be walked. Thread-safe, as is resolve_host_site.
machine::HostSite capture_host_site();

// Deep enough for the header templates between a user's line and the API at -O0.
constexpr size_t kMaxHostFrames = 40;

// A call path that is not stored as a site yet.
struct HostPath {
    std::array<uint64_t, kMaxHostFrames> pc;  // of the call instructions, innermost first
    size_t count = 0;
    uint64_t entry = 0;  // start of the API function that the innermost one called
};
// The first of the two steps of host_site_of_instruction(): takes no lock and allocates nothing, so
// it may run in the middle of any code.
void walk_from_instruction(uint64_t pc, HostPath& path);
machine::HostSite host_site_of(const HostPath& path);
// The path of the running call, as captured by capture_host_site().
void walk_from_here(HostPath& path);

// The same for an instruction below a signal handler's frame, callers included. `pc` is the
// instruction itself, not a return address.
machine::HostSite host_site_of_instruction(uint64_t pc);
// The same for an instruction alone, if the stack below it cannot be walked.
machine::HostSite host_site_without_callers(uint64_t pc);

// Whether the address is code of this library or of one added to it; always false in programs that
// link its parts.
bool is_own_code(uint64_t pc);
// The shared library with this address in its code counts as a part of this one.
void add_own_code(uint64_t address);

// Whether the program ignores the result of the API function that was called there; see
// result_use.h.
bool result_is_ignored_at(machine::HostSite site);

// File, line and function of the first frame in the user's own source: not this library, not the
// toolkit's or the system's headers. Without debug information `file` names the module (program
// or shared library), `line` is 0, and `function` comes from the symbol table if it is there.
ptx::SourceLine resolve_host_site(machine::HostSite site);

}  // namespace runtime
