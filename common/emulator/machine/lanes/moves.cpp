// SPDX-License-Identifier: MIT
// Straight-line handlers that use more than rows: special registers, packing, address spaces,
// fences and waits.
#include <atomic>
#include <chrono>
#include <cstring>

#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"
#include "machine/state/launch_state.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

using ptx::Special;

namespace {

template <class T>
void fill(LaunchState& ex, const Instr& in, T value) {
    map_row(ex.row<T>(in.dst), ex.mask, [&](uint32_t) { return value; });
}

void put(LaunchState& ex, const Instr& in, uint64_t value) {
    if (in.extra & 0x8000)
        fill<uint64_t>(ex, in, value);
    else
        fill<uint32_t>(ex, in, uint32_t(value));
}

template <int Axis>
void thread_id(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const uint32_t* values = ex.thread_ids[ex.warp->info.index].axis[Axis];
    if (in.extra & 0x8000)
        map_row(ex.row<uint64_t>(in.dst), ex.mask, [&](uint32_t i) { return uint64_t(values[i]); });
    else
        map_row(ex.row<uint32_t>(in.dst), ex.mask, [&](uint32_t i) { return values[i]; });
}

void lane_mask(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const Special which = Special(in.extra & 0x7fff);
    map_row(ex.row<uint32_t>(in.dst), ex.mask, [&](uint32_t i) {
        const uint32_t self = 1u << i;
        switch (which) {
        case Special::k_lanemask_eq:
            return self;
        case Special::k_lanemask_lt:
            return self - 1;
        case Special::k_lanemask_le:
            return self | (self - 1);
        case Special::k_lanemask_gt:
            return ~(self | (self - 1));
        default:
            return ~(self - 1);
        }
    });
}

void lane_id(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    map_row(ex.row<uint32_t>(in.dst), ex.mask, [](uint32_t i) { return i; });
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

void uniform(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const BlockInfo& block = ex.block->info;
    const Dim3& grid = ex.info.grid;
    const auto nanoseconds = [&] {
        const uint64_t now = uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
        watch_clock(ex, now);
        return now;
    };
    const auto cycles = [&] {
        // Straight runs are only counted at their end, so add what this one has done so far.
        const Code& code = *ex.frame->code;
        const size_t here = size_t(&in - code.instructions.data());
        return run_ahead(ex,
                         kCyclesEach *
                             (ex.warp_instructions + code.runs[ex.run_begins].instructions -
                              code.runs[here].instructions));
    };
    const Special which = Special(in.extra & 0x7fff);
    switch (which) {
    case Special::k_ntid_x:
        return put(ex, in, ex.info.block.x);
    case Special::k_ntid_y:
        return put(ex, in, ex.info.block.y);
    case Special::k_ntid_z:
        return put(ex, in, ex.info.block.z);
    case Special::k_ctaid_x:
        return put(ex, in, block.index.x);
    case Special::k_ctaid_y:
        return put(ex, in, block.index.y);
    case Special::k_ctaid_z:
        return put(ex, in, block.index.z);
    case Special::k_nctaid_x:
        return put(ex, in, grid.x);
    case Special::k_nctaid_y:
        return put(ex, in, grid.y);
    case Special::k_nctaid_z:
        return put(ex, in, grid.z);
    case Special::k_warpid:
        return put(ex, in, ex.warp->info.index);
    case Special::k_nwarpid:
        return put(ex, in, ex.limits.threads_per_multiprocessor / kWarpSize);
    case Special::k_smid:
        return put(ex, in, block.linear % ex.limits.multiprocessors);
    case Special::k_nsmid:
        return put(ex, in, ex.limits.multiprocessors);
    case Special::k_gridid:
        return put(ex, in, ex.info.serial);
    case Special::k_clock:
        return put(ex, in, uint32_t(cycles()));
    case Special::k_clock_hi:
        return put(ex, in, cycles() >> 32);
    case Special::k_clock64:
        return put(ex, in, cycles());
    case Special::k_globaltimer:
        return put(ex, in, nanoseconds());
    case Special::k_globaltimer_lo:
        return put(ex, in, uint32_t(nanoseconds()));
    case Special::k_globaltimer_hi:
        return put(ex, in, nanoseconds() >> 32);
    case Special::k_total_smem_size:
    case Special::k_aggr_smem_size:
        return put(ex, in, ex.info.shared_bytes);
    case Special::k_dynamic_smem_size:
        return put(ex, in, ex.info.dynamic_shared_bytes);
    // Without clusters every block is a cluster of its own.
    case Special::k_clusterid_x:
        return put(ex, in, block.index.x);
    case Special::k_clusterid_y:
        return put(ex, in, block.index.y);
    case Special::k_clusterid_z:
        return put(ex, in, block.index.z);
    case Special::k_nclusterid_x:
        return put(ex, in, grid.x);
    case Special::k_nclusterid_y:
        return put(ex, in, grid.y);
    case Special::k_nclusterid_z:
        return put(ex, in, grid.z);
    case Special::k_cluster_nctaid_x:
    case Special::k_cluster_nctaid_y:
    case Special::k_cluster_nctaid_z:
    case Special::k_cluster_nctarank:
        return put(ex, in, 1);
    // The grid barrier's workspace, for cooperative launches only (cooperative_groups reads it in
    // this way).
    case Special::k_envreg1:
        ex.asked_for_grid |= !ex.info.cooperative;
        return put(ex,
                   in,
                   ex.info.cooperative && ex.grid_workspace ? ex.grid_workspace->address >> 32 : 0);
    case Special::k_envreg2:
        return put(ex,
                   in,
                   ex.info.cooperative && ex.grid_workspace ? uint32_t(ex.grid_workspace->address)
                                                            : 0);
    default:
        return put(ex, in, 0);
    }
}

template <class T>
void copy(Lanes& lanes, const Instr& in) {
    const T* s = lanes.row<T>(in.src[0]);
    map_row(lanes.row<T>(in.dst), lanes.mask, [&](uint32_t i) { return s[i]; });
}

template <class T>
void local_address(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const T* s = ex.row<T>(in.src[0]);
    const T base = T(ex.frame->local_base);
    map_row(ex.row<T>(in.dst), ex.mask, [&](uint32_t i) { return T(s[i] + base); });
}

template <class T>
void to_generic(Lanes& lanes, const Instr& in) {
    const T* s = lanes.row<T>(in.src[0]);
    const T base = T(generic_base(in.extra));
    map_row(lanes.row<T>(in.dst), lanes.mask, [&](uint32_t i) {
        return T((s[i] & 0xffffffffu) | base);
    });
}

// Includes the owner.
void local_to_generic(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const uint64_t* s = ex.row<uint64_t>(in.src[0]);
    map_row(ex.row<uint64_t>(in.dst), ex.mask, [&](uint32_t i) {
        return (s[i] & 0xffffffffu) | uint64_t(ex.local_owner(i)) << kOwnerShift |
               generic_base(kLocalTag);
    });
}

void shared_to_generic(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const uint64_t* s = ex.row<uint64_t>(in.src[0]);
    const uint64_t base = uint64_t(ex.shared_owner()) << kOwnerShift | generic_base(kSharedTag);
    map_row(
        ex.row<uint64_t>(in.dst), ex.mask, [&](uint32_t i) { return (s[i] & 0xffffffffu) | base; });
}

template <class T>
void from_generic(Lanes& lanes, const Instr& in) {
    const T* s = lanes.row<T>(in.src[0]);
    map_row(lanes.row<T>(in.dst), lanes.mask, [&](uint32_t i) { return T(s[i] & 0xffffffffu); });
}

// isspacep. A 32-bit register holds the lower half of an address.
template <class T>
void space_test(Lanes& lanes, const Instr& in) {
    const T* s = lanes.row<T>(in.src[0]);
    const bool wants_const = in.extra & 0x8000;
    const uint64_t tag = in.extra & 0x7fff;
    if (tag) {
        map_predicate(lanes.predicate(in.dst), lanes.mask, [&](uint32_t i) {
            return uint64_t(s[i]) >> 56 == tag;
        });
        return;
    }
    // Global and constant addresses have no tag: the allocation determines the space. Addresses
    // outside of all allocations count as global.
    const Memory& memory = launch_state(lanes).memory;
    map_predicate(lanes.predicate(in.dst), lanes.mask, [&](uint32_t i) {
        if (uint64_t(s[i]) >> 56) return false;
        const Allocation* found = memory.find(s[i]);
        return (found && found->kind == MemoryKind::kConst) == wants_const;
    });
}

void complement(Lanes& lanes, const Instr& in) {
    lanes.predicate(in.dst) = ~lanes.predicate(in.src[0]);
}

void pack(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const MemoryOp& op = in.as<MemoryOp>();
    const uint32_t width = std::max<uint32_t>(2, op.bytes);
    // Through a buffer: an element may be the destination itself.
    std::byte whole[kWarpSize * 16];
    for (uint32_t e = 0; e < op.vector; ++e)
        for_lanes(ex.mask, [&](uint32_t i) {
            std::memcpy(whole + i * 16 + e * op.element_bytes,
                        ex.rows + op.rows[e] + i * op.row_bytes,
                        op.element_bytes);
        });
    for_lanes(ex.mask, [&](uint32_t i) {
        std::memcpy(ex.rows + op.dst + i * width, whole + i * 16, op.bytes);
    });
}

void unpack(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const MemoryOp& op = in.as<MemoryOp>();
    const uint32_t width = std::max<uint32_t>(2, op.bytes);
    std::byte whole[kWarpSize * 16];
    for_lanes(ex.mask, [&](uint32_t i) {
        std::memcpy(whole + i * 16, ex.rows + op.dst + i * width, op.bytes);
    });
    for (uint32_t e = 0; e < op.vector; ++e)
        for_lanes(ex.mask, [&](uint32_t i) {
            uint64_t value = 0;
            std::memcpy(&value, whole + i * 16 + e * op.element_bytes, op.element_bytes);
            std::memcpy(ex.rows + op.rows[e] + i * op.row_bytes,
                        &value,
                        std::min<uint32_t>(op.row_bytes, 8));
        });
}

// The same for two words of 32 bits and one of 64, as around each shuffle of a double: registers of
// different widths never overlap.
void pack_words(Lanes& lanes, const Instr& in) {
    const MemoryOp& op = in.as<MemoryOp>();
    const uint32_t *low = lanes.row<uint32_t>(op.rows[0]), *high = lanes.row<uint32_t>(op.rows[1]);
    map_row(lanes.row<uint64_t>(op.dst), lanes.mask, [&](uint32_t i) {
        return low[i] | uint64_t(high[i]) << 32;
    });
}

void unpack_words(Lanes& lanes, const Instr& in) {
    const MemoryOp& op = in.as<MemoryOp>();
    const uint64_t* whole = lanes.row<uint64_t>(op.dst);
    map_row(lanes.row<uint32_t>(op.rows[0]), lanes.mask, [&](uint32_t i) {
        return uint32_t(whole[i]);
    });
    map_row(lanes.row<uint32_t>(op.rows[1]), lanes.mask, [&](uint32_t i) {
        return uint32_t(whole[i] >> 32);
    });
}

void fence(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const FenceEvent event{
        &ex.warp->info, LaunchState::blamed(ex.frame, in), ex.mask, Scope(in.extra)};
    for (Observer* o : ex.observers.sync) o->on_fence(event);
    if (ex.memory.shares()) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void wait(Lanes& lanes, const Instr&) {
    ++launch_state(lanes).waits;
}
void nothing(Lanes&, const Instr&) {}
void active_mask(Lanes& lanes, const Instr& in) {
    const uint32_t value = lanes.mask;
    map_row(lanes.row<uint32_t>(in.dst), lanes.mask, [&](uint32_t) { return value; });
}

Handler special_handler(Special special) {
    switch (special) {
    case Special::k_tid_x:
        return thread_id<0>;
    case Special::k_tid_y:
        return thread_id<1>;
    case Special::k_tid_z:
        return thread_id<2>;
    case Special::k_laneid:
        return lane_id;
    case Special::k_lanemask_eq:
    case Special::k_lanemask_lt:
    case Special::k_lanemask_le:
    case Special::k_lanemask_gt:
    case Special::k_lanemask_ge:
        return lane_mask;
    default:
        return uniform;
    }
}

Handler copy_handler(unsigned bytes) {
    return bytes == 8 ? copy<uint64_t> : bytes == 4 ? copy<uint32_t> : copy<uint16_t>;
}
Handler local_address_handler(unsigned bytes) {
    return bytes == 8 ? local_address<uint64_t> : local_address<uint32_t>;
}
Handler to_generic_handler(unsigned bytes, uint64_t tag) {
    if (tag == kLocalTag && bytes == 8) return local_to_generic;
    if (tag == kSharedTag && bytes == 8) return shared_to_generic;
    return bytes == 8 ? to_generic<uint64_t> : to_generic<uint32_t>;
}
Handler space_test_handler(unsigned bytes) {
    return bytes == 8 ? space_test<uint64_t> : space_test<uint32_t>;
}
Handler from_generic_handler(unsigned bytes) {
    return bytes == 8 ? from_generic<uint64_t> : from_generic<uint32_t>;
}
}  // namespace

extern const MoveTable kMoveTable;
constinit const MoveTable kMoveTable = {special_handler,
                                        copy_handler,
                                        local_address_handler,
                                        to_generic_handler,
                                        from_generic_handler,
                                        pack,
                                        unpack,
                                        pack_words,
                                        unpack_words,
                                        complement,
                                        space_test_handler,
                                        fence,
                                        wait,
                                        nothing,
                                        active_mask};

}  // namespace machine::LEVEL_NS
