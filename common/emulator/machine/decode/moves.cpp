// SPDX-License-Identifier: MIT
// Decoding of what only touches rows: arithmetic, mov and cvta.
#include <algorithm>
#include <array>
#include <optional>

#include "machine/decode/families.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool decode_rows(Decoding& d, Decoding::In in) {
    const auto selected = select_arithmetic(in, d.function);
    if (!selected) return false;
    size_t next = 0;
    uint32_t dst = kNoRow, dst2 = kNoRow;
    if (selected->has_dst) {
        if (in.operands.size() <= next) return false;
        const Operand& operand = in.operands[next++];
        if (operand.kind == Operand::Kind::kPair) {
            dst = d.operands.destination(operand.elements[0], selected->dst);
            dst2 = d.operands.destination(operand.elements[1], selected->dst);
            if (dst2 == kNoRow) return false;
        } else {
            dst = d.operands.destination(operand, selected->dst);
        }
    }
    std::array<uint32_t, 4> rows{};
    for (unsigned k = 0; k < selected->sources; ++k) {
        if (next >= in.operands.size()) return false;
        rows[k] = d.operands.source(in.operands[next++], selected->src[k]);
        if (rows[k] == kNoRow) return false;
    }
    if (selected->has_dst && dst == kNoRow) return false;
    Instr& out = d.emitter.emit_rows(in, selected->handler);
    if (selected->one_lane) out.one_lane = selected->one_lane;
    out.dst = dst;
    out.dst2 = dst2 == kNoRow && selected->has_dst2 ? d.rows.scratch(8) : dst2;
    out.src = rows;
    out.extra = selected->extra;
    // A selection copies bits: its type does not matter.
    out.in_double = in.opcode != ptx::Opcode::k_selp &&
                    std::find(in.types.begin(), in.types.end(), ptx::Type::kF64) != in.types.end();
    return true;
}

bool decode_arithmetic(Decoding& d, Decoding::In in) {
    return decode_rows(d, in) || decode_lane_operation(d, in);
}

namespace {

std::optional<uint32_t> offset_in_reserved(ptx::Special special) {
    switch (special) {
    case ptx::Special::k_reserved_smem_offset_begin:
    case ptx::Special::k_reserved_smem_offset_0:
    case ptx::Special::k_reserved_smem_offset_1:
        return 0;
    case ptx::Special::k_reserved_smem_offset_2:
        return kReservedSharedBytes / 2;
    case ptx::Special::k_reserved_smem_offset_cap:
    case ptx::Special::k_reserved_smem_offset_end:
        return kReservedSharedBytes;
    default:
        return std::nullopt;
    }
}

bool is_address(const Decoding& d, const Operand& operand) {
    return operand.kind == Operand::Kind::kRegister &&
           (d.operands.fits(operand, Type::kB32) || d.operands.fits(operand, Type::kB64));
}

// `to`: a register of 32 or 64 bits.
void move_constant(Decoding& d, Decoding::In in, const Operand& to, uint64_t value) {
    const uint32_t bytes = d.operands.register_bytes(to);
    const uint32_t row = d.rows.constant(bytes == 8 ? Type::kU64 : Type::kU32, value);
    Instr& out = d.emitter.emit_rows(in, move_handlers().copy(bytes));
    out.src[0] = row;
    out.dst = d.operands.register_row(to);
}

bool move_special(Decoding& d, Decoding::In in, const Operand& to, ptx::Special from) {
    if (from == ptx::Special::k_is_explicit_cluster) {
        if (to.kind != Operand::Kind::kRegister || !d.operands.is_predicate(to)) return false;
        Operand never;  // no launch here has clusters
        never.kind = Operand::Kind::kImmediate;
        ptx::Instruction plain = in;
        plain.operands[1] = never;
        return decode_rows(d, plain);
    }
    if (!is_address(d, to)) return false;
    if (const auto offset = offset_in_reserved(from)) {
        move_constant(d, in, to, d.operands.reserved_shared() + *offset);
        return true;
    }
    const Handler handler = move_handlers().special(from);
    if (!handler) return false;
    Instr& out = d.emitter.emit_rows(in, handler);
    out.dst = d.operands.register_row(to);
    out.extra = d.operands.register_bytes(to) == 8;
    return true;
}

// A register from the elements of a vector, or the reverse.
bool move_elements(Decoding& d, Decoding::In in, const Operand& to, const Operand& from) {
    const bool packing = from.kind == Operand::Kind::kVector;
    const auto& elements = packing ? from.elements : to.elements;
    MemoryOp op;
    op.vector = uint8_t(elements.size());
    const uint32_t total = ptx::byte_size(in.type());
    if (total == 0 || elements.empty() || elements.size() > 8 || total % elements.size())
        return false;
    op.element_bytes = uint8_t(total / elements.size());
    const Type element = op.element_bytes == 8   ? Type::kB64
                         : op.element_bytes == 4 ? Type::kB32
                         : op.element_bytes == 2 ? Type::kB16
                                                 : Type::kB8;
    op.row_bytes = uint8_t(std::max<uint32_t>(2, op.element_bytes));
    for (size_t k = 0; k < elements.size(); ++k) {
        op.rows[k] = packing ? d.operands.source(elements[k], element)
                             : d.operands.destination(elements[k], element);
        if (op.rows[k] == kNoRow) return false;
    }
    op.dst = packing ? d.operands.destination(to, in.type()) : d.operands.source(from, in.type());
    op.bytes = uint8_t(total);
    if (op.dst == kNoRow) return false;
    const MoveTable& moves = move_handlers();
    const bool words = op.vector == 2 && op.element_bytes == 4 && op.row_bytes == 4;
    const Handler pack = words ? moves.pack_words : moves.pack;
    Instr& out = d.emitter.emit_rows(in,
                                     packing ? pack
                                     : words ? moves.unpack_words
                                             : moves.unpack);
    d.code.memory.push_back(op);
    out.op = &d.code.memory.back();
    return true;
}

bool move_symbol(Decoding& d, Decoding::In in, const Operand& to, const Operand& from) {
    if (!is_address(d, to)) return false;
    if (from.target == Operand::Target::kVariable &&
        d.operands.symbol_space(from) == ptx::Space::kLocal) {
        const uint32_t bytes = d.operands.register_bytes(to);
        const uint32_t offset =
            d.rows.constant(bytes == 8 ? Type::kU64 : Type::kU32, d.operands.symbol(from));
        Instr& out = d.emitter.emit_rows(in, move_handlers().local_address(bytes));
        out.src[0] = offset;
        out.dst = d.operands.register_row(to);
        return true;
    }
    if (d.operands.symbol_space(from) == ptx::Space::kParam && !d.function.is_entry) return false;
    move_constant(d, in, to, d.operands.symbol(from));
    return true;
}

}  // namespace

