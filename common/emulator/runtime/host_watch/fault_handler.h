// SPDX-License-Identifier: MIT
// Detects host accesses to device memory: the addresses are in a range that the process cannot
// access, so the access faults, and the fault contains the pointer.
#pragma once

#include <cstdint>
#include <string>

#include "machine/memory.h"
#include "machine/platform/platform.h"

namespace runtime {

struct DeviceFault {
    using Kind = machine::HostFault::Kind;
    Kind kind;
    uint64_t address;
    machine::HostSite site;  // the instruction in the host program
};

// What the library does about faults. All hooks run on a large stack of their own (not the signal's
// small one) in the thread that faulted, and may allocate: the fault was in the middle of user
// code.
struct FaultHooks {
    bool (*is_device_address)(uint64_t address);  // takes no locks
    void (*on_device_fault)(const DeviceFault&);  // reports the finding
    void (*on_dying)(int signal);  // the process will end: writes everything that is pending
    void (*on_internal_crash)(const std::string& what);  // a fault of the emulator: does not return
    int device_fault_exit_code;
    // The host has accessed a page that is closed to it; returns whether it may try again. Runs
    // first and in the middle of any code, so it takes no locks and allocates nothing. `context`:
    // ucontext_t.
    bool (*on_closed_page)(const machine::HostFault&, void* context) = nullptr;
    // The single step that on_closed_page requested is complete; false: the step was not requested
    // here.
    bool (*on_step)(void* context) = nullptr;
};

// Installs handlers for SIGSEGV and SIGBUS (and for SIGABRT, SIGFPE and SIGILL, only to write the
// report before the process dies). A handler that the program had installed is called afterwards,
// as if it were the only one. After a device fault that no handler takes over, the process exits
// with the given code.
void install_fault_handler(const FaultHooks& hooks);

// Installs the emulator's handler again if the program has replaced it. One system call for each
// signal; call it when device memory may get new users.
void refresh_fault_handler();
// The same for SIGTRAP, which on_step needs. That signal is not handled before this call.
void take_step_signal();

}  // namespace runtime
