// SPDX-License-Identifier: MIT
// The functions and blocks of the program that contain an address. libdw's dwarf_getscopes() walks
// the whole compilation unit for each address, 10 ms or more for a test program's; this one walks
// it once, and then looks addresses up.
#pragma once

#include <elfutils/libdw.h>
#include <vector>

namespace runtime {

// The scopes at `pc` (without the module's bias) in a unit, innermost first: blocks, inlined calls,
// and last the function that the code was compiled into. Empty when no function is known there.
std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr pc);

// To be called before libdw closes the files that units belong to.
void forget_scopes();

}  // namespace runtime
