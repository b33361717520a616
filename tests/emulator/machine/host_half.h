// SPDX-License-Identifier: MIT
// The compiler's own binary16, to compare with: g++ 12 knows the standard's name on x86-64 only.
#pragma once

#if defined(__aarch64__)
using HostHalf = __fp16;
#else
using HostHalf = _Float16;
#endif
