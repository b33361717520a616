// SPDX-License-Identifier: MIT
// Reads the processor's features. A level counts only when each of its features is there: an lzcnt
// that a processor does not have is executed as bsr, without any fault. Compiled for the oldest
// processor, into code that no other file shares, since it runs before anything else may.
#include "machine/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace machine {

#if defined(__x86_64__)
namespace {

// The control register that says which registers the operating system saves.
uint64_t saved_state() {
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

ProcessorLevel read_level() {
    uint32_t a = 0, b = 0, basic_c = 0, basic_d = 0, extended_b = 0, far_c = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &basic_c, &basic_d)) return ProcessorLevel::kBaseline;
    __get_cpuid_count(7, 0, &a, &extended_b, &c, &d);
    __get_cpuid(0x80000001u, &a, &b, &far_c, &d);

    constexpr uint32_t kBasicV2 =
        bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
    constexpr uint32_t kBasicV3 = bit_AVX | bit_F16C | bit_FMA | bit_MOVBE | bit_OSXSAVE;
    constexpr uint32_t kExtendedV3 = bit_AVX2 | bit_BMI | bit_BMI2;
    constexpr uint32_t kExtendedV4 =
        bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    constexpr uint64_t kVectors = 0x6, kWideVectors = 0xe0;  // ymm with xmm; masks and zmm

    if ((basic_c & kBasicV2) != kBasicV2 || !(far_c & bit_LAHF_LM))
        return ProcessorLevel::kBaseline;
    if ((basic_c & kBasicV3) != kBasicV3 || (extended_b & kExtendedV3) != kExtendedV3 ||
        !(far_c & bit_LZCNT) || (saved_state() & kVectors) != kVectors)
        return ProcessorLevel::kX86_64_v2;
    if ((extended_b & kExtendedV4) != kExtendedV4 || (saved_state() & kWideVectors) != kWideVectors)
        return ProcessorLevel::kX86_64_v3;
    return ProcessorLevel::kX86_64_v4;
}

}  // namespace
#endif

ProcessorLevel processor_level() {
#if defined(__x86_64__)
    static ProcessorLevel level;
    static bool known = false;  // a race would compute the same twice
    if (!known) {
        level = read_level();
        known = true;
    }
    return level;
#else
    return ProcessorLevel::kBaseline;
#endif
}

const char* level_name(ProcessorLevel level) {
    switch (level) {
    case ProcessorLevel::kX86_64_v2:
        return "x86-64-v2";
    case ProcessorLevel::kX86_64_v3:
        return "x86-64-v3";
    case ProcessorLevel::kX86_64_v4:
        return "x86-64-v4";
    default:
        return "baseline";
    }
}

}  // namespace machine
