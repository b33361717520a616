// SPDX-License-Identifier: MIT
// libFuzzer: text given to the PTX reader, then every function body parsed and every line asked
// for.
#include <cstddef>
#include <cstdint>
#include <string>

#include "ptx/demangle/demangle.h"
#include "ptx/module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        const auto module =
            ptx::Module::open(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
        for (const ptx::FunctionHeader& header : module->functions()) {
            ptx::demangled_function(header.name);
            try {
                const ptx::Function* function = module->function(header.name);
                module->unsupported(header.name);
                if (!function) continue;
                for (const ptx::Instruction& instruction : function->body) {
                    module->user_line(instruction.location);
                    module->inline_chain(instruction.location);
                }
            } catch (const ptx::ParseError&) {
            }
        }
    } catch (const ptx::ParseError&) {
    }
    return 0;
}
