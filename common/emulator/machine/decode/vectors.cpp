// SPDX-License-Identifier: MIT
// Decoding of memory instructions whose elements do not fit into one access or one register:
// vectors of 32 bytes, vector atomics; and the stack of alloca.
#include <algorithm>

#include "machine/decode/families.h"
#include "machine/state/launch_state.h"
#include "machine/units/atomics.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// ld and st of 32 bytes (.v8.b32, .v4.b64): two accesses of 16, as no promise is made that all
// elements move at once. PTX ISA "Vectors": the whole must be aligned to 32 bytes; that is checked
// for its halves only.
bool decode_wide_access(Decoding& d, Decoding::In in) {
    const bool store = in.opcode == Opcode::k_st;
    if (in.operands.size() < 2 || ptx::byte_size(in.type()) * in.vector != 32 ||
        (in.space != ptx::Space::kGlobal && in.space != ptx::Space::kGeneric))
        return false;
    const size_t what = store ? 1 : 0, where = store ? 0 : 1;
    const Operand& vector = in.operands[what];
    if (vector.kind != Operand::Kind::kVector || vector.elements.size() != in.vector) return false;
    const size_t half = in.vector / 2u;
    ptx::Instruction parts[2] = {in, in};
    for (size_t k = 0; k < 2; ++k) {
        parts[k].vector = uint8_t(half);
        auto& elements = parts[k].operands[what].elements;
        elements.assign(vector.elements.begin() + ptrdiff_t(k * half),
                        vector.elements.begin() + ptrdiff_t((k + 1) * half));
        parts[k].operands[where].offset += int64_t(16 * k);
    }
    // The half that overwrites the address comes last.
    const Operand& base = in.operands[where].elements[0];
    const auto& low = parts[0].operands[what].elements;
    const bool reverse = !store && base.kind == Operand::Kind::kRegister &&
                         std::any_of(low.begin(), low.end(), [&](const Operand& e) {
                             return e.kind == Operand::Kind::kRegister && e.index == base.index;
                         });
    return decode_access(d, parts[reverse]) && decode_access(d, parts[!reverse]);
}

// The elements are packed into one number, which one atomic operation takes and gives back.
bool decode_vector_atomic(Decoding& d, Decoding::In in) {
    const bool reduction = in.opcode == Opcode::k_red;
    const size_t first = reduction ? 0 : 1;
    const Operand& values = in.operands[first + 1];
    MemoryOp op;
    op.kind = reduction ? AccessKind::kReduction : AccessKind::kAtomic;
    op.order = order_of(in) == MemoryOrder::kWeak ? MemoryOrder::kUnstated : order_of(in);
    op.scope = scope_of(in) == Scope::kNone ? Scope::kGpu : scope_of(in);
    op.element_bytes = uint8_t(ptx::byte_size(in.type()));
    const uint32_t bytes = op.element_bytes * uint32_t(in.vector);
    op.mover = vector_atomic_mover(in);
    if (!op.mover || (in.space != ptx::Space::kGlobal && in.space != ptx::Space::kGeneric) ||
        !d.operands.address(in, in.operands[first], op) || values.kind != Operand::Kind::kVector ||
        values.elements.size() != in.vector)
        return false;
    op.bytes = op.row_bytes = uint8_t(bytes);
    const auto registers = [&](const Operand& list, bool writes, MemoryOp& move) {
        move.vector = in.vector;
        move.element_bytes = op.element_bytes;
        move.row_bytes = op.element_bytes;
        move.bytes = uint8_t(bytes);
        move.dst = d.rows.reserve(bytes);
        for (size_t k = 0; k < list.elements.size(); ++k) {
            const Operand& each = list.elements[k];
            if (each.kind == Operand::Kind::kRegister &&
                (d.operands.is_predicate(each) ||
                 d.operands.register_bytes(each) != op.element_bytes))
                return false;
            const Type element = in.type() == Type::kF32 ? Type::kF32  // constants are floats
                                 : op.element_bytes == 2 ? Type::kB16
                                                         : Type::kB32;
            move.rows[k] =
                writes ? d.operands.destination(each, element) : d.operands.source(each, element);
            if (move.rows[k] == kNoRow) return false;
        }
        return true;
    };
    MemoryOp in_move, out_move;
    if (!registers(values, false, in_move)) return false;
    op.operands[0] = in_move.dst;
    if (!reduction) {
        const Operand& results = in.operands[0];
        if (results.kind != Operand::Kind::kVector || results.elements.size() != in.vector ||
            !registers(results, true, out_move))
            return false;
        op.dst = out_move.dst;
    }
    d.emitter.emit_access(in, move_handlers().pack, in_move);
    d.emitter.emit_access(in, access_handlers().address(op.space, op.kind), op);
    if (!reduction) d.emitter.emit_access(in, move_handlers().unpack, out_move);
    return true;
}

}  // namespace machine
