// SPDX-License-Identifier: MIT
// Reads the program's own debug information (DWARF, through elfutils' libdw) and picks, from a
// call path, the line that its author will recognise.
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

// The levels at one instruction, innermost first; at least one, perhaps with `module` alone.
std::vector<HostFrame> frames_at(uint64_t pc);

// The first level of the user's own source on the path `pcs` (innermost first). `entry`: the
// function of this library that the innermost one called, or empty. Not thread-safe.
ptx::SourceLine blame(const std::vector<uint64_t>& pcs, const std::string& entry);

// The part of the program that holds `pc`, and its compilation unit there; null when unknown.
Dwfl_Module* module_at(uint64_t pc);
Dwarf_Die* unit_at(Dwfl_Module* module, uint64_t pc, Dwarf_Addr* bias);

// Whether the file belongs to the toolkit, the system, or code that nvcc generates.
bool is_library_source(const std::string& path);

}  // namespace runtime
