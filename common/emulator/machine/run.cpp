// SPDX-License-Identifier: MIT
// The interpreter loop and divergence: one warp's lanes run together until a branch parts them, and
// meet again at the branch's immediate post-dominator, as convergence barriers do on hardware.
#include <algorithm>

#include "machine/executor.h"

namespace machine {
namespace {

// A part of a warp that polls memory this often hands over to whoever it may be waiting for.
constexpr uint32_t kPolls = 48;
// So does one that also writes as it goes round, for it may write the same again and again.
constexpr uint32_t kBusyPolls = 1024;
// Any other loop does after so many iterations: forward progress for every lane, but rare enough
// to leave the active masks of ordinary loops alone.
constexpr uint32_t kLoopTurns = 1u << 20;

}  // namespace

Join* Executor::make_join(Join* parent, Frame* at, uint32_t pc, uint32_t lanes) {
    Join* out;
    if (join_pool_.empty()) {
        out = new Join;
    } else {
        out = join_pool_.back();
        join_pool_.pop_back();
    }
    *out = Join{parent, at, pc, lanes, 0, 0};
    if (parent) ++parent->refs;
    ref(at);
    return out;
}

void Executor::unref(Join* join) {
    while (join && --join->refs == 0) {
        Join* parent = join->parent;
        unref(join->frame);
        join_pool_.push_back(join);
        join = parent;
    }
}

void Executor::drop_split(WarpState& state, size_t index) {
    Split split = state.splits[index];
    state.splits.erase(state.splits.begin() + ptrdiff_t(index));
    unref(split.join);
    unref(split.frame);
}

// The current split (at the back of what runs) goes on as the fall-through lanes; the others wait
// their turn as a split of their own.
void Executor::diverge(Split& split, uint32_t taken, uint32_t target, uint32_t fall,
                       uint32_t meeting) {
    WarpState& state = *warp;
    const size_t index = size_t(&split - state.splits.data());
    Join* join = split.join;
    if (meeting != 0xffffffffu && !(join && join->frame == split.frame && join->pc == meeting)) {
        Join* fresh = make_join(join, split.frame, meeting, split.mask);
        fresh->refs += 1;
        unref(join);
        split.join = join = fresh;
    }
    Split other = split;
    other.mask = taken;
    other.pc = target;
    split.mask &= ~taken;
    split.pc = fall;
    ref(other.frame);
    if (join) ++join->refs;
    state.splits.insert(state.splits.begin() + ptrdiff_t(index), other);
}

// At a kReconverge. True: the split goes on (alone, or with all others that have arrived).
bool Executor::arrive(Split& split) {
    while (split.join && split.join->frame == split.frame && split.join->pc == split.pc) {
        Join* join = split.join;
        join->arrived |= split.mask;
        if (join->arrived != join->expected) {
            auto& waiting = warp->joins;
            if (std::find(waiting.begin(), waiting.end(), join) == waiting.end()) {
                waiting.push_back(join);
                ++join->refs;
            }
            return false;
        }
        split.mask = join->arrived;
        auto& waiting = warp->joins;
        const auto found = std::find(waiting.begin(), waiting.end(), join);
        if (found != waiting.end()) {
            waiting.erase(found);
            unref(join);
        }
        split.join = join->parent;
        if (split.join) ++split.join->refs;
        unref(join);
    }
    return true;
}

// Lanes that wait in a join whose other lanes will not come (they returned) go on.
void Executor::complete_join(WarpState& state, Join* join) {
    const auto found = std::find(state.joins.begin(), state.joins.end(), join);
    if (found == state.joins.end()) return;
    state.joins.erase(found);
    Split split;
    split.frame = join->frame;
    split.join = join->parent;
    split.pc = join->pc;
    split.mask = join->arrived;
    ref(split.frame);
    if (split.join) ++split.join->refs;
    join->expected &= ~join->arrived;
    join->arrived = 0;
    state.splits.push_back(split);
    unref(join);
}

void Executor::lanes_left(Join* join, uint32_t lanes) {
    for (; join; join = join->parent) {
        join->expected &= ~lanes;
        join->arrived &= ~lanes;
    }
}

// Somebody spins: whoever waits for the spinning lanes may hold what they spin on.
void Executor::release_joins(WarpState& state) {
    while (!state.joins.empty()) complete_join(state, state.joins.back());
}

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

void Executor::out_of_budget() {
    if (abort) return;  // for another reason
    abort = true;
    if (status != LaunchStatus::kOk) return;
    report_stall(StallEvent::Kind::kBudget);
    fail(LaunchStatus::kBudget);
}

// Counts the straight run from `first` on and pays for it. False: the launch ends here.
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

// Straight runs and the branches between them on which all lanes agree, from `next` on. Ends at an
// instruction that needs more than a handler; `first` is where the run that leads there begins.
template <bool one_lane>
[[gnu::always_inline]] inline Executor::Run
Executor::run_straight(Split& split, Code& code, uint32_t& first, const Instr*& next,
                       uint32_t& turns) {
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
                return Run::kAbort;
            }
            const uint32_t target = active ? next->as<BranchOp>().target : pc + 1;
            if (frame->undefined) [[unlikely]]
                undefined.pass(*frame, pc, target, mine);
            run_begins = first = target;
            next = instructions + target - 1;
            if (target > pc) {
                if constexpr (one_lane) streaks.jump_ahead(instructions + target);
                continue;
            }
            if constexpr (one_lane) streaks.jump_back(instructions + pc);
            if (++turns >= kLoopTurns || waits >= kPolls || polls >= kBusyPolls) {
                split.pc = target;
                return Run::kSpin;
            }
        } else if (next->control != kReconverge ||
                   (split.join && split.join->frame == frame &&
                    split.join->pc == uint32_t(next - instructions))) {
            return Run::kEnded;
        }
    }
}

