// SPDX-License-Identifier: MIT
// Handles a SIGTERM that arrives while a kernel runs: interrupts the kernel, so that a finding
// reports where it was, and then passes the signal on.
#pragma once

#include <csignal>

#include "machine/machine.h"

namespace runtime {

// Lives for one launch. Before and after it, the program's own handler of SIGTERM is installed.
class EndRequest {
public:
    explicit EndRequest(machine::Machine& machine);
    ~EndRequest();  // passes a pending signal on
    EndRequest(const EndRequest&) = delete;
    EndRequest& operator=(const EndRequest&) = delete;

private:
    struct sigaction previous_ {};
    bool installed_ = false;
};

}  // namespace runtime
