// SPDX-License-Identifier: MIT
// Decoding of everything that touches memory: ld, st, atom, red, fences.
#include "machine/decoder.h"
#include "machine/streaks.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool Decoder::address(In in, const Operand& operand, MemoryOp& op) {
    if (operand.kind != Operand::Kind::kAddress || operand.elements.empty()) return false;
    const Operand& base = operand.elements[0];
    op.space = in.space == Space::kNone ? Space::kGeneric : in.space;
    op.offset = operand.offset;
    switch (base.kind) {
    case Operand::Kind::kRegister:
        op.base_row = register_rows_[base.index];
        op.object = objects_[base.index];
        op.base = register_bytes(base) == 8 ? MemoryOp::Base::kRow64 : MemoryOp::Base::kRow32;
        return !is_predicate(base) && register_bytes(base) >= 4;
    case Operand::Kind::kImmediate:
        op.base = MemoryOp::Base::kAbsolute;
        op.offset += int64_t(base.bits);
        return true;
    case Operand::Kind::kSymbol: {
        op.base = MemoryOp::Base::kAbsolute;
        if (op.space == Space::kParam &&
            (!function_.is_entry || base.target == Operand::Target::kVariable)) {
            if (base.target == Operand::Target::kVariable)
                op.region = variable_region(base);
            else if (base.target == Operand::Target::kParameter)
                op.region = code_->parameters[base.index];
            else if (base.target == Operand::Target::kResult)
                op.region = code_->results[base.index];
            else
                return false;
            op.offset += base.offset;
            return op.region.stride != 0;
        }
        const Space where = symbol_space(base);
        const bool global = where == Space::kGlobal && op.space == Space::kConst;
        if (op.space != Space::kGeneric && op.space != where && !global) return false;
        op.offset += int64_t(symbol(base));
        if (where == Space::kLocal) {
            op.base = MemoryOp::Base::kLocal;
            op.space = Space::kLocal;
        } else if (where == Space::kShared) {
            op.space = Space::kShared;
        } else if (op.space == Space::kGeneric) {
            op.space = where;
        }
        return true;
    }
    default:
        return false;
    }
}

bool Decoder::memory_access(In in) {
    if (in.operands.size() < 2) return false;
    const bool store = in.opcode == Opcode::k_st;
    const Operand& where = store ? in.operands[0] : in.operands[1];
    const Operand& what = store ? in.operands[1] : in.operands[0];
    const Type type = in.type();
    if (ptx::byte_size(type) * in.vector > 16) return wide_access(in);
    MemoryOp op;
    op.kind = store ? AccessKind::kStore : AccessKind::kLoad;
    op.order = order_of(in);
    op.scope = scope_of(in);
    op.element_bytes = uint8_t(ptx::byte_size(type));
    op.vector = in.vector;
    if (op.element_bytes == 0 || !address(in, where, op)) return false;
    op.bytes = uint8_t(op.element_bytes * op.vector);
    std::vector<Operand> single{what};
    const auto& elements = what.kind == Operand::Kind::kVector ? what.elements : single;
    if (elements.size() != op.vector || op.vector > 8) return false;
    // Registers decide how wide the rows are; constants and sinks among them follow.
    const uint32_t natural = std::max<uint32_t>(2, op.element_bytes);
    uint32_t width = 0;
    for (const Operand& element : elements) {
        if (element.kind != Operand::Kind::kRegister) continue;
        if (is_predicate(element) || (width && register_bytes(element) != width)) return false;
        width = register_bytes(element);
    }
    if (!width) width = natural;
    if (width == 16 && elements[0].kind != Operand::Kind::kRegister) return false;
    const Type wide = width == 16  ? Type::kB128
                      : width == 8 ? Type::kB64
                      : width == 4 ? Type::kB32
                                   : Type::kB16;
    op.row_bytes = uint8_t(width);
    for (size_t k = 0; k < elements.size(); ++k) {
        op.rows[k] = store ? source(elements[k], width == natural ? type : wide)
                           : destination(elements[k], wide);
        if (op.rows[k] == kNoRow) return false;
    }
    op.mover = store ? access_handlers().store(op.element_bytes, op.row_bytes)
                     : access_handlers().load(op.element_bytes, op.row_bytes, ptx::is_signed(type));
    if (!op.mover) return false;
    Handler handler = nullptr;
    if (op.space == Space::kParam && op.region.stride) {
        handler = access_handlers().function_parameter(op.kind);
    } else if (op.space == Space::kParam) {
        if (store) return false;
        handler = op.base == MemoryOp::Base::kAbsolute
                      ? access_handlers().kernel_parameter
                      : access_handlers().address(op.space, op.kind);
    } else {
        handler = access_handlers().address(op.space, op.kind);
    }
    if (!handler) return false;
    if (op.vector == 1 && op.element_bytes == op.row_bytes && (width == 4 || width == 8))
        op.plain_bytes = uint8_t(width);
    Instr& out = emit(in, kStraight, handler);
    if (op.order == MemoryOrder::kWeak)
        if (const Handler one_lane = one_lane_access(op.space)) out.one_lane = one_lane;
    code_->memory.push_back(op);
    out.op = &code_->memory.back();
    return true;
}

