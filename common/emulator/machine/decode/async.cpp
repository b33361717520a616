// SPDX-License-Identifier: MIT
// Decoding of cp.async and mbarrier. What moves whole tiles (cp.async.bulk) is refused.
#include <cstring>

#include "machine/decode/families.h"
#include "machine/program/mbarrier.h"
#include "machine/state/launch_state.h"
#include "machine/units/async_copy.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

enum ArriveFlags : unsigned { kDrops = 1, kExpects = 2, kOnlyExpects = 4, kOnlyCompletes = 8 };

// One lane after the other, as with atom. Operand 0: a count of arrivals or of bytes.
template <unsigned flags>
void arrive(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
            const uint64_t* address, uint64_t, bool) {
    for_lanes(mask, [&](uint32_t i) {
        std::byte* const p = reinterpret_cast<std::byte*>(bias + address[i]);
        uint64_t old;
        std::memcpy(&old, p, 8);
        Mbarrier barrier = Mbarrier::of(old);
        const uint32_t count = op.operands[0] == kNoRow ? 1 : ex.row<uint32_t>(op.operands[0])[i];
        if constexpr ((flags & (kExpects | kOnlyExpects)) != 0) barrier.transactions += int(count);
        if constexpr ((flags & kOnlyCompletes) != 0) {
            barrier.transactions -= int(count);
            barrier.settle();
        } else if constexpr ((flags & kExpects) != 0) {
            barrier.arrive(1, flags & kDrops);
        } else if constexpr ((flags & kOnlyExpects) == 0) {
            barrier.arrive(count, flags & kDrops);
        }
        const uint64_t now = barrier.bits();
        std::memcpy(p, &now, 8);
        if (op.dst != kNoRow) ex.row<uint64_t>(op.dst)[i] = old;
    });
    ++ex.changes;
    ex.waits = 0;
}

// cp.async.mbarrier.arrive without .noinc: one pending arrival more, and that one arrives.
void leave_alone(LaunchState&, const MemoryOp&, uint32_t, uint64_t, const uint64_t*, uint64_t,
                 bool) {}

// Whether the phase of the token (or of the given parity) is over.
template <bool by_parity>
void test(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
          const uint64_t* address, uint64_t, bool contiguous) {
    uint32_t& d = ex.predicate(op.dst);
    for_lanes(mask, [&](uint32_t i) {
        const uint64_t at = contiguous ? address[0] + uint64_t(i) * 8 : address[i];
        uint64_t bits;
        std::memcpy(&bits, reinterpret_cast<const std::byte*>(bias + at), 8);
        const bool phase = by_parity ? (ex.row<uint32_t>(op.operands[0])[i] & 1) != 0
                                     : Mbarrier::of(ex.row<uint64_t>(op.operands[0])[i]).parity;
        const bool over = Mbarrier::of(bits).parity != phase;
        d = (d & ~(1u << i)) | uint32_t(over) << i;
    });
}

void encode_initial(Lanes& lanes, const Instr& in) {
    const uint32_t* const count = lanes.row<uint32_t>(in.src[0]);
    uint64_t* const d = lanes.row<uint64_t>(in.dst);
    for_lanes(lanes.mask, [&](uint32_t i) {
        d[i] = Mbarrier{count[i], count[i], 0, false}.bits();
    });
}

// cp.async.mbarrier.arrive: the copies of the lanes that execute it are done first.
void complete_and_arrive(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    complete_async_copies(ex, ex.mask);
    const MemoryOp& op = in.as<MemoryOp>();
    access_handlers().address(op.space, op.kind)(lanes, in);
}

}  // namespace

bool decode_async_copy(Decoding& d, Decoding::In in) {
    if (!in.has(Mod::k_async) || in.has(Mod::k_bulk) || in.has(Mod::k_reduce)) return false;
    if (in.has(Mod::k_commit_group)) {
        d.emitter.emit(in, kStraight, commit_async_copies);
        return true;
    }
    if (in.has(Mod::k_wait_all) || in.has(Mod::k_wait_group)) {
        uint64_t open = 0xffff;
        if (in.has(Mod::k_wait_group)) {
            if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kImmediate)
                return false;
            open = std::min<uint64_t>(in.operands[0].bits, 0xfffe);
        }
        d.emitter.emit(in, kStraight, wait_async_copies).extra = uint16_t(open);
        return true;
    }
    if (in.has(Mod::k_mbarrier)) {
        MemoryOp op;
        if (!in.has(Mod::k_arrive) || in.operands.size() != 1 ||
            !d.operands.address(in, in.operands[0], op) ||
            (op.space != Space::kShared && op.space != Space::kGeneric))
            return false;
        op.kind = AccessKind::kReduction;
        op.order = MemoryOrder::kRelease;
        op.scope = Scope::kCta;
        op.element_bytes = op.bytes = op.row_bytes = 8;
        op.mover = in.has(Mod::k_noinc) ? arrive<0> : leave_alone;
        d.emitter.emit_access(in, complete_and_arrive, op);
        return true;
    }
    const auto& operands = in.operands;
    if (operands.size() < 3 || operands[2].kind != Operand::Kind::kImmediate ||
        in.space != Space::kShared || in.space2 != Space::kGlobal)
        return false;
    AsyncCopyOp op;
    op.bytes = uint8_t(operands[2].bits);
    const bool all_caches = in.has(Mod::k_ca);
    if (!(operands[2].bits == 16 ||
          (all_caches && (operands[2].bits == 4 || operands[2].bits == 8))) ||
        all_caches == in.has(Mod::k_cg))
        return false;
    for (size_t k = 3; k < operands.size(); ++k) {
        const Operand& more = operands[k];
        if (d.operands.is_predicate(more)) {
            op.ignore_row = d.operands.source(more, Type::kPred);
        } else if (more.kind == Operand::Kind::kRegister && d.operands.register_bytes(more) == 8) {
            if (!in.has(Mod::k_L2_cache_hint)) return false;  // a policy, and no hint
        } else if (k == 3) {
            op.size_row = d.operands.source(more, Type::kU32);
            if (op.size_row == kNoRow) return false;
        } else {
            return false;
        }
    }
    ptx::Instruction from = in;
    from.space = Space::kGlobal;
    if (!d.operands.address(in, operands[0], op.destination) ||
        !d.operands.address(from, operands[1], op.source))
        return false;
    op.staging = d.rows.reserve(16);
    for (MemoryOp* each : {&op.source, &op.destination}) {
        each->element_bytes = std::min<uint8_t>(op.bytes, 4);
        each->bytes = op.bytes;
        each->row_bytes = 16;
        each->rows[0] = op.staging;
    }
    op.source.kind = AccessKind::kLoad;
    op.destination.kind = AccessKind::kStore;
    AsyncCopyOp& stored = d.emitter.side_table(std::move(op));
    d.rows.resolve_later(stored.size_row);
    d.rows.resolve_later(stored.source.base_row);
    d.rows.resolve_later(stored.destination.base_row);
    d.emitter.emit(in, kStraight, start_async_copy).op = &stored;
    return true;
}

