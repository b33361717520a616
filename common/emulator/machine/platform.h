// SPDX-License-Identifier: MIT
// What differs between the processors that the emulated device itself runs on: page sizes, names in
// ELF files, and what a signal handler learns of a fault. One source file for each processor.
#pragma once

#include <cstdint>
#include <elf.h>
#include <string>
#include <vector>

#include <signal.h>

namespace machine {

#if defined(__x86_64__)
// Host pages are watched in units of this size, a multiple of what any kernel for this processor
// has.
constexpr uint64_t kHostPageBytes = 4096;
constexpr const char* kHostProcessor = "x86-64";
constexpr unsigned kElfMachine = EM_X86_64;
// Relocations that fill an import table: of a function that is called, of an address that is taken.
constexpr unsigned kCallRelocation = R_X86_64_JUMP_SLOT, kAddressRelocation = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint64_t kHostPageBytes = 65536;
constexpr const char* kHostProcessor = "arm64";
constexpr unsigned kElfMachine = EM_AARCH64;
constexpr unsigned kCallRelocation = R_AARCH64_JUMP_SLOT, kAddressRelocation = R_AARCH64_GLOB_DAT;
#else
#error "the emulated device runs on x86-64 and arm64"
#endif

// An access of the host that the processor refused.
struct HostFault {
    enum class Kind : uint8_t { kRead, kWrite, kExecute } kind;
    uint64_t address;
    uint64_t pc;  // of the instruction
};
// `context`: the ucontext_t of a SIGSEGV or SIGBUS. Takes no locks and allocates nothing.
HostFault host_fault(const siginfo_t& info, const void* context);
// After kExecute: where the call of no function would have returned to. Reads the program's stack.
uint64_t return_address(const void* context);

// The interrupted instruction and the stack pointer, of any signal. `context`: its ucontext_t.
uint64_t interrupted_pc(const void* context);
uint64_t interrupted_sp(const void* context);

// SIGTRAP will follow the interrupted program's next instruction; its handler calls
// end_single_step. False: that cannot be done with this instruction.
bool begin_single_step(void* context);
void end_single_step(void* context);

// What is not reported on this machine although it is elsewhere, in sentences for people.
std::vector<std::string> not_watched_here();

}  // namespace machine
