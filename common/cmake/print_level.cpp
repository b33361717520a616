// SPDX-License-Identifier: MIT
// Prints the processor's level, for CMake: which handlers to compile on this machine.
#include <cstdio>

#include "machine/platform/processor.cpp"  // one file, as try_run takes no more before CMake 3.25

int main() {
    std::puts(machine::level_name(machine::processor_level()));
    return 0;
}
