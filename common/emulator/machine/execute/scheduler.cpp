// SPDX-License-Identifier: MIT
// Blocks and the grid. Blocks run in index order, one at a time, on one thread, so every run is the
// same. While a block only polls, the next ones start, up to the number that a card keeps resident.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "machine/execute/executor.h"
#include "machine/execute/recurrence.h"
#include "machine/program/sites.h"

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

void Executor::report_stall(StallEvent::Kind kind, bool idle) {
    std::vector<Waiter> waiters;
    uint64_t exited = 0;
    for (const auto& state : resident_) {
        exited += state->info.threads - state->live_threads;
        for (const WarpState& w : state->warps) {
            for (const WarpSplit& split : w.splits) {
                const Code& code = *split.frame->code;
                const uint32_t at = split.state == SplitState::kBarrier ? split.pc - 1 : split.pc;
                // What it runs next, behind a place to meet, which is no instruction of the
                // program.
                const bool meets = code.instructions[at].control == kReconverge;
                const Instr& next = code.instructions[at + (meets ? 1 : 0)];
                SiteId site = next.site ? blamed(split.frame, next) : 0;
                for (uint32_t k = at; !site && k-- > 0;)
                    if (code.instructions[k].site) site = blamed(split.frame, code.instructions[k]);
                const WaitReason reason = split.state == SplitState::kBarrier ? WaitReason::kBarrier
                                          : split.state == SplitState::kWarpSync
                                              ? WaitReason::kWarpSync
                                              : WaitReason::kRunning;
                waiters.push_back({&state->info,
                                   w.info.index,
                                   split.mask,
                                   site,
                                   reason,
                                   split.barrier,
                                   split.named});
            }
            for (const ReconvergencePoint* join : w.joins) {
                SiteId site = 0;
                const auto& instructions = join->frame->code->instructions;
                for (uint32_t k = join->pc + 1; !site && k-- > 0;)
                    if (instructions[k].site) site = blamed(join->frame, instructions[k]);
                waiters.push_back({&state->info,
                                   w.info.index,
                                   join->arrived,
                                   site,
                                   WaitReason::kReconvergence,
                                   0,
                                   0});
            }
        }
    }
    const StallEvent event{kind,
                           &info,
                           waiters,
                           exited,
                           idle      ? 0
                           : budget_ ? budget_
                                     : limits.quiet_instructions,
                           !budget_,
                           idle && polled ? memory.find(polled) : nullptr,
                           interrupted_.load(std::memory_order_relaxed)};
    for (Observer* o : observers.fault) o->on_stall(event);
}

void Executor::add_state(Fingerprint& print, const WarpSplit& split) {
    print.add(uint64_t(split.pc) << 32 | split.mask);
    for (const Frame* frame = split.frame; frame; frame = frame->caller) {
        print.add(frame->return_pc);
        for (uint32_t at = 0; at + 8 <= frame->code->row_bytes; at += 8) {
            uint64_t word;
            std::memcpy(&word, frame->rows + at, 8);
            print.add(word);
        }
    }
}

uint64_t Executor::fingerprint() const {
    Fingerprint print;
    for (const auto& state : resident_) {
        for (const WarpState& w : state->warps) {
            for (const WarpSplit& split : w.splits) add_state(print, split);
            for (const ReconvergencePoint* join : w.joins)
                print.add(uint64_t(join->pc) << 32 | join->arrived);
        }
    }
    return print.value();
}

