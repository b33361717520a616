// SPDX-License-Identifier: MIT
// deadlock (no thread can run) and hang (the instruction budget is used up): which threads wait
// where, grouped by source line. A loop of a graph that does not end is a hang as well.
#pragma once

#include "checks/report/report.h"
#include "machine/observer.h"

namespace checks {

class Stalls final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kFaultEvents | machine::kHostEvents;

    explicit Stalls(Report& report) : report_(report) {}
    void on_stall(const machine::StallEvent& event) override;
    void on_api(const machine::ApiEvent& event) override;

private:
    Report& report_;
};

}  // namespace checks
