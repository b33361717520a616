// SPDX-License-Identifier: MIT
// Straight-line handlers that use more than rows: packing, address spaces, fences and waits.
#include <atomic>
#include <cstring>

#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"
#include "machine/state/launch_state.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

namespace {

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
