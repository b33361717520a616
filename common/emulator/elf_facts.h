// SPDX-License-Identifier: MIT
// What an ELF file says about itself, as far as it matters for loading our libcudart into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace emulator {

struct ElfFacts {
    bool is_elf = false;
    bool is_object = false;              // what a compiler writes and no linker has linked
    bool is_for_this_processor = false;  // a program or library, and for what this one runs on
    bool is_dynamic = false;          // has an interpreter, so that shared libraries can be loaded
    bool has_device_code = false;     // a section .nv_fatbin
    bool has_static_cudart = false;   // contains the runtime itself
    std::vector<std::string> needed;  // DT_NEEDED
    std::vector<std::string> rpath, runpath;  // with $ORIGIN replaced
};

// Reads headers, sections and the dynamic table. Empty when the file cannot be opened or read
// (errno says why); a damaged file gives the facts found before the damage.
std::optional<ElfFacts> read_elf(const std::string& path);

}  // namespace emulator
