// SPDX-License-Identifier: MIT
// Faults of the emulated device itself, which are never told as faults of the program.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

namespace runtime {

// While one of these lives, this thread runs device code or loads it: pointers of the host program
// are not followed then, so a bad address is the device's own fault.
class DeviceWork {
public:
    DeviceWork() { ++depth(); }
    ~DeviceWork() { --depth(); }
    DeviceWork(const DeviceWork&) = delete;
    DeviceWork& operator=(const DeviceWork&) = delete;
    static bool running() { return depth() > 0; }

private:
    static int& depth();
};

// What to do about such a fault: say it, write out what was found, end the process. Does not
// return, except in programs (unit tests) that have set nothing.
void set_internal_error_hook(void (*hook)(const std::string& text));
void internal_error(const std::string& text);

// Whether the fault at instruction `pc` is the device's own: the innermost frame that is not of the
// system's libraries is of this library, and the signal cannot come from a pointer of the program.
// `sp` tells an exhausted stack, which is the program's. Takes no locks.
bool is_internal_crash(int signal, const siginfo_t& info, uint64_t pc, uint64_t sp);

// "SIGILL, Illegal instruction, at libcudart.so.13+0x1a2b3c"
std::string describe_crash(int signal, uint64_t pc);

}  // namespace runtime
