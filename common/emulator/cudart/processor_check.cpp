// SPDX-License-Identifier: MIT
// Reports a processor that is too old for the emulated device, or for what of it was built, before
// any code runs that it does not support. Compiled for the oldest processor.
#include <unistd.h>

#include <cstdio>

#include "cudart/options.h"
#include "machine/platform/processor.h"

#if defined(__x86_64__)
namespace {

// Runs before every other constructor of this library.
[[gnu::constructor(101)]] void check_processor() {
    const auto level = machine::processor_level();
    if (level == machine::ProcessorLevel::kBaseline)
        dprintf(STDERR_FILENO,
                "emulated CUDA device: this processor is older than x86-64-v2 (it lacks SSE4.2 or "
                "POPCNT), which the device needs; processors made since 2009 have it\n");
    else if (const auto lowest = machine::lowest_linked_level(); level < lowest)
        dprintf(STDERR_FILENO,
                "emulated CUDA device: it was built for %s, and this processor is %s: `make` "
                "builds it for this one, and cmake -DEMULATOR_LEVELS=all build for all\n",
                machine::level_name(lowest),
                machine::level_name(level));
    else
        return;
    _exit(emulator::kExitCannotRun);
}

}  // namespace
#endif
