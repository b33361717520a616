// SPDX-License-Identifier: MIT
// Ends a program that uses up the machine's memory with a message, before the system kills some
// process without one. Device memory takes host memory on first touch, so an allocation cannot
// detect this: a thread polls once a program has allocated more than may be available.
#pragma once

#include <cstdint>
#include <string>

namespace runtime {

// `promised`: bytes allocated on all devices. Starts the thread if touching all of them, plus their
// shadow memory, could use up the memory. Called with the runtime's lock held.
void watch_memory(uint64_t promised);

// The calling thread is about to use device memory: it will receive the SIGBUS that ends the
// program, the signal that Linux sends when a page cannot be provided.
void use_device_memory();

// Whether the program is being ended for its memory use, and the message that explains it.
bool memory_used_up();
std::string describe_memory_use();

// The fallback if the thread does not react to the signal: writes the message and ends the process.
void set_memory_hook(void (*end)());

// After fork(): the thread does not exist in the child.
void abandon_memory_watch();

// For tests: replaces the machine's values. `available`: bytes that are free; `resident`: bytes
// that the process occupies.
struct MemoryNow {
    uint64_t available, resident;
};
void set_memory_source(MemoryNow (*source)());

}  // namespace runtime
