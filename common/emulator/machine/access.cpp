// SPDX-License-Identifier: MIT
// The one door to memory: every load, store and atomic of a kernel computes its addresses, finds
// whose memory they are, tells the observers, and only then moves data, for valid lanes only.
#include <cstring>

#include "machine/arith_core.h"
#include "machine/executor.h"
#include "machine/lane_tables.h"

// Compiled once per processor level, as the arithmetic is: see arith_core.h.
namespace machine::ARITH_NS {

using ptx::Space;

namespace {

// What a load from nowhere gives: NaN as a float, and no plausible index or pointer.
constexpr unsigned char kPoison = 0xFF;

template <class T>
T load_as(const std::byte* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

template <class M, class R>
void move_load(Executor& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
               const uint64_t* address, uint64_t lane_stride, bool contiguous) {
    if (op.vector == 1) {
        R* d = ex.row<R>(op.rows[0]);
        if (contiguous) {
            const std::byte* p = reinterpret_cast<const std::byte*>(bias + address[0]);
            if constexpr (sizeof(M) == sizeof(R)) {
                std::memcpy(d, p, sizeof(M) * kWarpSize);
            } else {
                for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = R(load_as<M>(p + i * sizeof(M)));
            }
            return;
        }
        if (mask == kAllLanes) {
            for (uint32_t i = 0; i < kWarpSize; ++i)
                d[i] = R(load_as<M>(
                    reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride)));
            return;
        }
        for_lanes(mask, [&](uint32_t i) {
            d[i] = R(load_as<M>(
                reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride)));
        });
        return;
    }
    for (uint32_t e = 0; e < op.vector; ++e) {
        R* d = ex.row<R>(op.rows[e]);
        for_lanes(mask, [&](uint32_t i) {
            d[i] = R(
                load_as<M>(reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride) +
                           e * sizeof(M)));
        });
    }
}

template <class M, class R>
void move_store(Executor& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
                const uint64_t* address, uint64_t lane_stride, bool contiguous) {
    for (uint32_t e = 0; e < op.vector; ++e) {
        const R* s = ex.row<R>(op.rows[e]);
        if (contiguous && op.vector == 1) {
            std::byte* p = reinterpret_cast<std::byte*>(bias + address[0]);
            if constexpr (sizeof(M) == sizeof(R)) {
                std::memcpy(p, s, sizeof(M) * kWarpSize);
            } else {
                for (uint32_t i = 0; i < kWarpSize; ++i) {
                    const M value = M(s[i]);
                    std::memcpy(p + i * sizeof(M), &value, sizeof value);
                }
            }
            return;
        }
        for_lanes(mask, [&](uint32_t i) {
            const M value = M(s[i]);
            std::memcpy(reinterpret_cast<std::byte*>(bias + address[i] + i * lane_stride) +
                            e * sizeof(M),
                        &value,
                        sizeof value);
        });
    }
}

struct Wide {
    uint64_t low, high;
};

struct Addresses {
    alignas(64) uint64_t at[kWarpSize];
    uint64_t low = 0, high = 0;   // of the first bytes, over the active lanes
    uint64_t any = ~uint64_t(0);  // every bit that one of them has set, or more
    bool contiguous = false;
    bool complete = true;  // false: contiguous, and only at[0] has been written so far
    // The rest of the addresses, for those who look at them one by one.
    void finish(uint32_t bytes) {
        if (complete) return;
        complete = true;
        for (uint32_t i = 0; i < kWarpSize; ++i) at[i] = low + uint64_t(i) * bytes;
    }
};

template <class A>
[[gnu::always_inline]] inline void compute(Addresses& out, const A* base, int64_t offset,
                                           uint32_t mask, uint32_t bytes) {
    const uint64_t add = uint64_t(offset);
    const auto cut = [](uint64_t v) { return sizeof(A) == 4 ? v & 0xffffffffu : v; };
    if (mask == kAllLanes) {
        const uint64_t first = cut(uint64_t(base[0]) + add);
        A differs = 0;
        for (uint32_t i = 0; i < kWarpSize; ++i) differs |= base[i] ^ A(base[0] + A(i) * bytes);
        out.contiguous = differs == 0 && first <= cut(first + (kWarpSize - 1) * bytes);
        if (out.contiguous) {
            out.low = out.any = out.at[0] = first;
            out.high = first + (kWarpSize - 1) * bytes;
            out.complete = false;
            return;
        }
#pragma GCC ivdep
        for (uint32_t i = 0; i < kWarpSize; ++i) out.at[i] = cut(uint64_t(base[i]) + add);
        uint64_t low = first, high = first, any = first;
        for (uint32_t i = 1; i < kWarpSize; ++i) {
            any |= out.at[i];
            low = out.at[i] < low ? out.at[i] : low;
            high = out.at[i] > high ? out.at[i] : high;
        }
        out.low = low;
        out.high = high;
        out.any = any;
        return;
    }
    out.contiguous = false;
    out.any = 0;
    out.low = ~uint64_t(0);
    out.high = 0;
    for_lanes(mask, [&](uint32_t i) {
        const uint64_t a = cut(uint64_t(base[i]) + add);
        out.at[i] = a;
        out.any |= a;
        out.low = a < out.low ? a : out.low;
        out.high = a > out.high ? a : out.high;
    });
}