// Runs one part of the warp until it ends, blocks, spins, or the launch is over. The split is
// found by index again after everything that may move the list.
Executor::Stop Executor::run_split(size_t index) {
    uint32_t turns = 0;
    Split* split = &warp->splits[index];
    const auto refresh = [&] {
        // diverge() inserts below: the running part moves up.
        split = &warp->splits.back();
    };
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
            streaks.close();
        } else {
            ended = run_straight<false>(*split, code, first, next, turns);
        }
        if (ended == Run::kSpin) return Stop::kSpin;
        if (ended == Run::kAbort) {
            out_of_budget();
            return Stop::kAbort;
        }
        const Instr& in = *next;
        const uint32_t pc = uint32_t(next - instructions);
        current = &in;
        split->pc = pc;
        const bool goes_on = in.control == kReconverge ? account_until(code, first, pc, mine)
                                                       : account(code, first, mine);
        if (!goes_on) {
            out_of_budget();
            return Stop::kAbort;
        }
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
            if (!arrive(*split)) {
                const size_t at = size_t(split - warp->splits.data());
                drop_split(*warp, at);
                return Stop::kGone;
            }
            split->pc = pc + 1;
            continue;
        case kBranch: {  // on which lanes disagree
            const BranchOp& op = in.as<BranchOp>();
            code.divergent[pc] += 1;
            diverge(*split, active, op.target, pc + 1, op.meeting);
            refresh();
            continue;
        }
        case kBranchTable: {
            const BranchOp& op = in.as<BranchOp>();
            const uint32_t* indexes = row<uint32_t>(op.index_row);
            const uint32_t chosen = indexes[std::countr_zero(active)];
            uint32_t same = 0;
            for_lanes(active, [&](uint32_t i) { same |= uint32_t(indexes[i] == chosen) << i; });
            if (chosen >= op.table.size()) {
                fault(FaultKind::kTrap, same, "brx.idx with an index past its table");
                stop(LaunchStatus::kTrap);
                return Stop::kAbort;
            }
            if (same == split->mask) {
                split->pc = op.table[chosen];
            } else {
                code.divergent[pc] += 1;
                // The chosen lanes leave; the rest comes back to this instruction.
                diverge(*split, same, op.table[chosen], pc, op.meeting);
                refresh();
            }
            continue;
        }
        case kExit: {
            exit_lanes(active);
            lanes_left(split->join, active);
            split->mask &= ~active;
            BlockState& state = *warp->block;
            const bool gone = split->mask == 0;
            split->pc = pc + 1;
            if (gone) drop_split(*warp, size_t(split - warp->splits.data()));
            if (!warp->joins.empty()) {
                const std::vector<Join*> waiting = warp->joins;
                for (Join* join : waiting)
                    if (join->arrived && join->arrived == join->expected)
                        complete_join(*warp, join);
            }
            if (!warp->splits.empty()) try_warp_sync(*warp, false);
            for (uint32_t open = state.open_barriers; open; open &= open - 1)
                check_barrier(state, uint32_t(std::countr_zero(open)));
            if (gone) return Stop::kGone;
            return Stop::kBlocked;  // the list may have moved: start over with whoever is next
        }
        default:
            break;
        }
        // What follows may block: lanes that the guard left out go round it.
        if (active != split->mask && in.control != kReturn && in.control != kTrap) {
            // Counted when its lanes come back to it as a part of their own.
            const int lanes = std::popcount(split->mask);
            code.deltas[pc].add(-1, lanes);
            code.deltas[pc + 1].add(1, lanes);
            warp_instructions -= code.runs[pc].instructions;
            diverge(*split, active, pc, pc + 1, pc + 1);
            refresh();
            continue;
        }
        switch (in.control) {
        case kCall:
            if (!call(*split, in)) return Stop::kAbort;
            refresh();
            if (++turns < kLoopTurns) continue;
            return Stop::kSpin;
        case kReturn:
            if (active != split->mask) {
                // A guarded return: the others stay in the function.
                diverge(*split, active, pc, pc + 1, 0xffffffffu);
                refresh();
                continue;
            }
            do_return(*split);
            continue;
        case kBarrier: {
            const Stop stop = barrier(*split, in);
            if (stop == Stop::kGone) {
                refresh();
                continue;
            }
            return stop;
        }
        case kWarpOp: {
            const Stop stop = warp_sync(*split, in);
            if (stop == Stop::kGone) continue;
            return stop;
        }
        case kTrap:
            fault(FaultKind::kTrap, active);
            stop(LaunchStatus::kTrap);
            return Stop::kAbort;
        default:
            fault(FaultKind::kTrap, active, "control reached the end of `" + code.name + "`");
            stop(LaunchStatus::kTrap);
            return Stop::kAbort;
        }
    }
}

RunResult Executor::run_warp(WarpState& state) {
    warp = &state;
    bool spun = false;
    // Not with each part: where lanes part and meet in the loop that polls, no part runs for long.
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
        case Stop::kGone:
        case Stop::kBlocked:
            break;
        case Stop::kAbort:
            return RunResult::kAborted;
        case Stop::kSpin: {
            // Let the other parts of this warp run first, then the other warps.
            waits = polls = 0;
            Split polling = state.splits.back();
            state.splits.pop_back();
            const bool others =
                std::any_of(state.splits.begin(), state.splits.end(), [](const Split& s) {
                    return s.state == SplitState::kRunnable;
                });
            state.splits.insert(state.splits.begin(), polling);
            const size_t before = state.splits.size();
            // The second poll in a row: whoever else could run has had its turn.
            if (!others || spun) release_joins(state);
            if (spun || (!others && state.splits.size() == before)) return RunResult::kSpinning;
            spun = true;
            break;
        }
        }
    }
}

}  // namespace machine
