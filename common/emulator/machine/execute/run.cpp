// SPDX-License-Identifier: MIT
// The interpreter loop: the lanes of a warp run together until they diverge at a branch, and
// reconverge at its immediate post-dominator.
#include <algorithm>

#include "machine/execute/executor.h"

namespace machine {
namespace {

// After this many polls of memory, a part of a warp yields to the lanes that it may wait for.
constexpr uint32_t kPolls = 48;
// The same for a loop that also writes: it may write the same value each time.
constexpr uint32_t kBusyPolls = 1024;
// Any other loop yields after this many iterations: often enough for forward progress of every
// lane, rarely enough not to change the active masks of ordinary loops.
constexpr uint32_t kLoopTurns = 1u << 20;
// At each power of two of iterations from Turns::kFirstLook on, so many states are compared: more
// than a loop that polls with plain loads has branches back.
constexpr uint32_t kStates = 16;

}  // namespace

void Executor::exit_lanes(uint32_t lanes) {
    WarpState& state = *warp;
    state.info.exited |= lanes;
    state.exit_site = current ? blamed(frame, *current) : 0;
    state.block->live_threads -= uint32_t(std::popcount(lanes));
    // A counted barrier that this warp has reached no longer waits for them: it counts warps.
    for (uint32_t open = state.block->open_barriers; open; open &= open - 1) {
        BarrierState& b = state.block->barriers[size_t(std::countr_zero(open))];
        uint32_t here = 0;
        for (const Arrival& a : b.arrivals)
            if (a.warp == state.info.index) here |= a.mask;
        if (b.expected && here) b.arrived += uint32_t(std::popcount(lanes & ~here));
    }
    if (!observers.sync.empty()) {
        const ExitEvent event{&state.info, state.exit_site, lanes};
        for (Observer* o : observers.sync) o->on_exit(event);
    }
}

// Without a budget, a launch continues as long as it makes progress: changes memory or finishes
// blocks. Reading a clock is not progress.
bool Executor::goes_on() {
    if (abort) return false;  // for another reason
    const uint64_t progress = changes - clock.counted;
    const bool interrupted = interrupted_.load(std::memory_order_relaxed);
    if (status == LaunchStatus::kOk && !budget_ && !interrupted && progress != progress_) {
        progress_ = progress;
        most_instructions_ = warp_instructions + limits.quiet_instructions / kWarpSize;
        return true;
    }
    abort = true;
    if (status != LaunchStatus::kOk) return false;
    report_stall(StallEvent::Kind::kBudget);
    fail(LaunchStatus::kBudget);
    return false;
}

// Counts the straight run from `first` on and charges it to the budget. False: the launch ends
// here.
[[gnu::always_inline]] inline bool Executor::account(Code& code, uint32_t first, uint32_t lanes) {
    Code::Run& run = code.runs[first];
    run.executed.add(1, std::popcount(lanes));
    warp_instructions += run.instructions;
    return warp_instructions <= most_instructions_;
}

// The same where lanes wait for others at `end`, a kReconverge on the way.
bool Executor::account_until(Code& code, uint32_t first, uint32_t end, uint32_t lanes) {
    code.deltas[first].add(1, std::popcount(lanes));
    code.deltas[end].add(-1, std::popcount(lanes));
    warp_instructions += code.runs[first].instructions - code.runs[end].instructions;
    return warp_instructions <= most_instructions_;
}

// Whether the loop only waits: its registers are what they were some iterations ago, and it has
// changed no memory, so it ends only when others have run. Loops that poll with plain loads do so,
// and empty endless loops.
bool Executor::spins(const WarpSplit& split, Turns& turns) {
    if (turns.taken >= kLoopTurns) return true;
    if (std::has_single_bit(turns.taken)) {
        turns.states = {};
        turns.changes = changes;
    }
    if (changes == turns.changes) {
        Fingerprint print;
        add_state(print, split);
        if (turns.states.again(print.value())) return true;
        if (turns.taken % kStates + 1 < kStates) {
            turns.look_at = turns.taken + 1;
            return false;
        }
    }
    turns.look_at = std::bit_ceil(turns.taken + 1);
    return false;
}

// Executes straight runs, and the branches between them that do not diverge, from `next` on. Ends
// at an instruction that needs more than a handler; `first` is where the run before it begins.
template <bool one_lane>
[[gnu::always_inline]] inline Executor::Run
Executor::run_straight(WarpSplit& split, Code& code, uint32_t& first, const Instr*& next,
                       Turns& turns) {
    const Instr* const instructions = code.instructions.data();
    const uint32_t mine = split.mask;
    const auto handle = [&](const Instr& in) __attribute__((always_inline)) {
        (one_lane ? in.one_lane : in.handler)(*this, in);
    };
    for (;; ++next) {
        if (next->control == kStraight) [[likely]] {
            handle(*next);
        } else if (next->control == kGuarded) {
            if (const uint32_t active = mine & guarded_lanes(*next)) {
                mask = active;
                handle(*next);
                mask = mine;
            }
        } else if (next->control == kBranch) {
            const uint32_t active = next->guarded ? mine & guarded_lanes(*next) : mine;
            if (active && active != mine) return Run::kEnded;
            const uint32_t pc = uint32_t(next - instructions);
            if (!account(code, first, mine)) [[unlikely]] {
                split.pc = pc;
                current = next;
                if (!goes_on()) return Run::kAbort;
            }
            const uint32_t target = active ? next->as<BranchOp>().target : pc + 1;
            if (frame->undefined) [[unlikely]]
                undefined.pass(*frame, pc, target, mine);
            run_begins = first = target;
            next = instructions + target - 1;
            if (target > pc) {
                if constexpr (one_lane) access_runs.jump_ahead(instructions + target);
                continue;
            }
            if constexpr (one_lane) access_runs.jump_back(instructions + pc);
            if (++turns.taken >= turns.look_at || waits >= kPolls || polls >= kBusyPolls) {
                split.pc = target;
                if (waits >= kPolls || polls >= kBusyPolls || spins(split, turns))
                    return Run::kSpin;
            }
        } else if (next->control != kReconverge ||
                   (split.join && split.join->frame == frame &&
                    split.join->pc == uint32_t(next - instructions))) {
            return Run::kEnded;
        }
    }
}

// brx.idx: the lanes that agree with the first one branch, the others return to the instruction.
bool Executor::branch_by_table(WarpSplit& split, const Instr& in, uint32_t active) {
    const BranchOp& op = in.as<BranchOp>();
    const uint32_t* indexes = row<uint32_t>(op.index_row);
    const uint32_t chosen = indexes[std::countr_zero(active)];
    uint32_t same = 0;
    for_lanes(active, [&](uint32_t i) { same |= uint32_t(indexes[i] == chosen) << i; });
    if (chosen >= op.table.size()) {
        fault(FaultKind::kTrap, same, "brx.idx with an index past its table");
        stop(LaunchStatus::kTrap);
        return false;
    }
    if (same == split.mask) {
        split.pc = op.table[chosen];
        return true;
    }
    const uint32_t pc = split.pc;
    frame->code->divergent[pc] += 1;
    divergence_.diverge(*warp, split, same, op.table[chosen], pc, op.reconvergence);
    return true;
}

Executor::Stop Executor::exit_split(WarpSplit& split, uint32_t active) {
    exit_lanes(active);
    Divergence::lanes_left(split.join, active);
    split.mask &= ~active;
    BlockState& state = *warp->block;
    const bool gone = split.mask == 0;
    ++split.pc;
    if (gone) divergence_.drop(*warp, size_t(&split - warp->splits.data()));
    if (!warp->joins.empty()) {
        const std::vector<ReconvergencePoint*> waiting = warp->joins;
        for (ReconvergencePoint* join : waiting)
            if (join->arrived && join->arrived == join->expected) divergence_.complete(*warp, join);
    }
    if (!warp->splits.empty()) try_warp_sync(*warp, false);
    for (uint32_t open = state.open_barriers; open; open &= open - 1)
        check_barrier(state, uint32_t(std::countr_zero(open)));
    if (gone) return Stop::kEnded;
    return Stop::kBlocked;  // the list may have moved: start again with the next split
}

// An instruction that all lanes of the split execute, or some of them a ret or trap. Nothing: the
// split, which may be another one now, continues.
[[gnu::always_inline]] inline std::optional<Executor::Stop>
Executor::run_together(WarpSplit*& split, const Instr& in, uint32_t active, Turns& turns) {
    switch (in.control) {
    case kCall:
        if (!call(*split, in)) return Stop::kAbort;
        split = &warp->splits.back();
        if (++turns.taken < turns.look_at || !spins(*split, turns)) return std::nullopt;
        return Stop::kSpin;
    case kReturn:
        if (active != split->mask) {
            // A guarded return: the others stay in the function.
            divergence_.diverge(*warp, *split, active, split->pc, split->pc + 1, 0xffffffffu);
            split = &warp->splits.back();
            return std::nullopt;
        }
        do_return(*split);
        return std::nullopt;
    case kBarrier: {
        const Stop stop = barrier(*split, in);
        if (stop != Stop::kEnded) return stop;
        split = &warp->splits.back();
        return std::nullopt;
    }
    case kWarpOp: {
        const Stop stop = warp_sync(*split, in);
        if (stop != Stop::kEnded) return stop;
        return std::nullopt;
    }
    case kTrap:
        fault(FaultKind::kTrap, active);
        stop(LaunchStatus::kTrap);
        return Stop::kAbort;
    default:
        fault(FaultKind::kTrap, active, "control reached the end of `" + frame->code->name + "`");
        stop(LaunchStatus::kTrap);
        return Stop::kAbort;
    }
}

// Runs one part of the warp until it ends, blocks or spins, or the launch ends. The running part is
// always the last: diverge() and others insert before it, so it is looked up again after them.
Executor::Stop Executor::run_split(size_t index) {
    Turns turns;
    WarpSplit* split = &warp->splits[index];
    for (;;) {
        frame = split->frame;
        Code& code = *frame->code;
        const Instr* const instructions = code.instructions.data();
        rows = frame->rows;
        const uint32_t mine = mask = split->mask;
        uint32_t first = run_begins = split->pc;
        const Instr* next = instructions + first;
        if (frame->undefined) [[unlikely]]
            undefined.resume(*frame, first);
        Run ended;
        if (std::has_single_bit(mine)) {
            lane = uint32_t(std::countr_zero(mine));
            ended = run_straight<true>(*split, code, first, next, turns);
            access_runs.close();
        } else {
            ended = run_straight<false>(*split, code, first, next, turns);
        }
        if (ended == Run::kSpin) return Stop::kSpin;
        if (ended == Run::kAbort) return Stop::kAbort;
        const Instr& in = *next;
        const uint32_t pc = uint32_t(next - instructions);
        current = &in;
        split->pc = pc;
        const bool in_budget = in.control == kReconverge ? account_until(code, first, pc, mine)
                                                         : account(code, first, mine);
        if (!in_budget && !goes_on()) return Stop::kAbort;
        if (frame->undefined) [[unlikely]]
            undefined.reached(*frame, pc, mine);
        uint32_t active = mine;
        if (in.guarded) {
            active &= guarded_lanes(in);
            if (active == 0) {
                ++split->pc;
                continue;
            }
        }
        switch (in.control) {
        case kReconverge:
            if (!divergence_.arrive(*warp, *split)) {
                const size_t at = size_t(split - warp->splits.data());
                divergence_.drop(*warp, at);
                return Stop::kEnded;
            }
            split->pc = pc + 1;
            continue;
        case kBranch: {  // on which lanes disagree
            const BranchOp& op = in.as<BranchOp>();
            code.divergent[pc] += 1;
            divergence_.diverge(*warp, *split, active, op.target, pc + 1, op.reconvergence);
            split = &warp->splits.back();
            continue;
        }
        case kBranchTable:
            if (!branch_by_table(*split, in, active)) return Stop::kAbort;
            split = &warp->splits.back();
            continue;
        case kExit:
            return exit_split(*split, active);
        default:
            break;
        }
        // What follows may block: lanes whose guard is false skip it.
        if (active != split->mask && in.control != kReturn && in.control != kTrap) {
            // Counted when its lanes return to it as a split of their own.
            const int lanes = std::popcount(split->mask);
            code.deltas[pc].add(-1, lanes);
            code.deltas[pc + 1].add(1, lanes);
            warp_instructions -= code.runs[pc].instructions;
            divergence_.diverge(*warp, *split, active, pc, pc + 1, pc + 1);
            split = &warp->splits.back();
            continue;
        }
        if (const auto stop = run_together(split, in, active, turns)) return *stop;
    }
}

RunResult Executor::run_warp(WarpState& state) {
    const uint64_t before = warp_instructions;
    const RunResult result = run_splits(state);
    state.executed += warp_instructions - before;
    busiest_warp_ = std::max(busiest_warp_, state.executed);
    return result;
}

RunResult Executor::run_splits(WarpState& state) {
    warp = &state;
    bool spun = false;
    // Not reset for each split: where lanes diverge and reconverge in a polling loop, no split runs
    // for
    // long.
    waits = polls = 0;
    for (;;) {
        size_t next = state.splits.size();
        while (next > 0 && state.splits[next - 1].state != SplitState::kRunnable) --next;
        if (next == 0) {
            if (state.splits.empty() && state.joins.empty()) return RunResult::kFinished;
            return spun ? RunResult::kSpinning : RunResult::kBlocked;
        }
        if (next != state.splits.size())  // the running part is always the last
            std::rotate(state.splits.begin() + ptrdiff_t(next - 1),
                        state.splits.begin() + ptrdiff_t(next),
                        state.splits.end());
        switch (run_split(state.splits.size() - 1)) {
        case Stop::kEnded:
        case Stop::kBlocked:
            break;
        case Stop::kAbort:
            return RunResult::kAborted;
        case Stop::kSpin: {
            // Let the other parts of this warp run first, then the other warps.
            waits = polls = 0;
            WarpSplit polling = state.splits.back();
            state.splits.pop_back();
            const bool others =
                std::any_of(state.splits.begin(), state.splits.end(), [](const WarpSplit& s) {
                    return s.state == SplitState::kRunnable;
                });
            state.splits.insert(state.splits.begin(), polling);
            const size_t before = state.splits.size();
            // The second poll in a row: all others that could run have had their turn.
            if (!others || spun) divergence_.release_all(state);
            if (spun || (!others && state.splits.size() == before)) return RunResult::kSpinning;
            spun = true;
            break;
        }
        }
    }
}

}  // namespace machine
