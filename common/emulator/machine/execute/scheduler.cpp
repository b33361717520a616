// SPDX-License-Identifier: MIT
// Schedules the blocks of a grid. Blocks run in index order, one at a time, on one thread, so every
// run is the same. While a block only polls, the next ones start, up to the number that a card
// keeps resident.
#include <algorithm>
#include <utility>

#include <sched.h>

#include "machine/execute/executor.h"
#include "machine/execute/recurrence.h"

namespace machine {
namespace {

// A block that polled what other blocks write for this many rounds, without effect, counts as
// spinning: barriers in a polling loop are not progress.
constexpr uint32_t kQuietRounds = 48;

}  // namespace

Executor::Executor(Memory& memory_, Observers& observers_, const Limits& limits_)
    : LaunchState(memory_, observers_, limits_, undefined_values_) {}

Executor::~Executor() = default;

void Executor::start_block(uint64_t linear, BlockState& state) {
    const Dim3 grid = info.grid;
    block = &state;
    state.info.launch = &info;
    state.info.serial = ++block_serial_;
    state.info.linear = linear;
    state.info.index = {uint32_t(linear % grid.x),
                        uint32_t(linear / grid.x % grid.y),
                        uint32_t(linear / grid.x / grid.y)};
    state.info.threads = uint32_t(info.block.count());
    state.info.warps = (state.info.threads + kWarpSize - 1) / kWarpSize;
    state.live_threads = state.info.threads;
    state.spinning = false;
    for (BarrierState& b : state.barriers) b.arrivals.clear();
    state.open_barriers = 0;
    // Not zero: code that relies on cleared shared memory gives a wrong value here too.
    state.shared.assign(info.shared_bytes + 16, std::byte{0xA5});
    state.warps.resize(state.info.warps);
    for (uint32_t w = 0; w < state.info.warps; ++w) {
        WarpState& ws = state.warps[w];
        const uint32_t lanes = std::min(kWarpSize, state.info.threads - w * kWarpSize);
        ws.info = {&state.info, w, lanes == kWarpSize ? kAllLanes : (1u << lanes) - 1, 0};
        ws.block = &state;
        ws.exit_site = 0;
        ws.executed = 0;
        ws.copies.reset();
        ws.splits.clear();
        WarpSplit& split = ws.splits.emplace_back();
        split.frame = make_frame(*entry_, nullptr);
        split.mask = ws.info.valid;
        FrameReferences::add(split.frame);
        if (follows) {
            warp = &ws;
            ws.undefined_from.clear();
            undefined.enter(*split.frame, split.mask, nullptr);
        }
    }
    for (Observer* o : observers.block) o->on_block_begin(state.info);
}

void Executor::finish_block(BlockState& state) {
    for (Observer* o : observers.block) o->on_block_end(state.info);
    for (WarpState& w : state.warps) {
        while (!w.splits.empty()) divergence_.drop(w, w.splits.size() - 1);  // after an abort
        for (ReconvergencePoint* join : w.joins) divergence_.unref(join);
        w.joins.clear();
        if (w.local) give_back_local(w.local);
        w.local = nullptr;
    }
}

RunResult Executor::run_block(BlockState& state) {
    block = &state;
    running = this;
    uint32_t quiet = 0;
    for (;;) {
        const uint64_t polls = far_polls, others = changes - near_changes;
        bool ran = false, progress = false, finished = true;
        for (WarpState& w : state.warps) {
            if (w.splits.empty() && w.joins.empty()) continue;
            finished = false;
            const bool runnable =
                std::any_of(w.splits.begin(), w.splits.end(), [](const WarpSplit& s) {
                    return s.state == SplitState::kRunnable;
                });
            if (!runnable) continue;
            ran = true;
            const RunResult result = run_warp(w);
            if (result == RunResult::kAborted) return result;
            progress |= result != RunResult::kSpinning;
        }
        if (finished) return RunResult::kFinished;
        if (ran && progress) {
            quiet = far_polls != polls && changes - near_changes == others ? quiet + 1 : 0;
            if (quiet < kQuietRounds) continue;
            return RunResult::kSpinning;
        }
        if (ran) {
            // All runnable lanes poll. Lanes that wait to reconverge may hold what is polled.
            return RunResult::kSpinning;
        }
        // No lane can run. First release lanes that wait for diverged ones, then complete warp
        // operations without the lanes that cannot arrive; incorrect ones are reported.
        bool released = false;
        for (WarpState& w : state.warps) {
            warp = &w;
            if (!w.joins.empty()) {
                divergence_.release_all(w);
                released = true;
            }
        }
        if (released) continue;
        for (WarpState& w : state.warps) {
            const bool waiting =
                std::any_of(w.splits.begin(), w.splits.end(), [](const WarpSplit& s) {
                    return s.state == SplitState::kWarpSync;
                });
            if (!waiting) continue;
            try_warp_sync(w, true);
            released = true;
            break;
        }
        if (released) continue;
        report_stall(StallEvent::Kind::kDeadlock);
        stop(LaunchStatus::kDeadlock);
        return RunResult::kAborted;
    }
}

// Runs blocks in index order; more than one is resident only where blocks wait for one another.
void Executor::run_grid() {
    const uint64_t blocks = info.grid.count();
    const uint32_t threads = uint32_t(info.block.count());
    const uint64_t per_sm =
        std::clamp<uint64_t>(limits.threads_per_multiprocessor / std::max(threads, 1u),
                             1,
                             limits.blocks_per_multiprocessor);
    const uint64_t most = std::max<uint64_t>(1, limits.multiprocessors * per_sm);
    uint64_t next = 0, idle_rounds = 0, seen = 0, clock_reads = 0;
    Recurrence recurrence;
    size_t turn = 0;
    while (!abort && (next < blocks || !resident_.empty())) {
        const bool all_spin = std::all_of(
            resident_.begin(), resident_.end(), [](const auto& b) { return b->spinning; });
        if (all_spin && next < blocks && resident_.size() < most) {
            if (spare_.empty()) spare_.push_back(std::make_unique<BlockState>());
            resident_.push_back(std::move(spare_.back()));
            spare_.pop_back();
            start_block(next++, *resident_.back());
            turn = resident_.size() - 1;
        } else if (all_spin) {
            // Many whole rounds in which nothing changed: the blocks poll memory that no thread
            // writes. Loops that count end by themselves, unless they count a clock, and that may
            // take for ever.
            if (turn == 0) {
                idle_rounds = changes == seen ? idle_rounds + 1 : 0;
                if (memory.shares()) {  // another process may write it: let it run
                    idle_rounds = 0;
                    sched_yield();
                }
                seen = changes;
                const uint64_t enough = std::clamp<uint64_t>(80000 / resident_.size(), 200, 2000);
                const bool timed = std::exchange(clock_reads, clock.reads) != clock.reads;
                if (idle_rounds <= enough) recurrence = {};
                if (idle_rounds > enough && (timed || recurrence.again(fingerprint()))) {
                    report_stall(StallEvent::Kind::kBudget, true);
                    stop(LaunchStatus::kBudget);
                    break;
                }
            }
        }
        if (turn >= resident_.size()) turn = 0;
        BlockState& state = *resident_[turn];
        const RunResult result = run_block(state);
        if (result == RunResult::kAborted) break;
        if (result == RunResult::kFinished) {
            finish_block(state);
            spare_.push_back(std::move(resident_[turn]));
            resident_.erase(resident_.begin() + ptrdiff_t(turn));
            for (auto& other : resident_) other->spinning = false;
            turn = 0;
            ++changes;
        } else {
            state.spinning = true;
            ++turn;
            if (turn >= resident_.size()) turn = 0;
        }
    }
}

}  // namespace machine
