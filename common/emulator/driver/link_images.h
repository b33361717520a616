// SPDX-License-Identifier: MIT
// The emulated device's linker for libraries that link without a context: what cuLink does, as one
// call of libcudart.
#pragma once

#include <cstddef>

namespace emulator {

struct LinkInput {
    const char* data;  // PTX text or a fat binary
    size_t bytes;
    const char* name;  // for messages; may be null
};

}  // namespace emulator

// Gives the linked image to `take`. Otherwise `problem` says what is wrong, until the next call in
// this thread.
extern "C" void emulatorLinkImages(const emulator::LinkInput* inputs, size_t count,
                                   void (*take)(void*, const char*, size_t), void* out,
                                   const char** problem);