struct Place {
    Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;
    uint32_t bad = 0;
};

void poison(Executor& ex, const MemoryOp& op, uint32_t lanes) {
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

[[gnu::noinline]] void tell(Executor& ex, const MemoryOp& op, Space space, uint32_t mask,
                            Addresses& a, const Place& place, uint32_t misaligned,
                            const std::vector<Observer*>& list) {
    a.finish(op.bytes);
    AccessEvent event;
    event.warp = &ex.warp->info;
    event.site = Executor::blamed(ex.frame, *ex.current);
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
    event.contiguous = a.contiguous;
    event.bad_lanes = place.bad;
    event.misaligned_lanes = misaligned;
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
    }
    for (Observer* o : list) o->on_access(event);
    if (place.bad | misaligned)
        for (Observer* o : ex.observers.bad) o->on_access(event);
}

[[gnu::always_inline]] inline void notify(Executor& ex, const MemoryOp& op, Space space,
                                          uint32_t mask, Addresses& a, const Place& place,
                                          uint32_t misaligned) {
    Observers& all = ex.observers;
    const std::vector<Observer*>& list = space == Space::kShared  ? all.shared
                                         : space == Space::kLocal ? all.local
                                                                  : all.global;
    if (list.empty() && !((place.bad | misaligned) && !all.bad.empty())) return;
    tell(ex, op, space, mask, a, place, misaligned, list);
}

uint32_t misaligned_lanes(const Addresses& a, uint32_t mask, uint32_t bytes) {
    if (bytes == 1) return 0;
    if (a.contiguous) return a.low & (bytes - 1) ? mask : 0;
    if ((a.any & (bytes - 1)) == 0) return 0;
    uint32_t out = 0;
    for_lanes(mask, [&](uint32_t i) { out |= uint32_t((a.at[i] & (bytes - 1)) != 0) << i; });
    return out;
}

bool writable(const Allocation& a, AccessKind kind) {
    return kind == AccessKind::kLoad || a.kind != MemoryKind::kConst;
}

// An access that no page table would allow: hardware stops the kernel with error 700. Overruns that
// stay within the pages of their allocation go unnoticed there, so they do not stop it here either.
bool hardware_faults(const Allocation* a, uint64_t address) {
    constexpr uint64_t kPage = 2 << 20;
    if (!a) return true;
    return address + kPage < a->address || address > a->address + a->bytes + kPage;
}

// A store that other threads can see is progress; one to this thread's own memory is not.
void note_store(Executor& ex, const MemoryOp& op) {
    if (op.kind != AccessKind::kStore) return;
    ++ex.changes;
    ex.waits = 0;
}

