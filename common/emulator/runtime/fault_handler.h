// SPDX-License-Identifier: MIT
// Catches the host touching device memory: such an address lies in a range that the process cannot
// access, so the access faults, and the fault says which pointer it was.
#pragma once

#include <cstdint>
#include <string>

#include "machine/memory.h"
#include "machine/platform.h"

namespace runtime {

struct DeviceFault {
    using Kind = machine::HostFault::Kind;
    Kind kind;
    uint64_t address;
    machine::HostSite site;  // the instruction in the host program
};

// What the library does about faults. All run on a stack of their own (not the signal's small
// one) in the thread that faulted, and may allocate: the fault was in the middle of user code.
struct FaultHooks {
    bool (*is_device_address)(uint64_t address);  // takes no locks
    void (*on_device_fault)(const DeviceFault&);  // makes the finding
    void (*on_dying)(int signal);                 // the process will end: write everything out
    void (*on_internal_crash)(const std::string& what);  // a fault of ours: does not return
    int device_fault_exit_code;
    // The host has touched a page that is closed to it: true when it may try again. Runs first, in
    // the middle of any code, so it takes no locks and allocates nothing. `context`: ucontext_t.
    bool (*on_closed_page)(const machine::HostFault&, void* context) = nullptr;
    // One instruction has run behind on_closed_page, if it asked for that; false: not by us.
    bool (*on_step)(void* context) = nullptr;
};

// Takes SIGSEGV and SIGBUS (also SIGABRT, SIGFPE, SIGILL, only to write the report before the
// process dies by them). A handler that the program had set is called afterwards, as if it were
// the only one. After a device fault that nobody took over, the process exits with the given code.
void install_fault_handler(const FaultHooks& hooks);

// Puts our handler in front again when the program has set its own since. One system call for
// each signal; call it when device memory may get new users.
void refresh_fault_handler();
// The same for SIGTRAP, which on_step needs. Nobody takes that signal before this is called.
void take_step_signal();

}  // namespace runtime
