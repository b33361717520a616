// SPDX-License-Identifier: MIT
// The state of the drop-in libcudart, which libcudart.cpp sets up and emulator_api.cpp exposes.
#pragma once

#include <memory>
#include <vector>

#include "checks/checks.h"
#include "checks/record/counters.h"
#include "checks/record/timeline.h"
#include "checks/record/trace.h"
#include "checks/record/writers.h"
#include "checks/report/report.h"
#include "cudart/options.h"
#include "cudart/output.h"
#include "runtime/host_watch/fault_handler.h"

namespace emulator {

// Receives every event after the checkers: counts launches, writes findings to the file early, and
// reinstalls the fault handler if the program has replaced it.
class Follower final : public machine::Observer {
public:
    void on_alloc(const machine::Allocation& allocation) override {
        if (allocation.kind != machine::MemoryKind::kHeap) runtime::refresh_fault_handler();
    }
    void on_launch_begin(const machine::LaunchInfo&) override {
        ++launches;
        runtime::refresh_fault_handler();
    }
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override;
    void on_host_access(const machine::HostAccess&) override { runtime::refresh_fault_handler(); }
    void on_api(const machine::ApiEvent&) override;
    uint64_t launches = 0;
    bool unsupported = false;  // some of the program's device code could not be run
};

struct Library {
    Options options;
    checks::Report report;
    std::vector<checks::Checker> checkers;
    std::unique_ptr<checks::Counters> counters;  // null: not requested
    std::unique_ptr<checks::Timeline> timeline;  // null: not requested
    std::unique_ptr<checks::Trace> trace;        // null: not requested
    std::unique_ptr<checks::Writers> writers;    // null: not requested
    Follower follower;
    Output output;
    int exit_status = 0;     // as passed to exit() or returned from main
    bool forked = false;     // in the child: the parent reports counters
    bool inherited = false;  // the parent had called CUDA before, and reports leaks
};

Library& library();

// Where findings go instead of a file; null: a file. Set before this library's constructors run.
extern constinit Output::Sink report_to;
extern constinit bool loaded;  // the constructors have run

// Idempotent: counting costs time, so it starts when counters are first requested.
void start_counting();
void start_timeline();  // likewise

}  // namespace emulator
