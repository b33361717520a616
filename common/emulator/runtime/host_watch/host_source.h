// SPDX-License-Identifier: MIT
// Reads the program's debug information (DWARF, through elfutils' libdw) and selects, from a call
// path, the line in the user's source.
#pragma once

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <string>
#include <vector>

#include "ptx/module.h"

namespace runtime {

// One level of a call path, inlined calls included.
struct HostFrame {
    std::string file;  // absolute where the debug information has the directory
    uint32_t line = 0, column = 0;
    std::string function;  // as declared, without parameters; empty when unknown
    std::string linkage;   // mangled, where known
    std::string module;    // program or shared library that the code is in
};

// The levels at one instruction, innermost first; at least one, possibly with only `module`.
std::vector<HostFrame> frames_at(uint64_t pc);

// The first level in the user's own source on the path `pcs` (innermost first). `entry`: the
// function of this library that the innermost one called, or empty. Not thread-safe.
ptx::SourceLine blame(const std::vector<uint64_t>& pcs, const std::string& entry);

// The module of the program that contains `pc`, and its compilation unit there; null when unknown.
Dwfl_Module* module_at(uint64_t pc);
Dwarf_Die* unit_at(Dwfl_Module* module, uint64_t pc, Dwarf_Addr* bias);

// Whether the file belongs to the toolkit, to the system, or to code that nvcc generates.
bool is_library_source(const std::string& path);

}  // namespace runtime