void access_global(Executor& ex, const MemoryOp& op, Space space, uint32_t mask, Addresses& a) {
    note_store(ex, op);
    Place place;
    const uint64_t span = a.high - a.low + op.bytes;
    Allocation* one = op.cache;
    if (!(one && one->live && one->contains(a.low, span) && span >= op.bytes)) [[unlikely]] {
        one = ex.memory.find(a.low);
        if (one && !(one->live && one->contains(a.low, span) && span >= op.bytes &&
                     writable(*one, op.kind)))
            one = nullptr;
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
              writable(*found, op.kind))) {
            place.bad |= 1u << i;
            if (hardware_faults(found, a.at[i])) ex.fail(LaunchStatus::kIllegalAddress);
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

void access_shared(Executor& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    note_store(ex, op);
    Place place;
    const uint64_t host = uint64_t(uintptr_t(ex.block->shared.data()));
    const uint32_t misaligned = misaligned_lanes(a, mask, op.bytes);
    if (misaligned) ex.fail(LaunchStatus::kMisaligned);
    const SharedVariable* v = ex.windows[uint32_t(a.low) >> kSharedWindowBits];
    if (v && a.low >= v->address && a.high + op.bytes <= v->address + v->bytes) [[likely]] {
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

void access_local(Executor& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    Place place;
    a.finish(op.bytes);
    std::byte* memory = ex.local_memory();
    const uint32_t misaligned = misaligned_lanes(a, mask, op.bytes);
    if (misaligned) ex.fail(LaunchStatus::kMisaligned);
    const auto inside = [&](uint64_t low, uint64_t end) {
        for (const Frame* f = ex.frame; f; f = f->caller)
            if (low >= f->local_base && end <= f->local_base + f->code->local_bytes) return true;
        return false;
    };
    if (!memory) {
        place.bad = mask;
    } else if (!inside(a.low, a.high + op.bytes)) {
        for_lanes(mask, [&](uint32_t i) {
            place.bad |= uint32_t(!inside(a.at[i], a.at[i] + op.bytes)) << i;
        });
    }
    notify(ex, op, Space::kLocal, mask, a, place, misaligned);
    if (place.bad) poison(ex, op, place.bad);
    if (const uint32_t good = mask & ~place.bad)
        op.mover(ex, op, good, uint64_t(uintptr_t(memory)), a.at, ex.local_stride(), false);
}

void access_parameters(Executor& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
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

void access_nowhere(Executor& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    Place place;
    a.finish(op.bytes);
    place.bad = mask;
    notify(ex, op, Space::kNone, mask, a, place, 0);
    poison(ex, op, mask);
    ex.fail(LaunchStatus::kIllegalAddress);
}

void access_generic(Executor& ex, const MemoryOp& op, uint32_t mask, Addresses& a) {
    const uint64_t tag = a.low >> 56;
    if (tag == 0 && a.high >> 56 == 0) [[likely]]
        return access_global(ex, op, Space::kGlobal, mask, a);
    const auto one_space = [&](uint64_t which, uint32_t lanes, Addresses& at) {
        switch (which) {
        case kSharedTag:
        case kLocalTag:
            at.low &= 0xffffffffu;
            at.high &= 0xffffffffu;
            if (at.complete)
                for_lanes(lanes, [&](uint32_t i) { at.at[i] &= 0xffffffffu; });
            else
                at.at[0] = at.low;
            if (which == kSharedTag)
                access_shared(ex, op, lanes, at);
            else
                access_local(ex, op, lanes, at);
            return;
        case kParamTag:
            return access_parameters(ex, op, lanes, at);
        case 0:
            return access_global(ex, op, Space::kGlobal, lanes, at);
        default:
            return access_nowhere(ex, op, lanes, at);
        }
    };
    if (tag == a.high >> 56) return one_space(tag, mask, a);
    // Lanes in different spaces: one space after the other.
    a.finish(op.bytes);
    for (uint32_t rest = mask; rest;) {
        const uint64_t which = a.at[std::countr_zero(rest)] >> 56;
        Addresses part;
        part.contiguous = false;
        part.low = ~uint64_t(0);
        part.high = 0;
        uint32_t lanes = 0;
        for_lanes(rest, [&](uint32_t i) {
            if (a.at[i] >> 56 != which) return;
            lanes |= 1u << i;
            part.at[i] = a.at[i];
            part.low = std::min(part.low, a.at[i]);
            part.high = std::max(part.high, a.at[i]);
        });
        one_space(which, lanes, part);
        rest &= ~lanes;
    }
}

// Shared and local addresses have 32 bits; a wider register is truncated to them (PTX ISA
// "Addresses as Operands"), as when inline assembly forgets to convert a generic pointer.
void truncate(Addresses& a, uint32_t mask, uint32_t bytes) {
    if ((a.low | a.high) >> 32 == 0) return;
    a.finish(bytes);
    a.contiguous = a.contiguous && a.low >> 32 == a.high >> 32;
    a.low = ~uint64_t(0);
    a.high = 0;
    for_lanes(mask, [&](uint32_t i) {
        a.at[i] &= 0xffffffffu;
        a.low = std::min(a.low, a.at[i]);
        a.high = std::max(a.high, a.at[i]);
    });
}

bool polls(const MemoryOp& op) {
    return op.order != MemoryOrder::kWeak && op.kind == AccessKind::kLoad;
}

template <Space S>
void access(Lanes& lanes, const Instr& in) {
    Executor& ex = executor(lanes);
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
        for (uint32_t i = 0; i < kWarpSize; ++i) a.at[i] = at;
        a.low = a.high = a.any = at;
        a.contiguous = false;
        break;
    }
    }
    if (polls(op)) ++ex.waits;
    // Movers other than plain loads and stores, and vectors, look at every address.
    if (op.kind > AccessKind::kStore || op.vector != 1) a.finish(op.bytes);
    if constexpr (S == Space::kGlobal || S == Space::kConst) {
        access_global(ex, op, S, mask, a);
    } else if constexpr (S == Space::kShared) {
        truncate(a, mask, op.bytes);
        access_shared(ex, op, mask, a);
    } else if constexpr (S == Space::kLocal) {
        truncate(a, mask, op.bytes);
        access_local(ex, op, mask, a);
    } else if constexpr (S == Space::kParam) {
        access_parameters(ex, op, mask, a);
    } else {
        access_generic(ex, op, mask, a);
    }
}

// ld.param of a kernel: the same bytes for every lane.
void kernel_parameter(Lanes& lanes, const Instr& in) {
    Executor& ex = executor(lanes);
    ex.current = &in;
    const MemoryOp& op = in.as<MemoryOp>();
    Addresses a;
    const uint64_t at = uint64_t(op.offset);
    if (at + op.bytes > ex.arguments.size()) {
        for (uint64_t& x : a.at) x = at;
        a.low = a.high = at;
        a.contiguous = false;
        return access_nowhere(ex, op, ex.mask, a);
    }
    if (op.vector == 1 && op.element_bytes == op.row_bytes && ex.mask == kAllLanes) {
        if (op.row_bytes == 8) {
            const uint64_t value = load_as<uint64_t>(ex.arguments.data() + at);
            uint64_t* d = ex.row<uint64_t>(op.rows[0]);
            for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = value;
            return;
        }
        if (op.row_bytes == 4) {
            const uint32_t value = load_as<uint32_t>(ex.arguments.data() + at);
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
    Executor& ex = executor(lanes);
    ex.current = &in;
    const MemoryOp& op = in.as<MemoryOp>();
    Addresses a;
    if (op.offset < 0 || uint64_t(op.offset) + op.bytes > op.region.stride) {
        for (uint64_t& x : a.at) x = uint64_t(op.offset);
        a.low = a.high = uint64_t(op.offset);
        a.contiguous = false;
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

template <class M>
Mover load_into(unsigned row_bytes) {
    switch (row_bytes) {
    case 2:
        return sizeof(M) <= 2 ? move_load<M, uint16_t> : nullptr;
    case 4:
        return sizeof(M) <= 4 ? move_load<M, uint32_t> : nullptr;
    case 8:
        return move_load<M, uint64_t>;
    default:
        return nullptr;
    }
}

template <class M>
Mover store_from(unsigned row_bytes) {
    switch (row_bytes) {
    case 2:
        return sizeof(M) <= 2 ? move_store<M, uint16_t> : nullptr;
    case 4:
        return sizeof(M) <= 4 ? move_store<M, uint32_t> : nullptr;
    case 8:
        return move_store<M, uint64_t>;
    default:
        return nullptr;
    }
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

Mover load_mover(unsigned element_bytes, unsigned row_bytes, bool sign_extend) {
    switch (element_bytes) {
    case 1:
        return sign_extend ? load_into<int8_t>(row_bytes) : load_into<uint8_t>(row_bytes);
    case 2:
        return sign_extend ? load_into<int16_t>(row_bytes) : load_into<uint16_t>(row_bytes);
    case 4:
        return sign_extend ? load_into<int32_t>(row_bytes) : load_into<uint32_t>(row_bytes);
    case 8:
        return load_into<uint64_t>(row_bytes);
    case 16:
        return row_bytes == 16 ? move_load<Wide, Wide> : nullptr;
    default:
        return nullptr;
    }
}

Mover store_mover(unsigned element_bytes, unsigned row_bytes) {
    switch (element_bytes) {
    case 1:
        return store_from<uint8_t>(row_bytes);
    case 2:
        return store_from<uint16_t>(row_bytes);
    case 4:
        return store_from<uint32_t>(row_bytes);
    case 8:
        return store_from<uint64_t>(row_bytes);
    case 16:
        return row_bytes == 16 ? move_store<Wide, Wide> : nullptr;
    default:
        return nullptr;
    }
}

}  // namespace

AccessTable access_table() {
    return {address_handler, kernel_parameter, function_parameter_handler, load_mover, store_mover};
}

}  // namespace machine::ARITH_NS
