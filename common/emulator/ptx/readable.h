// SPDX-License-Identifier: MIT
// How much of the process's memory behind a pointer may be read: a damaged fat binary says that it
// is longer than the program that holds it.
#pragma once

#include <cstddef>

namespace ptx {

// The number of readable bytes from `at` on, `wanted` at most. Where the system does not tell
// (/proc is not mounted): `wanted`.
size_t readable_bytes(const void* at, size_t wanted);

}  // namespace ptx
