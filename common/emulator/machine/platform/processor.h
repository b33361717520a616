// SPDX-License-Identifier: MIT
// The processor levels that this machine can run. Their names are those of the x86-64 psABI
// ("Micro-Architecture Levels").
#pragma once

#include <cstdint>

namespace machine {

// In ascending order. Other processors than x86-64 have the baseline only.
enum class ProcessorLevel : uint8_t { kBaseline, kX86_64_v2, kX86_64_v3, kX86_64_v4 };

// The highest level whose features are all supported by this processor and its operating system.
ProcessorLevel processor_level();

// Below it this program has no handlers: levels.cpp knows which were linked in.
ProcessorLevel lowest_linked_level();

// "x86-64-v3", or "baseline".
const char* level_name(ProcessorLevel level);

}  // namespace machine
