// SPDX-License-Identifier: MIT
// When a run begins and ends, and the loads and stores of a single lane.
#include "machine/execute/access_runs.h"

#include <algorithm>
#include <cstring>

#include "machine/execute/executor.h"

namespace machine {
namespace {

// Grants are requested in portions: looking ahead costs time, and most loops are short. Each is as
// large as all previous ones together, up to a maximum.
constexpr uint64_t kFirstPortion = 16, kPortion = 2048;
// For a run with larger steps, an observer has as much work as for single accesses.
constexpr int64_t kLongestStep = 128;
// If the runs of an instruction end this early, this many times in a row, they do not pay off: only
// one in so many chances is used to try again.
constexpr uint64_t kShort = 4;
constexpr uint8_t kPatience = 8, kPause = 64;
static_assert(kPatience > MemoryOp::kUnproven);

const std::vector<Observer*>& listeners(const Executor& ex, ptx::Space space) {
    return space == ptx::Space::kShared ? ex.observers.shared : ex.observers.global;
}

void forget(const MemoryOp& op, uint64_t count) {
    op.run = nullptr;
    if (count >= kShort)
        op.short_runs = 0;
    else if (op.short_runs < kPatience)
        ++op.short_runs;
}

bool same_line(SiteId a, SiteId b) {
    if (a == b) return true;
    const ptx::SourceLine &x = code_site(a).user, &y = code_site(b).user;
    return x.line == y.line && x.file == y.file;
}

// The array or variable that an instruction's accesses are in, and its address on the host.
struct Home {
    Home(const Executor& ex, const MemoryOp& op, ptx::Space space, uint64_t address) {
        if (space == ptx::Space::kShared) {
            variable = ex.windows[uint32_t(address) >> kSharedWindowBits];
            if (!variable) return;
            begin = variable->address;
            size = variable->bytes;
            host = uint64_t(uintptr_t(ex.block->shared.data())) + variable->offset;
        } else if (op.cache && op.cache->live && ex.can_reach(*op.cache)) {
            // If the instruction stores, an earlier access has found the memory writable.
            allocation = op.cache;
            begin = allocation->address;
            size = allocation->bytes;
            host = uint64_t(uintptr_t(allocation->host));
        }
    }
    const Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;
    uint64_t begin = 0, size = 0, host = 0;  // size 0: nothing is there
};

}  // namespace

struct AccessRuns::Event : AccessEvent {
    Event(const Executor& ex, const AccessRun& run, uint64_t where) : AccessEvent{} {
        warp = &ex.warp->info;
        site = run.site;
        instruction = run.instruction;
        space = run.space;
        kind = run.op->kind;
        order = run.op->order;
        scope = run.op->scope;
        bytes = run.op->bytes;
        element_bytes = run.op->element_bytes;
        mask = 1u << ex.lane;
        addresses[ex.lane] = where;
        address = addresses;
        allocation = run.allocation;
        variable = run.variable;
    }
    uint64_t addresses[kWarpSize];
};

// How many accesses from run.next on are in bounds and may be reported together.
uint64_t AccessRuns::grant(const AccessRun& run) const {
    const uint64_t bytes = run.op->bytes;
    const uint64_t begin = run.allocation ? run.allocation->address : run.variable->address;
    const uint64_t size = run.allocation ? run.allocation->bytes : run.variable->bytes;
    const uint64_t at = run.next - begin;
    if (at >= size || size - at < bytes) return 0;
    uint64_t most = std::clamp(run.granted, kFirstPortion, kPortion);
    if (run.step > 0) most = std::min(most, (size - bytes - at) / uint64_t(run.step) + 1);
    if (run.step < 0) most = std::min(most, at / uint64_t(-run.step) + 1);
    const auto& list = listeners(ex_, run.space);
    if (list.empty()) return most;
    const Event event(ex_, run, run.next);
    for (Observer* o : list) {
        most = o->foresee(event, run.step, most);
        if (most == 0) break;
    }
    return most;
}

bool AccessRuns::prolong(AccessRun& run) {
    const uint64_t more = grant(run);
    run.granted += more;
    run.left += more;
    return more != 0;
}

void AccessRuns::before(const MemoryOp& op, uint64_t address) {
    // Loops are reported one after the other.
    if (loop_ != begun_in_) {
        close();
        begun_in_ = loop_;
    }
    if (op.run) end(*op.run);  // it has left its steps
    // What a run has stored is in memory. It must be reported before the load that reads it.
    for (size_t k = 0; stores_ && k < open_; ++k) {
        const AccessRun& run = runs_[k];
        if (run.op->kind != AccessKind::kStore || run.count() == 0) continue;
        const uint64_t last = run.next - uint64_t(run.step);
        const uint64_t low = std::min(run.first, last);
        const uint64_t high = std::max(run.first, last) + run.op->bytes;
        if (address < high && address + op.bytes > low) return close();
    }
}

void AccessRuns::after(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address) {
    if (ex_.frame->undefined) return close();  // each access may matter to what is undefined
    const int64_t step = int64_t(address - op.last_address);
    op.last_address = address;
    if (step != op.step) {
        op.step = step;
        return;
    }
    begin(in, op, space, address + uint64_t(step));
}

void AccessRuns::begin_again(const Instr& in, const MemoryOp& op, ptx::Space space,
                             uint64_t address) {
    if (op.short_runs < MemoryOp::kUnproven && !ex_.frame->undefined) begin(in, op, space, address);
}

void AccessRuns::begin(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address) {
    const int64_t step = op.step;
    if (step > kLongestStep || step < -kLongestStep || open_ == kMost || ex_.abort ||
        (uint64_t(step) | address) & (op.bytes - 1u))
        return;
    if (op.short_runs >= kPatience) {
        if (++op.left_out < kPause) return;
        op.left_out = 0;
        --op.short_runs;
    }
    AccessRun run;
    run.op = &op;
    run.space = space;
    run.step = step;
    run.first = run.next = address;
    const Home home(ex_, op, space, address);
    if (!home.size) return;
    run.allocation = home.allocation;
    run.variable = home.variable;
    run.bias = home.host - home.begin;
    run.site = Executor::blamed(ex_.frame, in);
    run.instruction = in.site;
    if (!prolong(run)) return;
    runs_[open_] = run;
    op.run = &runs_[open_++];
    stores_ += op.kind == AccessKind::kStore;
}

void AccessRuns::report(const AccessRun& run, uint64_t first, int64_t step, uint64_t count) const {
    const Event event(ex_, run, first);
    for (Observer* o : listeners(ex_, run.space)) o->on_access_run(event, step, count);
}

// Reports the runs of an unrolled loop as one: several instructions of one line that take turns and
// together step through memory without a gap. False: this is not such a loop.
bool AccessRuns::report_together(size_t leader, Reported& reported) const {
    const AccessRun& lead = runs_[leader];
    const int64_t bytes = lead.op->bytes;
    if (lead.step <= bytes || lead.step % bytes) return false;
    const size_t turns = size_t(lead.step / bytes);
    if (turns > open_) return false;
    std::array<size_t, kMost> parts;
    uint64_t least = lead.count();
    for (size_t turn = 0; turn < turns; ++turn) {
        const auto belongs = [&](size_t k) {
            const AccessRun& s = runs_[k];
            return !reported[k] && s.first == lead.first + turn * uint64_t(bytes) &&
                   s.step == lead.step && s.op->kind == lead.op->kind && s.op->bytes == bytes &&
                   s.allocation == lead.allocation && s.variable == lead.variable &&
                   same_line(s.site, lead.site);
        };
        size_t k = 0;
        while (k < open_ && !belongs(k)) ++k;
        if (k == open_) return false;
        parts[turn] = k;
        least = std::min(least, runs_[k].count());
    }
    if (least == 0) return false;
    report(lead, lead.first, bytes, least * turns);
    for (size_t turn = 0; turn < turns; ++turn) {
        const AccessRun& s = runs_[parts[turn]];
        reported.set(parts[turn]);
        if (const uint64_t rest = s.count() - least)
            report(s, s.first + least * uint64_t(s.step), s.step, rest);
    }
    return true;
}

// Reports one run, together with those that take turns with it: they end too if an inner loop ends.
// Only this thread has accessed memory since the run began, so runs that stay open may be older.
void AccessRuns::end(AccessRun& run) {
    Reported reported;
    const size_t index = size_t(&run - runs_.data());
    for (size_t k = 0; k < open_ && !reported[index]; ++k) {
        const AccessRun& lead = runs_[k];
        if (lead.step == run.step && lead.op->kind == run.op->kind &&
            same_line(lead.site, run.site))
            report_together(k, reported);
    }
    if (!reported[index] && run.count()) report(run, run.first, run.step, run.count());
    reported.set(index);
    for (size_t k = open_; k-- > 0;) {
        if (!reported[k]) continue;
        const MemoryOp& op = *runs_[k].op;
        stores_ -= op.kind == AccessKind::kStore;
        forget(op, runs_[k].count());
        if (k == --open_) continue;
        runs_[k] = runs_[open_];  // which is to stay
        runs_[k].op->run = &runs_[k];
    }
}

void AccessRuns::report() {
    Reported reported;
    for (size_t k = 0; k < open_; ++k) {
        forget(*runs_[k].op, runs_[k].count());
    }
    for (size_t k = 0; k < open_; ++k)
        if (!reported[k] && runs_[k].count()) report_together(k, reported);
    for (size_t k = 0; k < open_; ++k)
        if (const AccessRun& s = runs_[k]; !reported[k] && s.count())
            report(s, s.first, s.step, s.count());
    open_ = stores_ = 0;
}

void run_alone(Lanes& lanes, const Instr& in) {
    executor(lanes).access_runs.close();
    in.handler(lanes, in);
}

namespace {

[[gnu::always_inline]] inline uint64_t address_of(Executor& ex, const MemoryOp& op) {
    switch (op.base) {
    case MemoryOp::Base::kRow64:
        return ex.row<uint64_t>(op.base_row)[ex.lane] + uint64_t(op.offset);
    case MemoryOp::Base::kRow32:
        return (uint64_t(ex.row<uint32_t>(op.base_row)[ex.lane]) + uint64_t(op.offset)) &
               0xffffffffu;
    case MemoryOp::Base::kLocal:
        return uint64_t(op.offset) + ex.frame->local_base;
    default:
        return uint64_t(op.offset);
    }
}

// The bytes of one lane, at `host`.
[[gnu::always_inline]] inline void move_one(Executor& ex, const MemoryOp& op, uint64_t host) {
    std::byte* const memory = reinterpret_cast<std::byte*>(uintptr_t(host));
    const bool load = op.kind == AccessKind::kLoad;
    if (op.plain_bytes == 4) {
        uint32_t* const row = ex.row<uint32_t>(op.rows[0]) + ex.lane;
        load ? std::memcpy(row, memory, 4) : std::memcpy(memory, row, 4);
    } else if (op.plain_bytes == 8) {
        uint64_t* const row = ex.row<uint64_t>(op.rows[0]) + ex.lane;
        load ? std::memcpy(row, memory, 8) : std::memcpy(memory, row, 8);
    } else {
        static constexpr uint64_t kNoAddress[kWarpSize] = {};
        op.mover(ex, op, ex.mask, host, kNoAddress, 0, false);
    }
}

template <bool shared>
[[gnu::always_inline]] inline void note_progress(Executor& ex, const MemoryOp& op) {
    if (op.kind != AccessKind::kStore) return;
    ++ex.changes;
    if constexpr (shared) ++ex.near_changes;
    ex.waits = 0;
}

// Whether the access continues the run. A generic address may be in any space; most are global.
template <bool shared>
[[gnu::always_inline]] inline void go_on(Executor& ex, const MemoryOp& op, AccessRun& run,
                                         uint64_t address) {
    run.next += uint64_t(run.step);
    --run.left;
    note_progress<shared>(ex, op);
    move_one(ex, op, run.bias + address);
}

// Without observers, an access in bounds is only a move. Zero: use the general handler.
uint64_t unheard(const Executor& ex, const MemoryOp& op, ptx::Space space, uint64_t address) {
    if (!listeners(ex, space).empty() || ex.follows || address & (op.bytes - 1u)) return 0;
    const Home home(ex, op, space, address);
    const uint64_t at = address - home.begin;
    return at < home.size && home.size - at >= op.bytes ? home.host + at : 0;
}

template <ptx::Space S>
[[gnu::noinline]] void begin_or_end(Executor& ex, const Instr& in, const MemoryOp& op,
                                    uint64_t address) {
    constexpr bool shared = S == ptx::Space::kShared;
    constexpr ptx::Space space = shared ? S : ptx::Space::kGlobal;
    const bool there = shared || address >> 56 == 0;
    ex.access_runs.before(op, address);
    if (there) ex.access_runs.begin_again(in, op, space, address);
    if (op.run) return go_on<shared>(ex, op, *op.run, address);
    if (const uint64_t host = there ? unheard(ex, op, space, address) : 0) {
        note_progress<shared>(ex, op);
        move_one(ex, op, host);
    } else {
        in.handler(ex, in);
    }
    if (there) ex.access_runs.after(in, op, space, address);
}

template <ptx::Space S>
void access_one(Lanes& lanes, const Instr& in) {
    Executor& ex = executor(lanes);
    const MemoryOp& op = in.as<MemoryOp>();
    const uint64_t address =
        S == ptx::Space::kShared ? address_of(ex, op) & 0xffffffffu : address_of(ex, op);
    AccessRun* const run = op.run;
    if (run && address == run->next && (run->left || ex.access_runs.prolong(*run))) [[likely]]
        return go_on<S == ptx::Space::kShared>(ex, op, *run, address);
    begin_or_end<S>(ex, in, op, address);
}

}  // namespace

Handler one_lane_access(ptx::Space space) {
    switch (space) {
    case ptx::Space::kGlobal:
        return access_one<ptx::Space::kGlobal>;
    case ptx::Space::kShared:
        return access_one<ptx::Space::kShared>;
    case ptx::Space::kGeneric:
        return access_one<ptx::Space::kGeneric>;
    default:
        return nullptr;
    }
}

}  // namespace machine
