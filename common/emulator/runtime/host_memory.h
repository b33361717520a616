// SPDX-License-Identifier: MIT
// Asks the operating system whether plain host memory is there, before a copy touches it.
#pragma once

#include <cstdint>

namespace runtime {

// How many of the `bytes` bytes at `address` this process can read, from the first one on. All of
// them where the system does not say. It looks at the ends, and at pages in between only when an
// end is missing: two short system calls for a copy.
uint64_t readable_bytes(uint64_t address, uint64_t bytes);

}  // namespace runtime
