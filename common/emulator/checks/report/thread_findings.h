// SPDX-License-Identifier: MIT
// Findings that many threads cause on one line: counts distinct threads, shows the first by block
// and thread, and writes "24 threads did this: (232,0,0) to (255,0,0) of block (3,0,0)" when the
// report is read. Another occurrence costs a hash lookup, not a new message.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/report/report.h"
#include "checks/source/names.h"

namespace checks {

struct Draft {
    Finding finding;  // place, kernel, block and thread are filled in by ThreadFindings when unset
    Array array;      // the accessed array; may be empty
};

class ThreadFindings {
public:
    explicit ThreadFindings(Report& report);
    ~ThreadFindings();
    ThreadFindings(const ThreadFindings&) = delete;
    ThreadFindings& operator=(const ThreadFindings&) = delete;

    // The threads `mask` of `warp` caused `code` at `site`. `subject` identifies the array (an id,
    // 0 for none); `addresses`, if given, are those that each lane accessed. `make(lane)` writes
    // the finding; it is only called for the first one, or when this thread comes before it.
    void add(const char* code, machine::SiteId site, const machine::WarpInfo& warp, uint32_t mask,
             uint64_t subject, const uint64_t* addresses,
             const std::function<Draft(uint32_t lane)>& make);

private:
    struct State;
    std::shared_ptr<State> state_;  // shared with the report's hook, which may outlive this
};

}  // namespace checks
