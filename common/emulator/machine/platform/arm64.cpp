// SPDX-License-Identifier: MIT
// arm64: decodes faults from the exception syndrome register, or from the instruction itself where
// the kernel does not provide the register. Encodings after the Arm Architecture Reference Manual
// (DDI 0487), "A64 Instruction Set Encoding: Loads and Stores".
#include "machine/platform/platform.h"

#if defined(__aarch64__)

#include <atomic>
#include <cstring>
#include <ucontext.h>
#include <unistd.h>

#include <asm/sigcontext.h>
#include <sys/mman.h>

namespace machine {
namespace {

// The syndrome (ESR_EL1) of the exception; 0 if the signal frame has none (qemu-user).
uint64_t syndrome(const mcontext_t& machine) {
    const auto* at = machine.__reserved;
    const auto* const end = at + sizeof machine.__reserved;
    while (at + sizeof(esr_context) <= end) {
        esr_context record;
        std::memcpy(&record, at, sizeof record);
        if (record.head.magic == ESR_MAGIC) return record.esr;
        if (record.head.magic == 0 || record.head.size < sizeof record.head) break;
        at += record.head.size;
    }
    return 0;
}

struct Encoding {
    uint32_t mask, value;
};
constexpr Encoding kStores[] = {
    {0xbfff0000, 0x0c000000},  // st1 to st4 of whole registers
    {0xbfe00000, 0x0c800000},  // ... with write-back
    {0xbfdf0000, 0x0d000000},  // st1 to st4 of one lane
    {0xbfc00000, 0x0d800000},  // ... with write-back
    {0x3f400000, 0x08000000},  // stxr, stlr, stxp
    {0x3bc00000, 0x39000000},  // str with an unsigned offset
    {0x3fc00000, 0x3d800000},  // ... of 16 bytes
    {0x3bc00000, 0x38000000},  // stur, str with write-back or an offset in a register
    {0x3fc00000, 0x3c800000},  // ... of 16 bytes
    {0x3a400000, 0x28000000},  // stp, stnp
    {0x3f208c00, 0x38200000},  // ldadd, ldclr, ...: they read and write
    {0x3f20fc00, 0x38208000},  // swp
    {0x3fa07c00, 0x08a07c00},  // cas
    {0xbfa07c00, 0x08207c00},  // casp
    {0xffffffe0, 0xd50b7420},  // dc zva, which memset uses to clear
};

bool stores(uint32_t instruction) {
    for (const auto& [mask, value] : kStores)
        if ((instruction & mask) == value) return true;
    return false;
}

// A signal handler cannot enable the processor's single stepping. So the instruction is copied,
// followed by a breakpoint, and executed in the copy: loads and stores whose address is in a
// register have the same effect everywhere.
struct Step {
    uint32_t* copy = nullptr;  // two instructions
    uint64_t from = 0;         // its address in the program
    bool holds(uint64_t pc) const { return copy && pc == uint64_t(copy); }
};
__attribute__((tls_model("initial-exec"))) thread_local Step step;

// Memory for one thread's copy; null if memory cannot be both writable and executable.
uint32_t* space_for_copy() {
    constexpr uint32_t kThreads = 512;
    constexpr size_t kBytes = kThreads * 2 * sizeof(uint32_t);
    static std::atomic<uint32_t*> page{nullptr};
    static std::atomic<uint32_t> used{0};
    if (!page.load()) {
        void* const made = mmap(nullptr,
                                kBytes,
                                PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS,
                                -1,
                                0);
        if (made == MAP_FAILED) return nullptr;
        uint32_t* expected = nullptr;
        if (!page.compare_exchange_strong(expected, static_cast<uint32_t*>(made)))
            munmap(made, kBytes);
    }
    const uint32_t at = used.fetch_add(1);
    return at < kThreads ? page.load() + 2 * at : nullptr;
}

uint32_t instruction_at(uint64_t pc) {
    uint32_t instruction;
    std::memcpy(&instruction, reinterpret_cast<const void*>(pc), sizeof instruction);
    return instruction;
}

// Excluded: a load relative to the instruction itself, and either half of a pair (ldxr, stxr),
// which any signal between them forces to retry.
bool means_the_same_elsewhere(uint32_t instruction) {
    const bool literal = (instruction & 0x3b000000) == 0x18000000;
    const bool exclusive = (instruction & 0x3f800000) == 0x08000000;
    return !literal && !exclusive;
}

}  // namespace

HostFault host_fault(const siginfo_t& info, const void* context) {
    constexpr uint64_t kWriteNotRead = 1 << 6;
    constexpr uint64_t kFetchAbort = 0x20, kDataAbort = 0x24;  // from unprivileged code
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    const uint64_t esr = syndrome(machine), reason = esr >> 26 & 0x3f;
    const uint64_t pc = step.holds(machine.pc) ? step.from : machine.pc;
    const uint64_t address = uint64_t(info.si_addr);
    using Kind = HostFault::Kind;
    if (reason == kFetchAbort || pc == address) return {Kind::kExecute, address, pc};
    bool writes = false;
    if (reason == kDataAbort) {
        writes = esr & kWriteNotRead;
    } else {
        writes = stores(instruction_at(pc));
    }
    return {writes ? Kind::kWrite : Kind::kRead, address, pc};
}

uint64_t return_address(const void* context) {
    return static_cast<const ucontext_t*>(context)->uc_mcontext.regs[30];  // the link register
}

uint64_t interrupted_pc(const void* context) {
    return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
}
uint64_t interrupted_sp(const void* context) {
    return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
}

bool begin_single_step(void* context) {
    mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    if (step.holds(machine.pc)) return true;      // the second page of the same access
    constexpr uint32_t kBreakpoint = 0xd4200000;  // brk #0
    const uint32_t instruction = instruction_at(machine.pc);
    if (!means_the_same_elsewhere(instruction)) return false;
    if (!step.copy) step.copy = space_for_copy();
    if (!step.copy) return false;
    step.copy[0] = instruction;
    step.copy[1] = kBreakpoint;
    __builtin___clear_cache(reinterpret_cast<char*>(step.copy),
                            reinterpret_cast<char*>(step.copy + 2));
    step.from = machine.pc;
    machine.pc = uint64_t(step.copy);
    return true;
}

void end_single_step(void* context) {
    mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    if (step.copy && machine.pc == uint64_t(step.copy + 1)) machine.pc = step.from + 4;
}

std::vector<std::string> not_watched_here() {
    std::vector<std::string> out = {
        "an API call whose error code the program drops, which is read from x86-64 code"};
    const long page = sysconf(_SC_PAGESIZE);
    if (page > long(kHostPageBytes))
        out.push_back("host accesses to managed or pinned memory that a kernel still uses, since "
                      "this kernel's pages have " +
                      std::to_string(page) + " bytes");
    return out;
}

}  // namespace machine

#endif
