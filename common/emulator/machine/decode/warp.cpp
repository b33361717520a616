// SPDX-License-Identifier: MIT
// Decoding of the operations for which the lanes of a warp meet: PTX ISA "Parallel Synchronization
// and Communication Instructions" with .sync and a mask of members, and "Data Movement: shfl.sync".
#include "machine/decode/families.h"

namespace machine {

using ptx::Mod;
using ptx::Operand;
using ptx::Type;
using Kind = WarpOp::Kind;

namespace {

uint32_t source_row(Decoding& d, Decoding::In in, size_t operand, Type type) {
    return operand < in.operands.size() ? d.operands.source(in.operands[operand], type) : kNoRow;
}

// The result of 32 bits, with a predicate beside it in `d|p`.
bool place_result(Decoding& d, const Operand& operand, WarpOp& op) {
    if (operand.kind != Operand::Kind::kPair) {
        op.dst = d.operands.destination(operand, Type::kB32);
        return op.dst != kNoRow;
    }
    op.dst = d.operands.destination(operand.elements[0], Type::kB32);
    op.dst_predicate = d.operands.destination(operand.elements[1], Type::kPred);
    return op.dst != kNoRow && op.dst_predicate != kNoRow;
}

// `mask`: the operand that names the members.
bool finish(Decoding& d, Decoding::In in, WarpOp& op, size_t mask) {
    op.mask_row = source_row(d, in, mask, Type::kU32);
    if (op.mask_row == kNoRow) return false;
    d.emitter.emit_with(in, kWarpOp, nullptr, d.code.warp_ops, op);
    d.emitter.emit_reconvergence_after(in);
    return true;
}

}  // namespace

bool decode_warp_barrier(Decoding& d, Decoding::In in) {
    WarpOp op;
    op.kind = Kind::kBarrier;
    return finish(d, in, op, 0);
}

bool decode_shuffle(Decoding& d, Decoding::In in) {
    if (!in.has(Mod::k_sync) || in.operands.size() != 5) return false;
    WarpOp op;
    op.kind = in.has(Mod::k_up)     ? Kind::kShuffleUp
              : in.has(Mod::k_down) ? Kind::kShuffleDown
              : in.has(Mod::k_bfly) ? Kind::kShuffleXor
                                    : Kind::kShuffleIndex;
    const bool placed = place_result(d, in.operands[0], op);
    op.a = source_row(d, in, 1, Type::kB32);
    op.b = source_row(d, in, 2, Type::kU32);
    op.c = source_row(d, in, 3, Type::kU32);
    if (!placed || op.a == kNoRow || op.b == kNoRow || op.c == kNoRow) return false;
    return finish(d, in, op, 4);
}

bool decode_vote(Decoding& d, Decoding::In in) {
    if (!in.has(Mod::k_sync) || in.operands.size() != 3 ||
        in.operands[0].kind == Operand::Kind::kPair)
        return false;
    WarpOp op;
    op.kind = in.has(Mod::k_ballot) ? Kind::kBallot
              : in.has(Mod::k_all)  ? Kind::kAll
              : in.has(Mod::k_any)  ? Kind::kAny
                                    : Kind::kUniform;
    op.dst =
        d.operands.destination(in.operands[0], op.kind == Kind::kBallot ? Type::kB32 : Type::kPred);
    op.a = source_row(d, in, 1, Type::kPred);
    return op.a != kNoRow && op.dst != kNoRow && finish(d, in, op, 2);
}

bool decode_match(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 3) return false;
    WarpOp op;
    op.kind = in.has(Mod::k_all) ? Kind::kMatchAll : Kind::kMatchAny;
    op.width = uint8_t(ptx::byte_size(in.type()));
    const bool placed = place_result(d, in.operands[0], op);
    op.a = source_row(d, in, 1, in.type());
    return placed && op.a != kNoRow && finish(d, in, op, 2);
}

// redux
bool decode_reduction(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 3 || ptx::byte_size(in.type()) != 4 ||
        in.operands[0].kind == Operand::Kind::kPair)
        return false;
    WarpOp op;
    op.is_float = in.type() == Type::kF32;
    op.absolute = in.has(Mod::k_abs);
    op.keeps_nan = in.has(Mod::k_NaN);
    if (op.is_float != ptx::is_float(in.type()) ||
        (op.is_float && !in.has(Mod::k_min) && !in.has(Mod::k_max)) ||
        (!op.is_float && (op.absolute || op.keeps_nan)))
        return false;
    op.kind = in.has(Mod::k_add)   ? Kind::kReduceAdd
              : in.has(Mod::k_min) ? Kind::kReduceMin
              : in.has(Mod::k_max) ? Kind::kReduceMax
              : in.has(Mod::k_and) ? Kind::kReduceAnd
              : in.has(Mod::k_or)  ? Kind::kReduceOr
                                   : Kind::kReduceXor;
    op.is_signed = ptx::is_signed(in.type());
    op.dst = d.operands.destination(in.operands[0], Type::kB32);
    op.a = source_row(d, in, 1, in.type());
    return op.a != kNoRow && op.dst != kNoRow && finish(d, in, op, 2);
}

// elect
bool decode_election(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 2) return false;
    WarpOp op;
    op.kind = Kind::kElect;
    return place_result(d, in.operands[0], op) && finish(d, in, op, 1);
}

}  // namespace machine
