// SPDX-License-Identifier: MIT
// One lane alone in a loop, as in <<<1, 1>>> or behind `if (threadIdx.x == 0)`: its loads and
// stores by one instruction usually go through memory in even steps. Nobody else runs meanwhile, so
// the observers need not hear of each: a streak is told in one event, when it ends or when
// something else happens that they must know of first.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "machine/code.h"

namespace machine {

class Executor;

struct Streak {
    uint64_t next = 0;     // the address that goes on with it
    uint64_t left = 0;     // accesses that may still be added ...
    uint64_t granted = 0;  // ... of so many
    int64_t step = 0;
    uint64_t bias = 0;  // added to an address gives the host's
    const MemoryOp* op = nullptr;
    uint64_t first = 0;
    SiteId site = 0, instruction = 0;
    ptx::Space space = ptx::Space::kNone;
    const Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;

    uint64_t count() const { return granted - left; }
};

class Streaks {
public:
    explicit Streaks(Executor& executor) : ex_(executor) {}

    // Tells the observers of all that is open.
    void close() {
        if (open_) [[unlikely]]
            tell();
    }
    // An access of the same lane that belongs to no streak is about to happen, has happened.
    void before(const MemoryOp& op, uint64_t address);
    void after(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    // An instruction whose streaks have been long is where a new one may begin: op.streak is set
    // unless it may not.
    void begin_again(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    // The lane jumps back from the end of a loop, or forward, perhaps out of it.
    void jump_back(const Instr* from) { loop_ = from; }
    void jump_ahead(const Instr* to) {
        if (to > loop_) loop_ = to;
    }
    // The streak of `op` may have more of its steps: true, and it goes on.
    bool prolong(Streak& streak);

private:
    static constexpr size_t kMost = 128;

    struct Event;
    void begin(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address);
    uint64_t grant(const Streak& streak) const;
    void end(Streak& streak);
    void tell();
    void tell(const Streak& streak, uint64_t first, int64_t step, uint64_t count) const;
    using Told = std::bitset<kMost>;
    bool tell_together(size_t leader, Told& told) const;

    Executor& ex_;
    std::array<Streak, kMost> streaks_;
    // The end of the loop that the lane is in, or what it came to behind the latest one; and the
    // same when the streaks began that are open.
    const Instr *loop_ = nullptr, *begun_in_ = nullptr;
    size_t open_ = 0, stores_ = 0;  // how many, and how many of these store
};

// Instr::one_lane of a plain load or store of `space`; null where the lane goes the way of all.
Handler one_lane_access(ptx::Space space);
// Instr::one_lane of an instruction that is not known to leave memory and observers alone: closes
// the streaks before.
void run_alone(Lanes& lanes, const Instr& in);

}  // namespace machine