bool decode_move(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 2) return false;
    const Operand& to = in.operands[0];
    const Operand& from = in.operands[1];
    if (from.kind == Operand::Kind::kSpecial) return move_special(d, in, to, from.special);
    if (from.kind == Operand::Kind::kVector || to.kind == Operand::Kind::kVector)
        return move_elements(d, in, to, from);
    if (from.kind == Operand::Kind::kSymbol && to.kind == Operand::Kind::kRegister)
        return move_symbol(d, in, to, from);
    return decode_rows(d, in);
}

bool decode_address_conversion(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 2 || in.operands[0].kind != Operand::Kind::kRegister) return false;
    const bool to_space = in.has(Mod::k_to);
    const ptx::Space space = in.space;
    const uint32_t bytes = d.operands.register_bytes(in.operands[0]);
    const Operand& from = in.operands[1];
    const bool local_symbol =
        from.kind == Operand::Kind::kSymbol && d.operands.symbol_space(from) == ptx::Space::kLocal;
    const uint32_t row = d.operands.source(from, in.type());
    if (row == kNoRow || !d.operands.fits(in.operands[0], in.type()) || (bytes != 4 && bytes != 8))
        return false;
    uint64_t tag = 0;
    if (space == ptx::Space::kShared)
        tag = kSharedTag;
    else if (space == ptx::Space::kLocal)
        tag = kLocalTag;
    else if (space == ptx::Space::kParam)
        tag = kParamTag;
    else if (space != ptx::Space::kGlobal && space != ptx::Space::kConst)
        return false;
    if (local_symbol) {
        Instr& base = d.emitter.emit_rows(in, move_handlers().local_address(bytes));
        base.src[0] = row;
        base.dst = d.operands.register_row(in.operands[0]);
    }
    Instr& out = d.emitter.emit_rows(in,
                                     tag == 0   ? move_handlers().copy(bytes)
                                     : to_space ? move_handlers().from_generic(bytes)
                                                : move_handlers().to_generic(bytes, tag));
    out.src[0] = local_symbol ? d.operands.register_row(in.operands[0]) : row;
    out.dst = d.operands.register_row(in.operands[0]);
    out.extra = uint16_t(tag);
    return true;
}

}  // namespace machine
