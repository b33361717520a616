// SPDX-License-Identifier: MIT
// Reports a processor that is too old for the emulated device, or for what of it was built, before
// any code runs that it does not support. Compiled for the oldest processor.
#include <unistd.h>

#include <cstdio>

#include "machine/platform/processor.h"
#include "options.h"

#if defined(__x86_64__)
namespace {

// Runs before every other constructor of this library.
[[gnu::constructor(101)]] void check_processor() {
    char text[300];
    int length = 0;
    const auto level = machine::processor_level();
    if (level == machine::ProcessorLevel::kBaseline)
        length = std::snprintf(
            text,
            sizeof text,
            "emulated CUDA device: this processor is older than x86-64-v2 (it lacks SSE4.2 or "
            "POPCNT), which the device needs; processors made since 2009 have it\n");
    else if (const auto lowest = machine::lowest_linked_level(); level < lowest)
        length = std::snprintf(
            text,
            sizeof text,
            "emulated CUDA device: it was built for %s, and this processor is %s: `make` builds it "
            "for this one, and cmake -DEMULATOR_LEVELS=all build for all\n",
            machine::level_name(lowest),
            machine::level_name(level));
    if (!length) return;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, size_t(length));
    _exit(emulator::kExitCannotRun);
}

}  // namespace
#endif
