// SPDX-License-Identifier: MIT
// What differs between the processors that run the emulated device: page sizes, names in ELF files,
// and the information that a signal handler gets about a fault. One source file for each processor.
#pragma once

#include <cstdint>
#include <elf.h>
#include <string>
#include <vector>

#include <signal.h>

namespace machine {

#if defined(__x86_64__)
// Unit in which host pages are watched: a multiple of the page size of any kernel for this
// processor.
constexpr uint64_t kHostPageBytes = 4096;
constexpr const char* kHostProcessor = "x86-64";
constexpr unsigned kElfMachine = EM_X86_64;
// Relocations of import tables: for a function that is called, and for an address that is taken.
constexpr unsigned kCallRelocation = R_X86_64_JUMP_SLOT, kAddressRelocation = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint64_t kHostPageBytes = 65536;
constexpr const char* kHostProcessor = "arm64";
constexpr unsigned kElfMachine = EM_AARCH64;
constexpr unsigned kCallRelocation = R_AARCH64_JUMP_SLOT, kAddressRelocation = R_AARCH64_GLOB_DAT;
#else
#error "the emulated device runs on x86-64 and arm64"
#endif

// A host access that the processor refused.
struct HostFault {
    enum class Kind : uint8_t { kRead, kWrite, kExecute } kind;
    uint64_t address;
    uint64_t pc;  // of the instruction
};
// `context`: the ucontext_t of a SIGSEGV or SIGBUS. Takes no locks and allocates nothing.
HostFault host_fault(const siginfo_t& info, const void* context);
// After kExecute: the return address of the call. Reads the program's stack.
uint64_t return_address(const void* context);

// The interrupted instruction and the stack pointer, for any signal. `context`: its ucontext_t.
uint64_t interrupted_pc(const void* context);
uint64_t interrupted_sp(const void* context);

// Requests SIGTRAP after the interrupted program's next instruction; its handler calls
// end_single_step. False: not possible for this instruction.
bool begin_single_step(void* context);
void end_single_step(void* context);

// What is not reported on this machine, unlike on others, as text for users.
std::vector<std::string> not_watched_here();

}  // namespace machine
