// SPDX-License-Identifier: MIT
// How much memory after a pointer is readable: a damaged fat binary may claim to be longer than the
// program that contains it.
#pragma once

#include <cstddef>

namespace ptx {

// The number of readable bytes from `at` on, at most `wanted`. Where the system does not report it
// (/proc is not mounted): `wanted`.
size_t mapped_bytes(const void* at, size_t wanted);

}  // namespace ptx
