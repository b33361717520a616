// SPDX-License-Identifier: MIT
// x86-64: decodes faults from the processor's page-fault error code.
#include "machine/platform/platform.h"

#if defined(__x86_64__)

#include <ucontext.h>

namespace machine {
namespace {

// Bits of the page-fault error code.
constexpr uint64_t kWriteBit = 2, kFetchBit = 16;
constexpr greg_t kTrapFlag = 0x100;

}  // namespace

HostFault host_fault(const siginfo_t& info, const void* context) {
    const auto* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    const auto error = uint64_t(registers[REG_ERR]);
    const auto pc = uint64_t(registers[REG_RIP]), address = uint64_t(info.si_addr);
    using Kind = HostFault::Kind;
    if ((error & kFetchBit) || pc == address) return {Kind::kExecute, address, pc};
    return {error & kWriteBit ? Kind::kWrite : Kind::kRead, address, pc};
}

uint64_t return_address(const void* context) {
    const auto* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return *reinterpret_cast<const uint64_t*>(registers[REG_RSP]);
}

uint64_t interrupted_pc(const void* context) {
    return uint64_t(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}
uint64_t interrupted_sp(const void* context) {
    return uint64_t(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
}

bool begin_single_step(void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
    return true;
}

void end_single_step(void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

std::vector<std::string> not_watched_here() {
    return {};
}

}  // namespace machine

#endif
