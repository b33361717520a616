// SPDX-License-Identifier: MIT
// Accesses that do not lie wholly inside one live allocation or variable: out-of-bounds-global,
// out-of-bounds-shared, out-of-bounds-local, use-after-free and invalid-address. Every bad thread
// counts, once per line. Asked for bad accesses only, so a clean access costs nothing.
#pragma once

#include "checks/report/thread_findings.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class Bounds final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kOnlyBadAccess | machine::kFaultEvents;

    Bounds(Report& report, machine::Memory& memory) : findings_(report), memory_(memory) {}
    void on_access(const machine::AccessEvent& event) override;
    void on_fault(const machine::FaultEvent& event) override;

private:
    // What is wrong with one lane's address, and which array (0: none) it belongs to.
    struct Verdict {
        const char* code = nullptr;
        uint64_t subject = 0;
        const machine::Allocation* allocation = nullptr;
        const machine::SharedVariable* variable = nullptr;
        bool operator==(const Verdict&) const = default;
    };
    Verdict judge(const machine::AccessEvent& event, uint64_t address) const;
    Draft draft(const machine::AccessEvent& event, const Verdict& verdict, uint32_t lane) const;
    std::string invalid_address_text(const machine::AccessEvent& event, uint64_t address,
                                     std::vector<std::string>& notes) const;

    ThreadFindings findings_;
    machine::Memory& memory_;
    uint64_t heap_exhausted_in_ = 0;  // launch in which malloc() returned null
};

}  // namespace checks