bool decode_mbarrier(Decoding& d, Decoding::In in) {
    const auto& operands = in.operands;
    if (in.has(Mod::k_pending_count)) return decode_lane_operation(d, in);
    if (in.type() != Type::kB64 || operands.empty()) return false;
    MemoryOp op;
    op.element_bytes = op.bytes = op.row_bytes = 8;
    const auto place = [&](size_t k) {
        return k < operands.size() && d.operands.address(in, operands[k], op) &&
               (op.space == Space::kShared || op.space == Space::kGeneric);
    };
    const auto row_of = [&](size_t k, uint32_t bytes) {
        if (k >= operands.size()) return kNoRow;
        if (operands[k].kind == Operand::Kind::kRegister &&
            d.operands.register_bytes(operands[k]) != bytes)
            return kNoRow;
        return d.operands.source(operands[k], bytes == 8 ? Type::kB64 : Type::kU32);
    };
    const auto finish = [&](Mover mover) {
        op.mover = mover;
        d.emitter.emit_access(in, access_handlers().address(op.space, op.kind), op);
        return true;
    };
    if (in.has(Mod::k_init) || in.has(Mod::k_inval)) {
        // Ordinary stores: other threads must not use the object before they know of it.
        op.kind = AccessKind::kStore;
        if (!place(0)) return false;
        if (in.has(Mod::k_inval)) {
            op.rows[0] = d.rows.constant(Type::kU64, ~uint64_t(0));
            return finish(access_handlers().store(8, 8));
        }
        const uint32_t count = row_of(1, 4);
        if (count == kNoRow) return false;
        op.rows[0] = d.rows.reserve(8);
        Instr& hidden = d.emitter.emit_hidden(encode_initial);
        hidden.src[0] = count;
        hidden.dst = op.rows[0];
        return finish(access_handlers().store(8, 8));
    }
    op.order = order_of(in);
    op.scope = scope_of(in) == Scope::kNone ? Scope::kCta : scope_of(in);
    if (in.has(Mod::k_test_wait) || in.has(Mod::k_try_wait)) {
        op.kind = AccessKind::kLoad;
        if (op.order == MemoryOrder::kWeak) op.order = MemoryOrder::kAcquire;
        const bool parity = in.has(Mod::k_parity);
        op.operands[0] = row_of(2, parity ? 4 : 8);
        if (operands.size() < 3 || operands.size() > 4 || !place(1) || op.operands[0] == kNoRow ||
            !d.operands.is_predicate(operands[0]))
            return false;
        op.dst = d.operands.destination(operands[0], Type::kPred);
        return finish(parity ? test<true> : test<false>);
    }
    const bool only_bytes = !in.has(Mod::k_arrive) && !in.has(Mod::k_arrive_drop);
    const bool drops = in.has(Mod::k_arrive_drop), expects = in.has(Mod::k_expect_tx);
    const size_t first = only_bytes ? 0 : 1;
    op.kind = only_bytes ? AccessKind::kReduction : AccessKind::kAtomic;
    if (op.order == MemoryOrder::kWeak)
        op.order = only_bytes ? MemoryOrder::kRelaxed : MemoryOrder::kRelease;
    if (!place(first) || operands.size() > first + 2) return false;
    if (operands.size() == first + 2) {
        op.operands[0] = row_of(first + 1, 4);
        if (op.operands[0] == kNoRow) return false;
    } else if (only_bytes || expects || in.has(Mod::k_noComplete)) {
        return false;
    }
    if (only_bytes) {
        if (expects == in.has(Mod::k_complete_tx)) return false;
        return finish(expects ? arrive<kOnlyExpects> : arrive<kOnlyCompletes>);
    }
    if (operands[0].kind != Operand::Kind::kSink) {
        if (operands[0].kind != Operand::Kind::kRegister || d.operands.is_predicate(operands[0]) ||
            d.operands.register_bytes(operands[0]) != 8)
            return false;
        op.dst = d.operands.destination(operands[0], Type::kB64);
    }
    return finish(drops     ? (expects ? arrive<kDrops | kExpects> : arrive<kDrops>)
                  : expects ? arrive<kExpects>
                            : arrive<0>);
}

}  // namespace machine
