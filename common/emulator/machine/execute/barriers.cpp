// SPDX-License-Identifier: MIT
// Where lanes wait for each other: block barriers (per thread, as since Volta) and warp-wide
// operations, whose named lanes may arrive at different instructions.
#include <algorithm>

#include "machine/execute/executor.h"

namespace machine {

// __syncthreads(), and other barriers for all threads of the block without a reduction.
Executor::Stop Executor::barrier(WarpSplit& split, const Instr& in) {
    const BarrierOp& op = in.as<BarrierOp>();
    BlockState& state = *warp->block;
    const uint32_t id = row<uint32_t>(op.id_row)[std::countr_zero(split.mask)];
    const bool plain = op.kind == BarrierOp::Kind::kSync && op.count_row == kNoRow &&
                       op.predicate_row == kNoRow && id < state.barriers.size();
    if (!plain) return rare_barrier(split, in);
    BarrierState& b = state.barriers[id];
    if (b.arrivals.empty())
        b.open(0);
    else if (b.expected)
        return rare_barrier(split, in);
    state.open_barriers |= 1u << id;
    b.arrived += uint32_t(std::popcount(split.mask));
    b.aligned |= op.aligned;
    b.arrivals.push_back({warp->info.index, split.mask, blamed(split.frame, in), false});
    ++split.pc;
    split.state = SplitState::kBarrier;
    split.barrier = id;
    if (b.arrived >= state.live_threads) complete_barrier(state, id);
    return Stop::kBlocked;
}

// bar.arrive, bar.red, and barriers for some warps of the block.
Executor::Stop Executor::rare_barrier(WarpSplit& split, const Instr& in) {
    const BarrierOp& op = in.as<BarrierOp>();
    BlockState& state = *warp->block;
    const uint32_t lane = uint32_t(std::countr_zero(split.mask));
    const uint32_t id = row<uint32_t>(op.id_row)[lane];
    if (id >= state.barriers.size()) {
        fault(FaultKind::kTrap,
              split.mask,
              "barrier " + std::to_string(id) + " does not exist: 0 to 15 do");
        stop(LaunchStatus::kTrap);
        return Stop::kAbort;
    }
    BarrierState& b = state.barriers[id];
    const uint32_t count = op.count_row == kNoRow ? 0 : row<uint32_t>(op.count_row)[lane];
    if (b.arrivals.empty())
        b.open(count);
    else if (b.expected)
        b.expected = std::max(b.expected, count);  // PTX: undefined if the counts differ
    state.open_barriers |= 1u << id;
    uint32_t arriving = uint32_t(std::popcount(split.mask));
    if (b.expected) {
        // A counted barrier counts whole warps: lanes that do not exist or have returned come
        // along.
        const bool first =
            std::none_of(b.arrivals.begin(), b.arrivals.end(), [&](const Arrival& a) {
                return a.warp == warp->info.index;
            });
        if (first) arriving += kWarpSize - uint32_t(std::popcount(warp->live()));
    }
    b.arrived += arriving;
    b.aligned |= op.aligned;
    b.arrivals.push_back({warp->info.index,
                          split.mask,
                          blamed(split.frame, in),
                          op.kind == BarrierOp::Kind::kArrive});
    if (op.predicate_row != kNoRow) {
        b.reduces = true;
        const uint32_t yes = predicate(op.predicate_row) & split.mask;
        b.popc += uint32_t(std::popcount(yes));
        b.any |= yes != 0;
        b.all &= yes == split.mask;
    }
    ++split.pc;
    if (op.kind == BarrierOp::Kind::kArrive) {
        const size_t index = size_t(&split - warp->splits.data());
        check_barrier(state, id);
        return index + 1 == warp->splits.size() ? Stop::kEnded : Stop::kBlocked;
    }
    split.state = SplitState::kBarrier;
    split.barrier = id;
    check_barrier(state, id);
    return Stop::kBlocked;
}

void Executor::check_barrier(BlockState& state, uint32_t id) {
    BarrierState& b = state.barriers[id];
    if (b.arrivals.empty()) return;
    if (b.arrived >= (b.expected ? b.expected : state.live_threads)) complete_barrier(state, id);
}

void Executor::complete_barrier(BlockState& state, uint32_t id) {
    BarrierState& b = state.barriers[id];
    ++changes;
    ++near_changes;
    if (!observers.sync.empty()) {
        std::vector<uint32_t> exited;
        std::vector<SiteId> sites;
        for (const WarpState& w : state.warps) {
            exited.push_back(w.info.exited);
            sites.push_back(w.exit_site);
        }
        const BarrierEvent event{&state.info, id, b.expected, b.aligned, b.arrivals, exited, sites};
        for (Observer* o : observers.sync) o->on_block_barrier(event);
    }
    b.arrivals.clear();
    state.open_barriers &= ~(1u << id);
    for (WarpState& w : state.warps) {
        bool woke = false;
        for (WarpSplit& split : w.splits) {
            if (split.state != SplitState::kBarrier || split.barrier != id) continue;
            split.state = SplitState::kRunnable;
            woke = true;
            if (!b.reduces) continue;
            const Code& code = *split.frame->code;
            const BarrierOp& op = code.instructions[split.pc - 1].as<BarrierOp>();
            if (op.dst == kNoRow) continue;
            if (op.kind == BarrierOp::Kind::kPopc) {
                uint32_t* d = reinterpret_cast<uint32_t*>(split.frame->rows + op.dst);
                for_lanes(split.mask, [&](uint32_t i) { d[i] = b.popc; });
            } else {
                uint32_t& d = *reinterpret_cast<uint32_t*>(split.frame->rows + op.dst);
                const bool value = op.kind == BarrierOp::Kind::kAnd ? b.all : b.any;
                d = value ? d | split.mask : d & ~split.mask;
            }
        }
        if (woke && w.splits.size() > 1) merge_splits(w);
    }
}

// Merges parts of a warp that are at the same place of the same activation.
void Executor::merge_splits(WarpState& state) {
    auto& splits = state.splits;
    for (size_t i = 0; i < splits.size(); ++i) {
        for (size_t k = splits.size(); k-- > i + 1;) {
            WarpSplit& a = splits[i];
            const WarpSplit& b = splits[k];
            if (a.state != SplitState::kRunnable || b.state != SplitState::kRunnable ||
                a.frame != b.frame || a.pc != b.pc || a.join != b.join)
                continue;
            a.mask |= b.mask;
            divergence_.drop(state, k);
        }
    }
}

Executor::Stop Executor::warp_sync(WarpSplit& split, const Instr& in) {
    const WarpOp& op = in.as<WarpOp>();
    const uint32_t* masks = row<uint32_t>(op.mask_row);
    const uint32_t named = masks[std::countr_zero(split.mask)];
    const uint32_t same =
        lane_mask(kAllLanes, [&](uint32_t i) { return masks[i] == named; }) & split.mask;
    const uint32_t live = warp->live();
    if (same == split.mask) {
        if ((named & live & ~split.mask) == 0) {  // all named lanes are here: the usual case
            const WarpParty everybody{split.frame, &in, split.mask};
            run_warp_op(*this, {&everybody, 1}, named, 0);
            ++split.pc;
            return Stop::kEnded;
        }
        split.state = SplitState::kWarpSync;
        split.named = named;
        WarpState& state = *warp;
        try_warp_sync(state, false);
        return Stop::kBlocked;
    }
    // Lanes name different groups (tiles of a cooperative group): each group by itself.
    bool complete = true;
    std::vector<std::pair<uint32_t, uint32_t>> groups;  // named, lanes
    for (uint32_t rest = split.mask; rest;) {
        const uint32_t name = masks[std::countr_zero(rest)];
        uint32_t group = 0;
        for_lanes(rest, [&](uint32_t i) { group |= uint32_t(masks[i] == name) << i; });
        groups.push_back({name, group});
        complete &= (name & live & ~group) == 0;
        rest &= ~group;
    }
    if (complete) {
        for (const auto& [name, group] : groups) {
            const WarpParty these{split.frame, &in, group};
            run_warp_op(*this, {&these, 1}, name, 0);
        }
        ++split.pc;
        return Stop::kEnded;
    }
    divergence_.diverge(*warp, split, split.mask & ~same, split.pc, split.pc, 0xffffffffu);
    return Stop::kBlocked;
}

// Completes every warp operation whose named lanes have all arrived; with `force` also the others.
void Executor::try_warp_sync(WarpState& state, bool force) {
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < state.splits.size() && !again; ++i) {
            const WarpSplit& first = state.splits[i];
            if (first.state != SplitState::kWarpSync) continue;
            const auto op_of = [](const WarpSplit& s) -> const WarpOp& {
                const Code& code = *s.frame->code;
                return code.instructions[s.pc].as<WarpOp>();
            };
            const WarpSyncKind kind = sync_kind(op_of(first).kind);
            const uint32_t named = first.named;
            std::vector<WarpParty> parties;
            std::vector<size_t> members;
            uint32_t lanes = 0;
            for (size_t k = 0; k < state.splits.size(); ++k) {
                const WarpSplit& s = state.splits[k];
                if (s.state != SplitState::kWarpSync || s.named != named ||
                    sync_kind(op_of(s).kind) != kind)
                    continue;
                parties.push_back({s.frame, &s.frame->code->instructions[s.pc], s.mask});
                members.push_back(k);
                lanes |= s.mask;
            }
            const uint32_t missing = named & state.live() & ~lanes;
            if (missing && !force) continue;
            WarpState* const before = warp;
            warp = &state;
            run_warp_op(*this, parties, named, missing);
            warp = before;
            for (size_t k : members) {
                state.splits[k].state = SplitState::kRunnable;
                ++state.splits[k].pc;
            }
            merge_splits(state);
            again = true;
            force = false;
        }
    }
}

}  // namespace machine
