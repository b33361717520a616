// SPDX-License-Identifier: MIT
// The handlers that read special registers: the column `reader` of ptx/specials.def.
#include <chrono>

#include "machine/lanes/arith_core.h"
#include "machine/state/launch_state.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

namespace {

constexpr Handler constant = nullptr;  // decode_move replaces it
constexpr Handler unsupported = nullptr;

template <class T>
void fill(LaunchState& ex, const Instr& in, T value) {
    map_row(ex.row<T>(in.dst), ex.mask, [&](uint32_t) { return value; });
}

// The same value for all lanes, in a row of 64 bits if `extra` is set.
void put(LaunchState& ex, const Instr& in, uint64_t value) {
    if (in.extra)
        fill<uint64_t>(ex, in, value);
    else
        fill<uint32_t>(ex, in, uint32_t(value));
}

template <int axis>
uint32_t component(const Dim3& size) {
    return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}

template <int axis>
void thread_index(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const uint32_t* values = ex.thread_ids[ex.warp->info.index].axis[axis];
    if (in.extra)
        map_row(ex.row<uint64_t>(in.dst), ex.mask, [&](uint32_t i) { return uint64_t(values[i]); });
    else
        map_row(ex.row<uint32_t>(in.dst), ex.mask, [&](uint32_t i) { return values[i]; });
}

template <int axis>
void block_size(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, component<axis>(ex.info.block));
}

template <int axis>
void block_index(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, component<axis>(ex.block->info.index));
}

template <int axis>
void grid_size(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, component<axis>(ex.info.grid));
}

void lane_index(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    map_row(ex.row<uint32_t>(in.dst), ex.mask, [](uint32_t i) { return i; });
}

enum : unsigned { kBelow = 1, kSelf = 2, kAbove = 4 };

// The lanes with lower and higher indexes than the lane's own, and itself.
template <unsigned parts>
void lane_mask(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    map_row(ex.row<uint32_t>(in.dst), ex.mask, [](uint32_t i) {
        const uint32_t self = 1u << i, below = self - 1;
        return (parts & kSelf ? self : 0) | (parts & kBelow ? below : 0) |
               (parts & kAbove ? ~(self | below) : 0);
    });
}

void warp_index(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.warp->info.index);
}

void warps_per_multiprocessor(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.limits.threads_per_multiprocessor / kWarpSize);
}

void multiprocessor(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.block->info.linear % ex.limits.multiprocessors);
}

void multiprocessors(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.limits.multiprocessors);
}

void launch_number(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.info.serial);
}

// A loop that reads the clock may end by itself, so it does not count as a dead spin. But libcu++
// reads the clock in every wait, to back off, so a loop counts as one when nothing but the clock
// has changed for this long.
constexpr uint64_t kPatience = 2'000'000'000;  // nanoseconds

void watch_clock(LaunchState& ex, uint64_t now) {
    ++ex.clock.reads;
    if (ex.clock.launch != ex.info.serial || ex.clock.changes != ex.changes) {
        ex.clock.launch = ex.info.serial;
        ex.clock.since = now;
    }
    if (now - ex.clock.since < kPatience) ++ex.changes, ++ex.clock.counted;
    ex.clock.changes = ex.changes;
}

// Clock cycles per warp instruction: a few, as on a card. A prime, so that a loop that waits for a
// round number of cycles ends slightly past it, as on a card.
constexpr uint64_t kCyclesEach = 7;

// A loop that waits for the cycle counter has nothing else to do. Short waits end on time; after a
// number of reads between which nothing happened, the counter runs ahead, at each read by an eighth
// of the time waited so far. Longer waits end at most an eighth late.
constexpr uint64_t kPlainReads = 1 << 17;

uint64_t run_ahead(LaunchState& ex, uint64_t cycles) {
    auto& clock = ex.clock;
    const uint64_t others = ex.changes - clock.counted;
    uint64_t now = cycles + clock.ahead;
    if (others != clock.others) {
        clock.others = others;
        clock.quiet_reads = 0;
        clock.began = now;
    } else if (++clock.quiet_reads > kPlainReads) {
        clock.ahead += (now - clock.began) / 8;
        now = cycles + clock.ahead;
    }
    ++ex.changes;  // no dead spin: it may end by itself
    ++clock.counted;
    return now;
}

uint64_t cycles(LaunchState& ex, const Instr& in) {
    // Straight runs are only counted at their end, so add what this one has done so far.
    const Code& code = *ex.frame->code;
    const size_t here = size_t(&in - code.instructions.data());
    return run_ahead(ex,
                     kCyclesEach * (ex.warp_instructions + code.runs[ex.run_begins].instructions -
                                    code.runs[here].instructions));
}

void clock_cycles(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, cycles(ex, in));
}

void clock_low(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, uint32_t(cycles(ex, in)));
}

void clock_high(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, cycles(ex, in) >> 32);
}

uint64_t nanoseconds(LaunchState& ex) {
    const uint64_t now = uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::system_clock::now().time_since_epoch())
                                      .count());
    watch_clock(ex, now);
    return now;
}

void timer(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, nanoseconds(ex));
}

void timer_low(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, uint32_t(nanoseconds(ex)));
}

void timer_high(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, nanoseconds(ex) >> 32);
}

void shared_size(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.info.shared_bytes);
}

void dynamic_shared_size(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, ex.info.dynamic_shared_bytes);
}

template <uint32_t value>
void always(Lanes& lanes, const Instr& in) {
    put(launch_state(lanes), in, value);
}

// The grid barrier's workspace, for cooperative launches only (cooperative_groups reads it in this
// way).
uint64_t workspace(const LaunchState& ex) {
    return ex.info.cooperative && ex.grid_workspace ? ex.grid_workspace->address : 0;
}

void workspace_high(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.asked_for_grid |= !ex.info.cooperative;
    put(ex, in, workspace(ex) >> 32);
}

void workspace_low(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    put(ex, in, uint32_t(workspace(ex)));
}

constexpr Handler kReaders[] = {
#define PTX_SPECIAL(name, spelling, type, reader) reader,
#include "ptx/specials.def"
#undef PTX_SPECIAL
};

}  // namespace

Handler special_handler(ptx::Special special) {
    return kReaders[size_t(special)];
}

}  // namespace machine::LEVEL_NS
