// SPDX-License-Identifier: MIT
// A request to end (SIGTERM) that arrives while a kernel runs: the kernel is interrupted first, so
// that a finding says where it was, and then the request takes its course.
#pragma once

#include <csignal>

#include "machine/machine.h"

namespace runtime {

// Around one launch. The program's own handling of SIGTERM is in place before and after it.
class EndRequest {
public:
    explicit EndRequest(machine::Machine& machine);
    ~EndRequest();  // hands a request on
    EndRequest(const EndRequest&) = delete;
    EndRequest& operator=(const EndRequest&) = delete;

private:
    struct sigaction previous_ {};
    bool installed_ = false;
};

}  // namespace runtime
