// SPDX-License-Identifier: MIT
// Detects the processor's features. A level requires all of its features: a processor without lzcnt
// executes it as bsr, without a fault. Compiled for the oldest processor, into code that no other
// file shares, since it runs before any other code.
#include "machine/platform/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace machine {

#if defined(__x86_64__)
namespace {

// The control register with the registers that the operating system saves.
uint64_t saved_state() {
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

// What cpuid reports: ecx of leaf 1, ebx of leaf 7, ecx of leaf 0x80000001.
struct Features {
    uint32_t basic = 0, extended = 0, far = 0;
};

constexpr Features added_by(ProcessorLevel level) {
    Features out;
#define FEATURE(which, where, bit, name)                                                           \
    if (level == ProcessorLevel::k##which) out.where |= bit;
#include "machine/platform/processor_features.def"
#undef FEATURE
    return out;
}

ProcessorLevel read_level() {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    Features has;
    if (!__get_cpuid(1, &a, &b, &has.basic, &d)) return ProcessorLevel::kBaseline;
    __get_cpuid_count(7, 0, &a, &has.extended, &c, &d);
    __get_cpuid(0x80000001u, &a, &b, &has.far, &d);
    const auto has_all = [&](const Features& wanted) {
        return (has.basic & wanted.basic) == wanted.basic &&
               (has.extended & wanted.extended) == wanted.extended &&
               (has.far & wanted.far) == wanted.far;
    };
    constexpr Features kV2 = added_by(ProcessorLevel::kX86_64_v2);
    constexpr Features kV3 = added_by(ProcessorLevel::kX86_64_v3);
    constexpr Features kV4 = added_by(ProcessorLevel::kX86_64_v4);
    constexpr uint64_t kVectors = 0x6, kWideVectors = 0xe0;  // ymm with xmm; masks and zmm

    if (!has_all(kV2)) return ProcessorLevel::kBaseline;
    if (!has_all(kV3) || (saved_state() & kVectors) != kVectors) return ProcessorLevel::kX86_64_v2;
    if (!has_all(kV4) || (saved_state() & kWideVectors) != kWideVectors)
        return ProcessorLevel::kX86_64_v3;
    return ProcessorLevel::kX86_64_v4;
}

}  // namespace
#endif

ProcessorLevel processor_level() {
#if defined(__x86_64__)
    static ProcessorLevel level;
    static bool known = false;  // a race would compute the same value twice
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
