// SPDX-License-Identifier: MIT
// Faults of the emulated device itself, which are never reported as faults of the program.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

namespace runtime {

// While one of these exists, the thread runs or loads device code: it does not dereference pointers
// of the host program then, so an invalid address is the emulator's own fault.
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

// What to do about such a fault: report it, write the findings, end the process. Does not return,
// except in programs (unit tests) that have not set a hook.
void set_internal_error_hook(void (*hook)(const std::string& text));
void internal_error(const std::string& text);

// Whether the fault at instruction `pc` is the emulator's own: the innermost frame outside of the
// system's libraries is in this library, and the signal cannot be caused by a pointer of the
// program. `sp` detects a stack overflow, which is the program's fault. Takes no locks.
bool is_internal_crash(int signal, const siginfo_t& info, uint64_t pc, uint64_t sp);

// "SIGILL, Illegal instruction, at libcudart.so.13+0x1a2b3c"
std::string describe_crash(int signal, uint64_t pc);

}  // namespace runtime