void Executor::collect_counts(LaunchSummary& summary) {
    site_counts_.clear();
    uint64_t threads = 0;
    for (Code* code : touched_) {
        for (size_t i = 0; i < code->runs.size(); ++i) {
            const auto& [executed, end, length] = code->runs[i];
            code->deltas[i].warps += executed.warps;
            code->deltas[i].threads += executed.threads;
            code->deltas[end].warps -= executed.warps;
            code->deltas[end].threads -= executed.threads;
        }
        int64_t warps = 0, lanes = 0;
        auto hoisted = code->counted_with.begin();
        const auto count = [&](SiteId site, bool conditional, uint64_t divergent, bool in_double) {
            threads += uint64_t(lanes);
            site_counts_.push_back(
                {site, uint64_t(warps), uint64_t(lanes), conditional, divergent, in_double});
        };
        for (size_t i = 0; i < code->instructions.size(); ++i) {
            warps += code->deltas[i].warps;
            lanes += code->deltas[i].threads;
            for (; hoisted != code->counted_with.end() && hoisted->pc == i; ++hoisted) {
                if (warps == 0) continue;
                count(hoisted->site, false, 0, hoisted->in_double);
            }
            const Instr& in = code->instructions[i];
            if (warps == 0 || in.site == 0) continue;
            count(in.site, in.control == kBranch && in.guarded, code->divergent[i], in.in_double);
        }
        code->reset_counts();
    }
    touched_.clear();
    summary.thread_instructions = threads;
    summary.warp_instructions = warp_instructions;
    summary.busiest_warp_instructions = busiest_warp_;
    summary.sites = site_counts_;
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

LaunchSummary Executor::launch(KernelImage& kernel, const LaunchRequest& request, uint64_t budget,
                               uint32_t stack_bytes, void (*sink)(const char*, size_t)) {
    entry_ = &kernel.code();
    info = LaunchInfo{};
    info.serial = ++serial_;
    info.kernel = kernel.name();
    info.mangled = kernel.mangled();
    info.grid = request.grid;
    info.block = request.block;
    info.dynamic_shared_bytes = request.dynamic_shared_bytes;
    info.stream = request.stream;
    info.device = request.device;
    info.cooperative = request.cooperative;
    asked_for_grid = false;
    info.launched_at = request.site;
    info.parameters = &kernel.parameters();
    info.declared = kernel.declared();
    arguments = request.arguments;
    arguments.resize(std::max<size_t>(arguments.size(), kernel.parameter_bytes()) + 16);
    info.arguments = std::span(arguments.data(), kernel.parameter_bytes());
    layout = kernel.layout(request.dynamic_shared_bytes, info.shared_bytes);
    info.shared = &layout;
    windows.assign(size_t(1) << (32 - kSharedWindowBits), nullptr);
    for (const SharedVariable& v : layout) windows[v.address >> kSharedWindowBits] = &v;

    const uint32_t stride =
        (entry_->local_bytes + 64 * std::max(stack_bytes, 1024u) + 65536 + 4095) & ~4095u;
    set_local_stride(stride);
    status = LaunchStatus::kOk;
    abort = false;
    interrupted_.store(false, std::memory_order_relaxed);
    warp_instructions = busiest_warp_ = 0;
    polled = 0;
    budget_ = budget;
    most_instructions_ = (budget ? budget : limits.quiet_instructions) / kWarpSize;
    printf_sink = sink;
    changes = near_changes = far_polls = 0;
    clock = {.reads = clock.reads};
    progress_ = 0;
    follows = !observers.undefined.empty();
    undefined.begin_launch();
    if (request.cooperative && !grid_workspace) {
        grid_workspace = memory.allocate(MemoryKind::kModule, 256, request.device, 0);
        if (grid_workspace) {
            grid_workspace->name = "grid barrier";
            for (Observer* o : observers.memory) o->on_alloc(*grid_workspace);
        }
    }
    if (request.cooperative && grid_workspace) std::memset(grid_workspace->host, 0, 256);
    for (Observer* o : observers.launch) o->on_launch_begin(info);

    thread_ids.resize((request.block.count() + kWarpSize - 1) / kWarpSize);
    BlockInfo shape;
    shape.launch = &info;
    for (uint32_t t = 0; t < thread_ids.size() * kWarpSize; ++t) {
        const Dim3 index = thread_index(shape, t);
        auto& ids = thread_ids[t / kWarpSize].axis;
        ids[0][t % kWarpSize] = index.x;
        ids[1][t % kWarpSize] = index.y;
        ids[2][t % kWarpSize] = index.z;
    }
    try {
        run_grid();
    } catch (const std::bad_alloc&) {
        if (warp)
            fault(FaultKind::kStackOverflow, 1, "the host has no memory left for so many threads");
        fail(LaunchStatus::kStackOverflow);
    }
    for (auto& state : resident_) {
        finish_block(*state);
        spare_.push_back(std::move(state));
    }
    resident_.clear();
    LaunchSummary summary;
    summary.status = status;
    collect_counts(summary);
    for (Observer* o : observers.launch) o->on_launch_end(info, summary);
    block = nullptr;
    warp = nullptr;
    running = nullptr;
    return summary;
}

// The caller reports the accesses: a library's kernel has no instructions here.
void Executor::run_library_kernel(const std::string& name, const LaunchRequest& request,
                                  const std::function<void()>& work) {
    static const std::vector<ptx::Parameter> no_parameters;
    layout.clear();
    info = LaunchInfo{};
    info.serial = ++serial_;
    info.kernel = info.mangled = name;
    info.stream = request.stream;
    info.device = request.device;
    info.launched_at = request.site;
    info.parameters = &no_parameters;
    info.shared = &layout;
    for (Observer* o : observers.launch) o->on_launch_begin(info);
    work();
    for (Observer* o : observers.launch) o->on_launch_end(info, LaunchSummary{});
}

}  // namespace machine
