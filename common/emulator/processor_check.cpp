// SPDX-License-Identifier: MIT
// Reports a processor that is too old for the emulated device, before any code runs that it does
// not support. Compiled for the oldest processor; uses system calls only.
#include <unistd.h>

#include "machine/platform/processor.h"
#include "options.h"

#if defined(__x86_64__)
namespace {

// Runs before every other constructor of this library.
[[gnu::constructor(101)]] void check_processor() {
    if (machine::processor_level() != machine::ProcessorLevel::kBaseline) return;
    constexpr char kText[] =
        "emulated CUDA device: this processor is older than x86-64-v2 (it lacks SSE4.2 or POPCNT), "
        "which the device needs; processors made since 2009 have it\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(emulator::kExitCannotRun);
}

}  // namespace
#endif
