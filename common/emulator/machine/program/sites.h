// SPDX-License-Identifier: MIT
// The process-wide table of sites: the PTX instruction and module of each SiteId.
#pragma once

#include "machine/events.h"

namespace machine {

// `module` and `function` must never be destroyed (loaded modules are not).
SiteId register_site(ptx::Module& module, const ptx::Function& function, uint32_t instruction);
uint32_t site_count();
// Frees the sites from `count` on, for programs that load and drop thousands of modules. Their
// modules must be gone, and no observer may look up their sites any more.
void forget_sites(uint32_t count);
// Whether a function is the user's: whether its first line is. Parts of it may be inlined from a
// toolkit.
bool is_users(ptx::Module& module, const ptx::Function& function);
// The index of the instruction in its function's body.
uint32_t instruction_of_site(SiteId site);
const ptx::Function* function_of_site(SiteId site);  // null for an unknown site

}  // namespace machine
