// SPDX-License-Identifier: MIT
// The properties of an ELF file that matter for loading the emulator's libcudart into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace emulator {

struct ElfFacts {
    bool is_elf = false;
    bool is_object = false;              // compiled but not linked
    bool is_for_this_processor = false;  // a program or library that can run here
    bool is_dynamic = false;          // has an interpreter, so that shared libraries can be loaded
    bool has_device_code = false;     // a section .nv_fatbin
    bool has_static_cudart = false;   // the CUDA runtime is linked statically
    bool is_python = false;           // runs Python scripts
    std::vector<std::string> needed;  // DT_NEEDED
    std::vector<std::string> rpath, runpath;  // with $ORIGIN replaced
};

// Reads headers, sections and the dynamic table. Empty when the file cannot be opened or read
// (errno says why); a damaged file gives the facts found before the damage.
std::optional<ElfFacts> read_elf(const std::string& path);

}  // namespace emulator
