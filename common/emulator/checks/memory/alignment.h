// SPDX-License-Identifier: MIT
// misaligned: an address that is no multiple of the access's size, which stops a real GPU with
// cudaErrorMisalignedAddress. Typical: a float array read as float4 from an odd element.
#pragma once

#include "checks/report/thread_findings.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class Alignment final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kOnlyBadAccess;

    Alignment(Report& report, machine::Memory& memory) : findings_(report), memory_(memory) {}
    void on_access(const machine::AccessEvent& event) override;

private:
    ThreadFindings findings_;
    machine::Memory& memory_;
};

}  // namespace checks
