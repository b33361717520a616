// SPDX-License-Identifier: MIT
// libFuzzer: text loaded into a machine, and every kernel decoded. Nothing is launched.
#include <cstddef>
#include <cstdint>
#include <string>

#include "machine/machine.h"
#include "machine/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static machine::Memory memory;  // reserving its address range takes longer than loading
    machine::Observers observers;
    const auto device = machine::Machine::create(memory, observers);
    try {
        const auto module =
            device->load(std::string(reinterpret_cast<const char*>(data), size), "fuzz", 0);
        for (const ptx::FunctionHeader& header : module->ptx().functions()) {
            try {
                if (machine::Kernel* kernel = module->kernel(header.name)) {
                    kernel->parameter_bytes();
                    kernel->static_shared_bytes();
                    kernel->local_bytes();
                    kernel->registers();
                }
            } catch (const ptx::ParseError&) {
            } catch (const machine::UnsupportedPtx&) {
            }
        }
        for (machine::Allocation* variable : module->variables()) memory.release(*variable, 0);
    } catch (const ptx::ParseError&) {
    } catch (const machine::UnsupportedPtx&) {
    }
    return 0;
}
