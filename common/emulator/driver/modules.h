// SPDX-License-Identifier: MIT
// Modules and libraries of the driver API: PTX that a program loads while it runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/frame.h"
#include "ptx/module.h"
#include "runtime/core/registry.h"

namespace driver {

// The log buffers of the JIT options, and the texts to be written to them.
class JitLog {
public:
    // Throws std::invalid_argument for options without values.
    JitLog(unsigned count, CUjit_option* options, void** values);
    void error(const std::string& text) { errors_ += text + "\n"; }
    void info(const std::string& text) { infos_ += text + "\n"; }
    const std::string& errors() const { return errors_; }
    void write();  // into the program's buffers

private:
    unsigned count_;
    CUjit_option* options_;
    void** values_;
    std::string errors_, infos_;
};

// The object of a CUmodule or CUlibrary: one link unit and its handles.
struct Module {
    runtime::FatBinary* binary = nullptr;
    bool is_library = false;
    std::map<std::string, runtime::KernelRecord*, std::less<>> kernels;
};

// A function that `module` calls by name and does not define.
struct MissingCallee {
    std::string name;
    uint32_t line;  // of the first call, in the PTX text
};
// All missing callees except the toolkit's. Parses every body: throws ptx::ParseError.
std::vector<MissingCallee> missing_callees(ptx::Module& module);

// Packs PTX texts as a linked image, which can be loaded like any other image.
std::vector<char> pack_image(const std::vector<runtime::FatBinary::Image>& texts);
// The PTX objects of an image: PTX text, a fat binary, its wrapper, or a packed image. On failure
// writes the reason to `log`.
CUresult read_image(const void* image, JitLog& log,
                    std::vector<std::vector<runtime::FatBinary::Image>>& objects);

}  // namespace driver
