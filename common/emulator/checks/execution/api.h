// SPDX-License-Identifier: MIT
// Calls that the program should not have made, or results that it did not check: invalid-launch,
// invalid-copy, host-dereference (errors) and unchecked-error (a warning: the failed call is the
// error; ignoring its result hides it). The runtime detects them and words the message.
#pragma once

#include "checks/report/report.h"
#include "machine/observer.h"

namespace checks {

// An ApiEvent as a finding: its place, the earlier place with what happened there ("... on", before
// the line), and facts about the pointer.
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
