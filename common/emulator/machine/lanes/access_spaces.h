// SPDX-License-Identifier: MIT
// Accesses by state space: each finds the allocation or variable, notifies the observers, and moves
// the data of valid lanes. Compiled once per processor level, with access.cpp, in an unnamed
// namespace: see arith_core.h.
#pragma once

#include <bit>

#include "machine/lanes/access_event.h"

namespace machine::LEVEL_NS {
namespace {

using ptx::Space;

uint32_t misaligned_lanes(Addresses& a, uint32_t mask, uint32_t bytes) {
    if (bytes == 1) return 0;
    if (a.contiguous) return a.first & (bytes - 1) ? mask : 0;
    if (a.pattern && !((a.first | a.pattern->bits) & (bytes - 1))) return 0;
    a.finish(bytes);
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

template <uint32_t lanes>
[[gnu::always_inline]] inline void load_groups(uint32_t* to, const std::byte* first,
                                               const LanePattern& pattern) {
    for (uint32_t i = 0; i < kWarpSize; i += lanes) {
        const std::byte* from = first + pattern.distance[i];
        if (pattern.same) {
            uint32_t value;
            std::memcpy(&value, from, sizeof value);
            for (uint32_t k = 0; k < lanes; ++k) to[i + k] = value;
        } else {
            std::memcpy(to + i, from, lanes * sizeof *to);
        }
    }
}

// Moves the data of valid lanes; `bias` is the host's address minus the device's.
[[gnu::always_inline]] inline void move(LaunchState& ex, const MemoryOp& op, uint32_t mask,
                                        Addresses& a, uint64_t bias) {
    if (a.pattern && op.plain_bytes == 4 && op.kind == AccessKind::kLoad) {
        uint32_t* const to = ex.row<uint32_t>(op.rows[0]);
        const auto* first = reinterpret_cast<const std::byte*>(uintptr_t(bias + a.first));
        switch (a.pattern->group) {
        case 32:
            return load_groups<32>(to, first, *a.pattern);
        case 16:
            return load_groups<16>(to, first, *a.pattern);
        case 8:
            return load_groups<8>(to, first, *a.pattern);
        }
    }
    if (!a.contiguous) a.finish(op.bytes);
    op.mover(ex, op, mask, bias, a.at, 0, a.contiguous);
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
        move(ex, op, mask, a, uint64_t(uintptr_t(one->host)) - one->address);
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
        move(ex, op, mask, a, host + v->offset - v->address);
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

}  // namespace
}  // namespace machine::LEVEL_NS