bool Decoder::atomic(In in) {
    const bool reduction = in.opcode == Opcode::k_red;
    const size_t first = reduction ? 0 : 1;
    if (in.operands.size() < first + 2) return false;
    if (in.vector != 1) return vector_atomic(in);
    MemoryOp op;
    op.kind = reduction ? AccessKind::kReduction : AccessKind::kAtomic;
    op.order = order_of(in);
    if (op.order == MemoryOrder::kWeak) op.order = MemoryOrder::kUnstated;
    op.scope = scope_of(in);
    if (op.scope == Scope::kNone) op.scope = Scope::kGpu;
    op.conditional = in.has(Mod::k_cas);
    const Type type = in.type();
    op.element_bytes = op.bytes = uint8_t(ptx::byte_size(type));
    op.row_bytes = uint8_t(std::max<uint32_t>(2, op.element_bytes));
    if (op.element_bytes == 0 || !address(in, in.operands[first], op)) return false;
    if (op.space != Space::kGlobal && op.space != Space::kShared && op.space != Space::kGeneric)
        return false;
    // A cache policy may stand behind the operands.
    for (size_t k = 0; k < (op.conditional ? 2 : 1) && first + 1 + k < in.operands.size(); ++k) {
        if (type == Type::kB128 && in.operands[first + 1 + k].kind != Operand::Kind::kRegister)
            return false;
        op.operands[k] = source(in.operands[first + 1 + k], type);
        if (op.operands[k] == kNoRow) return false;
    }
    if (op.conditional && op.operands[1] == kNoRow) return false;
    if (!reduction) {
        op.dst = destination(in.operands[0], type);
        if (op.dst == kNoRow) return false;
    }
    op.mover = atomic_mover(in);
    if (!op.mover) return false;
    Instr& out = emit(in, kStraight, access_handlers().address(op.space, op.kind));
    code_->memory.push_back(op);
    out.op = &code_->memory.back();
    return true;
}

bool Decoder::fence(In in) {
    // fence.proxy.* orders asynchronous proxies, which the machine does not have: nothing to do.
    if (in.has(Mod::k_proxy)) {
        emit(in, kStraight, move_handlers().no_operation);
        return true;
    }
    Scope scope = scope_of(in);
    if (scope == Scope::kNone) scope = Scope::kGpu;
    Instr& out = emit(in, kStraight, move_handlers().fence);
    out.extra = uint16_t(scope);
    return true;
}

bool Decoder::miscellaneous(In in) {
    switch (in.opcode) {
    case Opcode::k_ret:
        emit(in, function_.is_entry ? kExit : kReturn, nullptr);
        return true;
    case Opcode::k_exit:
        emit(in, kExit, nullptr);
        return true;
    case Opcode::k_trap:
        emit(in, kTrap, nullptr);
        return true;
    case Opcode::k_nanosleep:
        emit(in, kStraight, move_handlers().wait);
        return true;
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
    case Opcode::k_discard:
    case Opcode::k_applypriority:
    case Opcode::k_pmevent:
    case Opcode::k_brkpt:
    case Opcode::k_griddepcontrol:  // no launch starts before the one that it depends on has ended
        emit(in, kStraight, move_handlers().no_operation);
        return true;
    case Opcode::k_createpolicy: {  // caches are not emulated, so any policy will do
        if (in.operands.empty() || in.operands[0].kind != Operand::Kind::kRegister ||
            register_bytes(in.operands[0]) != 8)
            return false;
        const uint32_t none = constant(Type::kU64, 0);
        Instr& out = emit(in, kStraight, move_handlers().copy(8));
        out.src[0] = none;
        out.dst = register_rows_[in.operands[0].index];
        return true;
    }
    case Opcode::k_activemask: {
        if (in.operands.size() != 1) return false;
        const uint32_t dst = destination(in.operands[0], Type::kB32);
        if (dst == kNoRow) return false;
        emit(in, kStraight, move_handlers().active_mask).dst = dst;
        return true;
    }
    case Opcode::k_isspacep: {
        if (in.operands.size() != 2) return false;
        const bool narrow =
            in.operands[1].kind == Operand::Kind::kRegister && register_bytes(in.operands[1]) == 4;
        const uint32_t row = source(in.operands[1], narrow ? Type::kU32 : Type::kU64);
        const uint32_t dst = destination(in.operands[0], Type::kPred);
        if (row == kNoRow || dst == kNoRow) return false;
        Instr& out = emit(in, kStraight, move_handlers().space_test(narrow ? 4 : 8));
        out.src[0] = row;
        out.dst = dst;
        out.extra = in.space == Space::kShared  ? kSharedTag
                    : in.space == Space::kLocal ? kLocalTag
                    : in.space == Space::kParam ? kParamTag
                    : in.space == Space::kConst ? 0x8000
                                                : 0;
        return true;
    }
    default:
        return false;
    }
}

}  // namespace machine
