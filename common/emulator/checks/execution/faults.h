// SPDX-License-Identifier: MIT
// Faults that end a kernel: assert (a failed assert(), or __trap()), stack-overflow, and a call
// through a pointer to no function (invalid-address).
#pragma once

#include "checks/report/thread_findings.h"
#include "machine/observer.h"

namespace checks {

class Faults final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kFaultEvents;

    explicit Faults(Report& report) : findings_(report) {}
    void on_fault(const machine::FaultEvent& event) override;

private:
    ThreadFindings findings_;
};

}  // namespace checks
