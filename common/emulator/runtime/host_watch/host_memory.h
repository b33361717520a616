// SPDX-License-Identifier: MIT
// Checks that plain host memory exists before a copy accesses it.
#pragma once

#include <cstdint>

namespace runtime {

// How many of the `bytes` bytes at `address` are readable, counted from the first one. All of them
// if the system does not report it. Checks the first and last byte, and pages between them only if
// the last one is missing: two short system calls for a copy.
uint64_t readable_bytes(uint64_t address, uint64_t bytes);

}  // namespace runtime
