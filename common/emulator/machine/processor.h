// SPDX-License-Identifier: MIT
// Which of the code that was compiled for several processors this one can run. The names are those
// of the x86-64 psABI ("Micro-Architecture Levels").
#pragma once

#include <cstdint>

namespace machine {

// In ascending order. Processors that are not x86-64 have the baseline only.
enum class ProcessorLevel : uint8_t { kBaseline, kX86_64_v2, kX86_64_v3, kX86_64_v4 };

// The highest level of which this processor and its operating system offer every feature.
ProcessorLevel processor_level();

// "x86-64-v3", or "baseline".
const char* level_name(ProcessorLevel level);

}  // namespace machine
