// SPDX-License-Identifier: MIT
// A single lane in a loop, as in <<<1, 1>>> or inside `if (threadIdx.x == 0)`: the loads and stores
// of one instruction usually step through memory evenly. No other lane runs meanwhile, so observers
// need no event for each: a run is reported in one event, when it ends or before another event
// whose meaning depends on it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "machine/program/code.h"

namespace machine {

class Executor;

struct AccessRun {
    uint64_t next = 0;     // the address that would continue it
    uint64_t left = 0;     // accesses that may still be added ...
    uint64_t granted = 0;  // ... of so many
    int64_t step = 0;
    uint64_t bias = 0;  // the host's address minus the device's
    const MemoryOp* op = nullptr;
    uint64_t first = 0;
    SiteId site = 0, instruction = 0;
    ptx::Space space = ptx::Space::kNone;
    const Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;

    uint64_t count() const { return granted - left; }
};

class AccessRuns {
public:
    explicit AccessRuns(Executor& executor) : ex_(executor) {}

    // Reports all open runs to the observers.
    void close() {
        if (open_) [[unlikely]]
            report();
    }
    // Before and after an access of the same lane that belongs to no run.
    void before(const MemoryOp& op, uint64_t address);
    void after(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    // Tries to begin a new run at an instruction whose runs have been long. op.run is set if that
    // succeeds.
    void begin_again(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    // The lane jumps back from the end of a loop, or forward, perhaps out of it.
    void jump_back(const Instr* from) { loop_ = from; }
    void jump_ahead(const Instr* to) {
        if (to > loop_) loop_ = to;
    }
    // Asks for more steps of a run. True: it continues.
    bool prolong(AccessRun& run);

private:
    static constexpr size_t kMost = 128;

    struct Event;
    void begin(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    uint64_t grant(const AccessRun& run) const;
    void end(AccessRun& run);
    void report();
    void report(const AccessRun& run, uint64_t first, int64_t step, uint64_t count) const;
    using Reported = std::bitset<kMost>;
    bool report_together(size_t leader, Reported& reported) const;

    Executor& ex_;
    std::array<AccessRun, kMost> runs_;
    // The end of the loop that the lane is in, or the instruction that it reached after the last
    // one; and its value when the open runs began.
    const Instr *loop_ = nullptr, *begun_in_ = nullptr;
    size_t open_ = 0, stores_ = 0;  // open runs, and how many of them store
};

// Instr::one_lane of a plain load or store of `space`; null where the general handler is used.
Handler one_lane_access(ptx::Space space);
// Instr::one_lane of an instruction that may access memory or notify observers: closes the open
// runs first.
void run_alone(Lanes& lanes, const Instr& in);

}  // namespace machine
