// SPDX-License-Identifier: MIT
// leak (warning: memory never freed by the end of the process, one finding per allocating line),
// double-free (also for a pointer that was never allocated, or not to be freed this way), and
// use-after-free where memory is freed that another process has open.
// cudaDeviceReset() frees everything and leaves nothing to report.
#pragma once

#include "checks/report/report.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class Lifetime final : public machine::Observer {
public:
    static constexpr uint32_t kInterests =
        machine::kHostEvents | machine::kMemoryEvents | machine::kLaunchEvents;

    Lifetime(Report& report, machine::Memory& memory) : report_(report), memory_(memory) {}
    void on_api(const machine::ApiEvent& event) override;
    void on_process_end() override;
    // A kernel that hardware stops takes the context and its memory with it: nothing can be freed
    // after that, so nothing is leaked.
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary& summary) override {
        stopped_ |= summary.status != machine::LaunchStatus::kOk;
    }

private:
    Report& report_;
    machine::Memory& memory_;
    bool stopped_ = false;
};

}  // namespace checks
