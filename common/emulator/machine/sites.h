// SPDX-License-Identifier: MIT
// The process-wide table behind SiteId: which PTX instruction of which module a site is.
#pragma once

#include "machine/events.h"

namespace machine {

// `module` and `function` must live for ever (loaded modules are never destroyed).
SiteId register_site(ptx::Module& module, const ptx::Function& function, uint32_t instruction);
uint32_t site_count();
// The sites from `count` on are nobody's any more: for those who load and drop modules by the
// thousand. Their modules, and whoever was told of their sites, must be gone or never ask again.
void forget_sites(uint32_t count);
// Whether a function is a user's: its first line is. Parts of it may be inlined from a toolkit.
bool is_users(ptx::Module& module, const ptx::Function& function);
// The index of the instruction in its function's body.
uint32_t instruction_of_site(SiteId site);
const ptx::Function* function_of_site(SiteId site);  // null for a site of nobody

}  // namespace machine
