// SPDX-License-Identifier: MIT
// The handlers of all accesses to memory. Each load, store and atomic computes its addresses, finds
// the allocations, notifies the observers, and only then moves data, for valid lanes only
// (access_spaces.h).
#include <cstring>

#include "machine/lanes/access_spaces.h"
#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

// Defined in access_rows.cpp; null: no such width.
Mover load_mover(unsigned element_bytes, unsigned row_bytes, bool sign_extend);
Mover store_mover(unsigned element_bytes, unsigned row_bytes);

namespace {

template <class T>
T argument_as(const std::byte* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

// Shared and local addresses have 32 bits; a wider register is truncated to them (PTX ISA
// "Addresses as Operands"), for instance when inline assembly does not convert a generic pointer.
void truncate(Addresses& a, const MemoryOp& op, uint32_t mask) {
    if (op.base == MemoryOp::Base::kRow32 || within(a, mask, 0, uint64_t(1) << 32, 1)) return;
    a.finish(op.bytes);
    a.pattern = nullptr;
    a.contiguous = a.contiguous && a.at[0] >> 32 == a.at[kWarpSize - 1] >> 32;
    a.high = 0;
    a.low = ~uint64_t(0);
    a.bounded = true;
    for_lanes(mask, [&](uint32_t i) { a.add(i, a.at[i] & 0xffffffffu); });
    a.first &= 0xffffffffu;
}

bool is_poll(const MemoryOp& op) {
    return op.order != MemoryOrder::kWeak && op.kind == AccessKind::kLoad;
}

template <Space S>
void access(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const MemoryOp& op = in.as<MemoryOp>();
    const uint32_t mask = ex.mask;
    Addresses a;
    switch (op.base) {
    case MemoryOp::Base::kRow64:
        compute(a, ex.row<uint64_t>(op.base_row), op.offset, mask, op.bytes, op.pattern);
        break;
    case MemoryOp::Base::kRow32:
        compute(a, ex.row<uint32_t>(op.base_row), op.offset, mask, op.bytes, op.pattern);
        break;
    case MemoryOp::Base::kAbsolute:
    case MemoryOp::Base::kLocal: {
        const uint64_t at =
            uint64_t(op.offset) + (op.base == MemoryOp::Base::kLocal ? ex.frame->local_base : 0);
        a.all_at(at);
        break;
    }
    }
    if (is_poll(op)) {
        ++ex.waits;
        ++ex.polls;
        if constexpr (S == Space::kGlobal || S == Space::kGeneric) {
            ++ex.far_polls;
            ex.polled = a.first;
        }
    }
    if (ex.follows) [[unlikely]]
        ex.undefined.begin_access(in, op, mask);
    // Movers other than plain loads and stores, and vectors, use every address.
    if (op.kind > AccessKind::kStore || op.vector != 1) a.finish(op.bytes);
    if constexpr (S == Space::kGlobal || S == Space::kConst) {
        access_global(ex, op, S, mask, a);
    } else if constexpr (S == Space::kShared) {
        truncate(a, op, mask);
        access_shared(ex, op, mask, a);
    } else if constexpr (S == Space::kLocal) {
        truncate(a, op, mask);
        access_local(ex, op, mask, a);
    } else if constexpr (S == Space::kParam) {
        access_parameters(ex, op, mask, a);
    } else {
        access_generic(ex, op, mask, a);
    }
    if (ex.follows && (ex.frame->undefined || ex.undefined.found())) [[unlikely]]
        ex.undefined.end_access(in, op, mask);
}

// ld.param of a kernel: all lanes read the same bytes.
void kernel_parameter(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const MemoryOp& op = in.as<MemoryOp>();
    Addresses a;
    const uint64_t at = uint64_t(op.offset);
    if (at > ex.arguments.size() || op.bytes > ex.arguments.size() - at) {
        a.all_at(at);
        return access_nowhere(ex, op, ex.mask, a);
    }
    if (op.vector == 1 && op.element_bytes == op.row_bytes && ex.mask == kAllLanes) {
        if (op.row_bytes == 8) {
            const uint64_t value = argument_as<uint64_t>(ex.arguments.data() + at);
            uint64_t* d = ex.row<uint64_t>(op.rows[0]);
            for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = value;
            return;
        }
        if (op.row_bytes == 4) {
            const uint32_t value = argument_as<uint32_t>(ex.arguments.data() + at);
            uint32_t* d = ex.row<uint32_t>(op.rows[0]);
            for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = value;
            return;
        }
    }
    for (uint64_t& x : a.at) x = at;
    op.mover(ex, op, ex.mask, uint64_t(uintptr_t(ex.arguments.data())), a.at, 0, false);
}

// ld.param and st.param of a function call: each lane's own bytes, in the frame.
template <AccessKind K>
void function_parameter(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    const MemoryOp& op = in.as<MemoryOp>();
    Addresses a;
    if (op.offset < 0 || uint64_t(op.offset) + op.bytes > op.region.stride) {
        a.all_at(uint64_t(op.offset));
        return access_nowhere(ex, op, ex.mask, a);
    }
    for (uint64_t& x : a.at) x = uint64_t(op.offset);
    op.mover(ex,
             op,
             ex.mask,
             uint64_t(uintptr_t(ex.rows)) + op.region.offset,
             a.at,
             op.region.stride,
             false);
}

Handler address_handler(Space space, AccessKind kind) {
    switch (space) {
    case Space::kGlobal:
        return access<Space::kGlobal>;
    case Space::kConst:
        return kind == AccessKind::kLoad ? access<Space::kConst> : nullptr;
    case Space::kShared:
        return access<Space::kShared>;
    case Space::kLocal:
        return access<Space::kLocal>;
    case Space::kParam:
        return access<Space::kParam>;
    case Space::kGeneric:
        return access<Space::kGeneric>;
    default:
        return nullptr;
    }
}

Handler function_parameter_handler(AccessKind kind) {
    return kind == AccessKind::kLoad ? function_parameter<AccessKind::kLoad>
                                     : function_parameter<AccessKind::kStore>;
}

}  // namespace

extern const AccessTable kAccessTable;
constinit const AccessTable kAccessTable = {
    address_handler, kernel_parameter, function_parameter_handler, load_mover, store_mover};

}  // namespace machine::LEVEL_NS
