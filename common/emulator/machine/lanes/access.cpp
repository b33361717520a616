// SPDX-License-Identifier: MIT
// All accesses to memory: every load, store and atomic of a kernel computes its addresses, finds
// the allocations, notifies the observers, and only then moves data, for valid lanes only.
#include <cstring>

#include "machine/definedness/undefined.h"
#include "machine/lanes/addresses.h"
#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"
#include "machine/state/launch_state.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

using ptx::Space;

// Defined in access_rows.cpp; null: no such width.
Mover load_mover(unsigned element_bytes, unsigned row_bytes, bool sign_extend);
Mover store_mover(unsigned element_bytes, unsigned row_bytes);

namespace {

// The result of an invalid load: NaN as a float, and not a plausible index or pointer.
constexpr unsigned char kPoison = 0xFF;

template <class T>
T argument_as(const std::byte* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

struct Place {
    Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;
    uint32_t bad = 0;
    uint32_t object_begin = 0, object_end = 0;  // of local memory
};

void poison(LaunchState& ex, const MemoryOp& op, uint32_t lanes) {
    const auto fill = [&](uint32_t row, uint32_t bytes) {
        if (row == kNoRow) return;
        for_lanes(lanes,
                  [&](uint32_t i) { std::memset(ex.rows + row + i * bytes, kPoison, bytes); });
    };
    if (op.kind == AccessKind::kLoad)
        for (uint32_t e = 0; e < op.vector; ++e) fill(op.rows[e], op.row_bytes);
    else
        fill(op.dst, op.row_bytes);
}

[[gnu::noinline]] void notify(LaunchState& ex, const MemoryOp& op, Space space, uint32_t mask,
                              Addresses& a, const Place& place, uint32_t misaligned,
                              const std::vector<Observer*>& list) {
    a.finish(op.bytes);
    a.bound(mask);
    AccessEvent event;
    event.warp = &ex.warp->info;
    event.site = LaunchState::blamed(ex.frame, *ex.current);
    event.instruction = ex.current->site;
    event.space = space;
    event.kind = op.kind;
    event.order = op.order;
    event.scope = op.scope;
    event.wrote_only_if_equal = op.conditional;
    event.bytes = op.bytes;
    event.element_bytes = op.element_bytes;
    event.mask = mask;
    event.address = a.at;
    event.allocation = place.allocation;
    event.variable = place.variable;
    event.lowest = a.low;
    event.highest = a.high;
    event.contiguous = a.contiguous;
    event.bad_lanes = place.bad;
    event.misaligned_lanes = misaligned;
    event.object_begin = place.object_begin;
    event.object_end = place.object_end;
    const bool stores = op.kind == AccessKind::kStore && ex.follows && space != Space::kLocal;
    event.undefined_load =
        op.kind == AccessKind::kLoad && ex.follows ? &ex.undefined.load() : nullptr;
    event.undefined_store = stores ? ex.undefined.store_into(space, mask & ~place.bad) : 0;
    event.undefined_origin = event.undefined_store ? ex.undefined.store_origin() : 0;
    event.values = nullptr;
    event.value_stride = 0;
    alignas(16) std::byte packed[kWarpSize * 16];
    if (op.kind == AccessKind::kStore) {
        if (op.vector == 1) {
            event.values = ex.rows + op.rows[0];
            event.value_stride = op.row_bytes;
        } else {
            for (uint32_t e = 0; e < op.vector; ++e)
                for_lanes(mask, [&](uint32_t i) {
                    std::memcpy(packed + i * 16 + e * op.element_bytes,
                                ex.rows + op.rows[e] + i * op.row_bytes,
                                op.element_bytes);
                });
            event.values = packed;
            event.value_stride = 16;
        }
    } else if (op.kind >= AccessKind::kAtomic) {
        event.operand = ex.rows + op.operands[0];
        event.operand_stride = op.row_bytes;
    }
    for (Observer* o : list) o->on_access(event);
    if (place.bad | misaligned)
        for (Observer* o : ex.observers.bad) o->on_access(event);
}

[[gnu::always_inline]] inline void notify(LaunchState& ex, const MemoryOp& op, Space space,
                                          uint32_t mask, Addresses& a, const Place& place,
                                          uint32_t misaligned) {
    Observers& all = ex.observers;
    const std::vector<Observer*>& list = space == Space::kShared  ? all.shared
                                         : space == Space::kLocal ? all.local
                                                                  : all.global;
    if (list.empty() && !((place.bad | misaligned) && !all.bad.empty())) return;
    notify(ex, op, space, mask, a, place, misaligned, list);
}

uint32_t misaligned_lanes(const Addresses& a, uint32_t mask, uint32_t bytes) {
    if (bytes == 1) return 0;
    if (a.contiguous) return a.first & (bytes - 1) ? mask : 0;
    return lanes_with(a.at, bytes - 1) & mask;
}

bool writable(const Allocation& a, AccessKind kind) {
    return kind == AccessKind::kLoad || a.kind != MemoryKind::kConst;
}

// An access outside of every page of the allocation: hardware stops the kernel with error 700.
// Hardware does not detect overruns within the pages of an allocation, so they do not stop the
// kernel here either.
bool hardware_faults(const Allocation* a, uint64_t address) {
    constexpr uint64_t kPage = 2 << 20;
    if (!a) return true;
    return address + kPage < a->address || address > a->address + a->bytes + kPage;
}

// A store that other threads can see is progress; one to this thread's own memory is not.
void note_store(LaunchState& ex, const MemoryOp& op) {
    if (op.kind != AccessKind::kStore) return;
    ++ex.changes;
    ex.waits = 0;
}

void access_global(LaunchState& ex, const MemoryOp& op, Space space, uint32_t mask, Addresses& a) {
    note_store(ex, op);
    Place place;
    Allocation* one = op.cache;
    const auto holds_all = [&](const Allocation* in) {
        return in && in->live && within(a, mask, in->address, in->bytes, op.bytes);
    };
    // Peer access may have been disabled in the meantime.
    if (!(holds_all(one) && ex.can_reach(*one))) [[unlikely]] {
        one = ex.memory.find(a.first);
        if (!(holds_all(one) && writable(*one, op.kind) && ex.can_reach(*one))) one = nullptr;
        if (one) op.cache = one;
    }
    const uint32_t misaligned = misaligned_lanes(a, mask, op.bytes);
    if (misaligned) ex.fail(LaunchStatus::kMisaligned);
    if (one) [[likely]] {
        place.allocation = one;
        notify(ex, op, space, mask, a, place, misaligned);
        op.mover(
            ex, op, mask, uint64_t(uintptr_t(one->host)) - one->address, a.at, 0, a.contiguous);
        return;
    }
    a.finish(op.bytes);
    Allocation* owner[kWarpSize];
    for_lanes(mask, [&](uint32_t i) {
        Allocation* found = ex.memory.find(a.at[i]);
        owner[i] = found;
        if (!(found && found->live && found->contains(a.at[i], op.bytes) &&
              writable(*found, op.kind) && ex.can_reach(*found))) {
            place.bad |= 1u << i;
            if (hardware_faults(found, a.at[i]) || !ex.can_reach(*found))
                ex.fail(LaunchStatus::kIllegalAddress);
        }
    });
    notify(ex, op, space, mask, a, place, misaligned);
    if (place.bad) poison(ex, op, place.bad);
    for_lanes(mask & ~place.bad, [&](uint32_t i) {
        op.mover(ex,
                 op,
                 1u << i,
                 uint64_t(uintptr_t(owner[i]->host)) - owner[i]->address,
                 a.at,
                 0,
                 false);
    });
}

void access_shared(LaunchState& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    note_store(ex, op);
    if (op.kind == AccessKind::kStore) ++ex.near_changes;
    Place place;
    const uint64_t host = uint64_t(uintptr_t(ex.block->shared.data()));
    const uint32_t misaligned = misaligned_lanes(a, mask, op.bytes);
    if (misaligned) ex.fail(LaunchStatus::kMisaligned);
    const SharedVariable* v = ex.windows[uint32_t(a.first) >> kSharedWindowBits];
    if (v && within(a, mask, v->address, v->bytes, op.bytes)) [[likely]] {
        place.variable = v;
        notify(ex, op, Space::kShared, mask, a, place, misaligned);
        op.mover(ex, op, mask, host + v->offset - v->address, a.at, 0, a.contiguous);
        return;
    }
    a.finish(op.bytes);
    const SharedVariable* owner[kWarpSize];
    for_lanes(mask, [&](uint32_t i) {
        const uint64_t at = uint32_t(a.at[i]);
        owner[i] = ex.windows[at >> kSharedWindowBits];
        if (!(owner[i] && at >= owner[i]->address &&
              at + op.bytes <= owner[i]->address + owner[i]->bytes))
            place.bad |= 1u << i;
    });
    notify(ex, op, Space::kShared, mask, a, place, misaligned);
    if (place.bad) poison(ex, op, place.bad);
    for_lanes(mask & ~place.bad, [&](uint32_t i) {
        op.mover(ex, op, 1u << i, host + owner[i]->offset - owner[i]->address, a.at, 0, false);
    });
}

void access_local(LaunchState& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    Place place;
    a.finish(op.bytes);
    std::byte* memory = ex.local_memory();
    const uint32_t misaligned = misaligned_lanes(a, mask, op.bytes);
    if (misaligned) ex.fail(LaunchStatus::kMisaligned);
    const auto inside = [&](uint64_t low, uint64_t end) {
        for (const Frame* f = ex.frame; f; f = f->caller)
            if (low >= f->local_base && end <= f->local_end()) return true;
        return false;
    };
    if (!memory) {
        place.bad = mask;
    } else if (!within(a, mask, ex.frame->local_base, ex.frame->code->local_bytes, op.bytes)) {
        for_lanes(mask, [&](uint32_t i) {
            place.bad |= uint32_t(!inside(a.at[i], a.at[i] + op.bytes)) << i;
        });
    }
    const uint32_t outside = place.bad;
    if (op.object.known()) {
        // An overrun from one variable into the next: a finding, but the access is valid for the
        // thread.
        place.object_begin = ex.frame->local_base + op.object.begin;
        place.object_end = ex.frame->local_base + op.object.end;
        const uint32_t size = place.object_end - place.object_begin;
        if (!within(a, mask, place.object_begin, size, op.bytes))
            for_lanes(mask, [&](uint32_t i) {
                const bool strayed =
                    a.at[i] < place.object_begin || a.at[i] + op.bytes > place.object_end;
                place.bad |= uint32_t(strayed) << i;
            });
    }
    notify(ex, op, Space::kLocal, mask, a, place, misaligned);
    if (outside) poison(ex, op, outside);
    if (ex.follows) {
        bool same = true;
        for_lanes(mask, [&](uint32_t i) { same &= a.at[i] == a.first; });
        ex.undefined.local(op, mask & ~outside, a.at, same);
    }
    if (const uint32_t good = mask & ~outside)
        op.mover(ex, op, good, uint64_t(uintptr_t(memory)), a.at, ex.local_stride(), false);
}

void access_parameters(LaunchState& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    Place place;
    a.finish(op.bytes);
    for_lanes(mask, [&](uint32_t i) {
        const bool good = op.kind == AccessKind::kLoad &&
                          uint32_t(a.at[i]) + uint64_t(op.bytes) <= ex.arguments.size();
        place.bad |= uint32_t(!good) << i;
    });
    if (place.bad) {
        notify(ex, op, Space::kNone, mask, a, place, 0);
        poison(ex, op, place.bad);
        ex.fail(LaunchStatus::kIllegalAddress);
    }
    Addresses low;
    for_lanes(mask, [&](uint32_t i) { low.at[i] = uint32_t(a.at[i]); });
    if (const uint32_t good = mask & ~place.bad)
        op.mover(ex, op, good, uint64_t(uintptr_t(ex.arguments.data())), low.at, 0, false);
}

void access_nowhere(LaunchState& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    Place place;
    a.finish(op.bytes);
    place.bad = mask;
    notify(ex, op, Space::kNone, mask, a, place, 0);
    poison(ex, op, mask);
    ex.fail(LaunchStatus::kIllegalAddress);
}

void access_generic(LaunchState& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    if (within(a, mask, 0, uint64_t(1) << 56, 1)) [[likely]]
        return access_global(ex, op, Space::kGlobal, mask, a);
    a.finish(op.bytes);
    // One space after the other; usually there is only one.
    for (uint32_t rest = mask; rest;) {
        const uint32_t lowest = uint32_t(std::countr_zero(rest)) % kWarpSize;
        const uint64_t tag = a.at[lowest] >> 56;
        Addresses part{};
        part.low = ~uint64_t(0);
        part.bounded = true;
        uint32_t lanes = 0;
        const bool narrow = tag == kSharedTag || tag == kLocalTag;
        for_lanes(rest, [&](uint32_t i) {
            if (a.at[i] >> 56 != tag) return;
            lanes |= 1u << i;
            part.add(i, narrow ? a.at[i] & 0xffffffffu : a.at[i]);
        });
        part.first = part.at[lowest];
        part.contiguous = a.contiguous && lanes == kAllLanes;
        if (narrow) ex.check_owners(a.at, lanes, op.kind, tag);
        switch (tag) {
        case kSharedTag:
            access_shared(ex, op, lanes, part);
            break;
        case kLocalTag:
            access_local(ex, op, lanes, part);
            break;
        case kParamTag:
            access_parameters(ex, op, lanes, part);
            break;
        case 0:
            access_global(ex, op, Space::kGlobal, lanes, part);
            break;
        default:
            access_nowhere(ex, op, lanes, part);
            break;
        }
        rest &= ~lanes;
    }
}

// Shared and local addresses have 32 bits; a wider register is truncated to them (PTX ISA
// "Addresses as Operands"), for instance when inline assembly does not convert a generic pointer.
void truncate(Addresses& a, const MemoryOp& op, uint32_t mask) {
    if (op.base == MemoryOp::Base::kRow32 || within(a, mask, 0, uint64_t(1) << 32, 1)) return;
    a.finish(op.bytes);
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
        compute(a, ex.row<uint64_t>(op.base_row), op.offset, mask, op.bytes);
        break;
    case MemoryOp::Base::kRow32:
        compute(a, ex.row<uint32_t>(op.base_row), op.offset, mask, op.bytes);
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
    if (ex.follows) [[unlikely]]
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
