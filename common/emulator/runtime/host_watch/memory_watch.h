// SPDX-License-Identifier: MIT
// Ends a program that uses up the machine's memory, with a message, before the system ends some
// process without one. Device memory takes memory of the host on first touch, so an allocation
// cannot tell: a thread looks, once a program has been promised more than there may be.
#pragma once

#include <cstdint>
#include <string>

namespace runtime {

// `promised`: bytes on all devices together. Starts the thread where touching all of that, and what
// the checks keep about it, could use up the memory. To be called under the runtime's lock.
void watch_memory(uint64_t promised);

// This thread is about to use device memory: it will get the SIGBUS that ends the program, as
// Linux sends where memory cannot be had.
void use_device_memory();

// Whether the program is being ended; then in words why, and what can be done.
bool memory_used_up();
std::string describe_memory_use();

// What to do where no signal reaches the thread: to write the message and end the process.
void set_memory_hook(void (*end)());

// After fork(): the thread does not exist in the child.
void abandon_memory_watch();

// For tests: the memory that is left and what the process occupies, in bytes, instead of the
// machine's.
struct MemoryNow {
    uint64_t available, resident;
};
void set_memory_source(MemoryNow (*source)());

}  // namespace runtime
