// SPDX-License-Identifier: MIT
// Host memory that is freed is overwritten, so that a program which still uses it (a pointer into a
// vector that has grown, the c_str() of a temporary string) does not get the right values by luck.
// It *defines* operator delete, weakly, as several files of a test may include it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <malloc.h>

namespace wb {

// The beginning is enough, and costs nothing where a test frees large arrays.
constexpr std::size_t kOverwritten = 4096;

inline void free_overwritten(void* data) noexcept {
    if (!data) return;
    std::memset(data, 0xDD, std::min(malloc_usable_size(data), kOverwritten));
    asm volatile("" : : "r"(data) : "memory");  // or the compiler leaves out what is freed next
    std::free(data);
}

// Fills the stack below the caller's frame, so that bytes that are read past the end of a local
// variable are not 0 by luck.
[[gnu::noinline]] inline void overwrite_stack() {
    unsigned char bytes[16 << 10];
    std::memset(bytes, 0xDD, sizeof bytes);
    asm volatile("" : : "r"(bytes) : "memory");
}

}  // namespace wb

// A sanitizer has its own, which finds more.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::weak]] void operator delete(void* data) noexcept {
    wb::free_overwritten(data);
}
[[gnu::weak]] void operator delete(void* data, std::size_t) noexcept {
    wb::free_overwritten(data);
}
[[gnu::weak]] void operator delete[](void* data) noexcept {
    wb::free_overwritten(data);
}
[[gnu::weak]] void operator delete[](void* data, std::size_t) noexcept {
    wb::free_overwritten(data);
}
#endif
