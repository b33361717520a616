// SPDX-License-Identifier: MIT
// libFuzzer: bytes given to the reader of fat binaries as a container of known length.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "ptx/container/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // A copy with exactly its size, so that a read past its end is noticed.
    const std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
    if (size) std::memcpy(bytes.get(), data, size);
    for (const bool require_ptx : {false, true}) {
        try {
            const auto images = ptx::read_container({bytes.get(), size}, require_ptx);
            ptx::best_image(images, 75);
        } catch (const ptx::FatbinError&) {
        }
    }
    return 0;
}
