// SPDX-License-Identifier: MIT
// When a streak begins and ends, and the loads and stores of a lane that is alone.
#include "machine/streaks.h"

#include <algorithm>
#include <cstring>

#include "machine/executor.h"

namespace machine {
namespace {

// Grants are asked for in portions: looking ahead costs time, and most loops are short. Each is as
// large as all before it, from the first to the largest.
constexpr uint64_t kFirstPortion = 16, kPortion = 2048;
// What an observer does for a streak of steps larger than this costs as much as single accesses.
constexpr int64_t kLongestStep = 128;
// Streaks of one instruction that end this early, so many times in a row, are not worth it: it is
// only tried again at every so many chances.
constexpr uint64_t kShort = 4;
constexpr uint8_t kPatience = 8, kPause = 64;
static_assert(kPatience > MemoryOp::kUnproven);

const std::vector<Observer*>& listeners(const Executor& ex, ptx::Space space) {
    return space == ptx::Space::kShared ? ex.observers.shared : ex.observers.global;
}

void forget(const MemoryOp& op, uint64_t count) {
    op.streak = nullptr;
    if (count >= kShort)
        op.short_streaks = 0;
    else if (op.short_streaks < kPatience)
        ++op.short_streaks;
}

bool same_line(SiteId a, SiteId b) {
    if (a == b) return true;
    const ptx::SourceLine &x = code_site(a).user, &y = code_site(b).user;
    return x.line == y.line && x.file == y.file;
}

// The array or variable that an instruction's accesses are in, and where the host has it.
struct Home {
    Home(const Executor& ex, const MemoryOp& op, ptx::Space space, uint64_t address) {
        if (space == ptx::Space::kShared) {
            variable = ex.windows[uint32_t(address) >> kSharedWindowBits];
            if (!variable) return;
            begin = variable->address;
            size = variable->bytes;
            host = uint64_t(uintptr_t(ex.block->shared.data())) + variable->offset;
        } else if (op.cache && op.cache->live && ex.can_reach(*op.cache)) {
            // An earlier access by this instruction has found it to be writable, if it stores.
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

struct Streaks::Event : AccessEvent {
    Event(const Executor& ex, const Streak& streak, uint64_t where) : AccessEvent{} {
        warp = &ex.warp->info;
        site = streak.site;
        instruction = streak.instruction;
        space = streak.space;
        kind = streak.op->kind;
        order = streak.op->order;
        scope = streak.op->scope;
        bytes = streak.op->bytes;
        element_bytes = streak.op->element_bytes;
        mask = 1u << ex.lane;
        addresses[ex.lane] = where;
        address = addresses;
        allocation = streak.allocation;
        variable = streak.variable;
    }
    uint64_t addresses[kWarpSize];
};

// How many accesses from streak.next on are in bounds and need no look of their own.
uint64_t Streaks::grant(const Streak& streak) const {
    const uint64_t bytes = streak.op->bytes;
    const uint64_t begin =
        streak.allocation ? streak.allocation->address : streak.variable->address;
    const uint64_t size = streak.allocation ? streak.allocation->bytes : streak.variable->bytes;
    const uint64_t at = streak.next - begin;
    if (at >= size || size - at < bytes) return 0;
    uint64_t most = std::clamp(streak.granted, kFirstPortion, kPortion);
    if (streak.step > 0) most = std::min(most, (size - bytes - at) / uint64_t(streak.step) + 1);
    if (streak.step < 0) most = std::min(most, at / uint64_t(-streak.step) + 1);
    const auto& list = listeners(ex_, streak.space);
    if (list.empty()) return most;
    const Event event(ex_, streak, streak.next);
    for (Observer* o : list) {
        most = o->foresee(event, streak.step, most);
        if (most == 0) break;
    }
    return most;
}

bool Streaks::prolong(Streak& streak) {
    const uint64_t more = grant(streak);
    streak.granted += more;
    streak.left += more;
    return more != 0;
}

void Streaks::before(const MemoryOp& op, uint64_t address) {
    // Observers are to hear of one loop after the other.
    if (loop_ != begun_in_) {
        close();
        begun_in_ = loop_;
    }
    if (op.streak) end(*op.streak);  // it has left its steps
    // What a streak has stored is in memory, and the observers must know before they see it read.
    for (size_t k = 0; stores_ && k < open_; ++k) {
        const Streak& streak = streaks_[k];
        if (streak.op->kind != AccessKind::kStore || streak.count() == 0) continue;
        const uint64_t last = streak.next - uint64_t(streak.step);
        const uint64_t low = std::min(streak.first, last);
        const uint64_t high = std::max(streak.first, last) + streak.op->bytes;
        if (address < high && address + op.bytes > low) return close();
    }
}

void Streaks::after(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address) {
    if (ex_.frame->undefined) return close();  // each access may matter to what is undefined
    const int64_t step = int64_t(address - op.last_address);
    op.last_address = address;
    if (step != op.step) {
        op.step = step;
        return;
    }
    begin(in, op, space, address + uint64_t(step));
}

void Streaks::begin_again(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address) {
    if (op.short_streaks < MemoryOp::kUnproven && !ex_.frame->undefined)
        begin(in, op, space, address);
}

void Streaks::begin(const Instr& in, const MemoryOp& op, ptx::Space space, uint64_t address) {
    const int64_t step = op.step;
    if (step > kLongestStep || step < -kLongestStep || open_ == kMost || ex_.abort ||
        (uint64_t(step) | address) & (op.bytes - 1u))
        return;
    if (op.short_streaks >= kPatience) {
        if (++op.left_out < kPause) return;
        op.left_out = 0;
        --op.short_streaks;
    }
    Streak streak;
    streak.op = &op;
    streak.space = space;
    streak.step = step;
    streak.first = streak.next = address;
    const Home home(ex_, op, space, address);
    if (!home.size) return;
    streak.allocation = home.allocation;
    streak.variable = home.variable;
    streak.bias = home.host - home.begin;
    streak.site = Executor::blamed(ex_.frame, in);
    streak.instruction = in.site;
    if (!prolong(streak)) return;
    streaks_[open_] = streak;
    op.streak = &streaks_[open_++];
    stores_ += op.kind == AccessKind::kStore;
}

void Streaks::tell(const Streak& streak, uint64_t first, int64_t step, uint64_t count) const {
    const Event event(ex_, streak, first);
    for (Observer* o : listeners(ex_, streak.space)) o->on_streak(event, step, count);
}

// An unrolled loop has several instructions on one line, each of which takes its turn: together
// they go through memory without a gap. False: it is not like that.
bool Streaks::tell_together(size_t leader, Told& told) const {
    const Streak& lead = streaks_[leader];
    const int64_t bytes = lead.op->bytes;
    if (lead.step <= bytes || lead.step % bytes) return false;
    const size_t turns = size_t(lead.step / bytes);
    if (turns > open_) return false;
    std::array<size_t, kMost> parts;
    uint64_t least = lead.count();
    for (size_t turn = 0; turn < turns; ++turn) {
        const auto belongs = [&](size_t k) {
            const Streak& s = streaks_[k];
            return !told[k] && s.first == lead.first + turn * uint64_t(bytes) &&
                   s.step == lead.step && s.op->kind == lead.op->kind && s.op->bytes == bytes &&
                   s.allocation == lead.allocation && s.variable == lead.variable &&
                   same_line(s.site, lead.site);
        };
        size_t k = 0;
        while (k < open_ && !belongs(k)) ++k;
        if (k == open_) return false;
        parts[turn] = k;
        least = std::min(least, streaks_[k].count());
    }
    if (least == 0) return false;
    tell(lead, lead.first, bytes, least * turns);
    for (size_t turn = 0; turn < turns; ++turn) {
        const Streak& s = streaks_[parts[turn]];
        told.set(parts[turn]);
        if (const uint64_t rest = s.count() - least)
            tell(s, s.first + least * uint64_t(s.step), s.step, rest);
    }
    return true;
}

// Tells of one streak, with those that take turns with it: they end as well if an inner loop does.
// Its own thread's accesses are the only ones since it began, so those that stay open may be older.
void Streaks::end(Streak& streak) {
    Told told;
    const size_t index = size_t(&streak - streaks_.data());
    for (size_t k = 0; k < open_ && !told[index]; ++k) {
        const Streak& lead = streaks_[k];
        if (lead.step == streak.step && lead.op->kind == streak.op->kind &&
            same_line(lead.site, streak.site))
            tell_together(k, told);
    }
    if (!told[index] && streak.count()) tell(streak, streak.first, streak.step, streak.count());
    told.set(index);
    for (size_t k = open_; k-- > 0;) {
        if (!told[k]) continue;
        const MemoryOp& op = *streaks_[k].op;
        stores_ -= op.kind == AccessKind::kStore;
        forget(op, streaks_[k].count());
        if (k == --open_) continue;
        streaks_[k] = streaks_[open_];  // which is to stay
        streaks_[k].op->streak = &streaks_[k];
    }
}

void Streaks::tell() {
    Told told;
    for (size_t k = 0; k < open_; ++k) {
        forget(*streaks_[k].op, streaks_[k].count());
    }
    for (size_t k = 0; k < open_; ++k)
        if (!told[k] && streaks_[k].count()) tell_together(k, told);
    for (size_t k = 0; k < open_; ++k)
        if (const Streak& s = streaks_[k]; !told[k] && s.count())
            tell(s, s.first, s.step, s.count());
    open_ = stores_ = 0;
}

void run_alone(Lanes& lanes, const Instr& in) {
    executor(lanes).streaks.close();
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

// The access goes on with the streak. A generic address may lie in any space; most are global.
template <bool shared>
[[gnu::always_inline]] inline void go_on(Executor& ex, const MemoryOp& op, Streak& streak,
                                         uint64_t address) {
    streak.next += uint64_t(streak.step);
    --streak.left;
    note_progress<shared>(ex, op);
    move_one(ex, op, streak.bias + address);
}

// Where nobody listens, an access in bounds is nothing but a move. Zero: it goes the way of all.
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
    ex.streaks.before(op, address);
    if (there) ex.streaks.begin_again(in, op, space, address);
    if (op.streak) return go_on<shared>(ex, op, *op.streak, address);
    if (const uint64_t host = there ? unheard(ex, op, space, address) : 0) {
        note_progress<shared>(ex, op);
        move_one(ex, op, host);
    } else {
        in.handler(ex, in);
    }
    if (there) ex.streaks.after(in, op, space, address);
}

template <ptx::Space S>
void access_one(Lanes& lanes, const Instr& in) {
    Executor& ex = executor(lanes);
    const MemoryOp& op = in.as<MemoryOp>();
    const uint64_t address =
        S == ptx::Space::kShared ? address_of(ex, op) & 0xffffffffu : address_of(ex, op);
    Streak* const streak = op.streak;
    if (streak && address == streak->next && (streak->left || ex.streaks.prolong(*streak)))
        [[likely]]
        return go_on<S == ptx::Space::kShared>(ex, op, *streak, address);
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
