// SPDX-License-Identifier: MIT
// Calls that the program should not have made, or results that it did not look at: invalid-launch,
// invalid-copy, host-dereference (errors) and unchecked-error (a warning: what failed is wrong,
// ignoring it is a trap). The runtime finds them and words the message.
#pragma once

#include "checks/report.h"
#include "machine/observer.h"

namespace checks {

// An ApiEvent as a finding: place, the earlier place and what happened there ("... on", in front
// of its line), and what is known of the pointer.
Finding api_finding(const machine::ApiEvent& event, const char* code, const std::string& earlier);

class Api final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kHostEvents;

    explicit Api(Report& report) : report_(report) {}
    void on_api(const machine::ApiEvent& event) override;

private:
    Report& report_;
};

}  // namespace checks
