// SPDX-License-Identifier: MIT
#include "machine/decode/operands.h"

#include <algorithm>
#include <bit>

#include "machine/lanes/levels.h"

namespace machine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

Operands::Operands(ModuleImage& module, const ptx::Function& function, Code& code, RowLayout& rows,
                   Emitter& emitter)
    : module_(module), function_(function), code_(code), rows_(rows), emitter_(emitter),
      objects_(local_objects(function)) {}

bool Operands::is_predicate(Op operand) const {
    return operand.kind == Operand::Kind::kRegister && rows_.is_predicate(operand.index);
}

bool Operands::fits(const Operand& operand, Type type) const {
    return operand.kind == Operand::Kind::kRegister &&
           is_predicate(operand) == (type == Type::kPred) &&
           register_bytes(operand) == RowLayout::width_of(type);
}

uint32_t Operands::immediate(const Operand& operand, Type type) {
    uint64_t bits = operand.bits;
    if (operand.literal == Operand::Literal::kFloat32) {
        if (type == Type::kF64)
            bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(bits))));
    } else if (operand.literal == Operand::Literal::kFloat64) {
        if (type == Type::kF32) bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
    } else if (type == Type::kF32) {
        bits = std::bit_cast<uint32_t>(float(int64_t(bits)));
    } else if (type == Type::kF64) {
        bits = std::bit_cast<uint64_t>(double(int64_t(bits)));
    }
    return rows_.constant(type, bits);
}

uint32_t Operands::source(const Operand& operand, Type type) {
    switch (operand.kind) {
    case Operand::Kind::kRegister: {
        if (!fits(operand, type)) return kNoRow;
        const uint32_t row = register_row(operand);
        if (!operand.negated) return row;
        if (type != Type::kPred) return kNoRow;  // only video instructions take negatives
        const uint32_t flipped = rows_.reserve_predicate();
        Instr& hidden = emitter_.emit_hidden(move_handlers().complement_predicate);
        hidden.src[0] = row;
        hidden.dst = flipped;
        return flipped;
    }
    case Operand::Kind::kImmediate:
        return immediate(operand, type);
    case Operand::Kind::kSymbol:
        return rows_.constant(type, symbol(operand));
    default:
        return kNoRow;
    }
}

uint32_t Operands::destination(const Operand& operand, Type type) {
    if (operand.kind == Operand::Kind::kRegister)
        return fits(operand, type) ? register_row(operand) : kNoRow;
    if (operand.kind == Operand::Kind::kSink)
        return rows_.scratch(std::max(RowLayout::width_of(type), 8u));
    return kNoRow;
}

ptx::Space Operands::symbol_space(const Operand& operand) const {
    switch (operand.target) {
    case Operand::Target::kVariable:
        return function_.variables[operand.index].space;
    case Operand::Target::kParameter:
    case Operand::Target::kResult:
        return ptx::Space::kParam;
    default:
        return module_.module_shared(operand.name) ? ptx::Space::kShared : ptx::Space::kGlobal;
    }
}

uint64_t Operands::symbol(const Operand& operand) {
    const auto use_shared = [&](const ptx::Variable& variable, std::string_view owner) {
        const uint32_t index = module_.shared_index(variable, owner);
        code_.shared.push_back(index);
        return module_.shared[index].address + uint64_t(operand.offset);
    };
    if (operand.target == Operand::Target::kVariable) {
        const ptx::Variable& variable = function_.variables[operand.index];
        if (variable.space == ptx::Space::kShared) return use_shared(variable, function_.name);
        if (variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst)
            return module_.function_variable(function_.name, operand.index, variable) +
                   uint64_t(operand.offset);
        return rows_.local_offset(operand.index) + uint64_t(operand.offset);
    }
    if (operand.target == Operand::Target::kParameter)
        return function_.parameters[operand.index].offset + uint64_t(operand.offset);
    if (const ptx::Variable* variable = module_.module_shared(operand.name))
        return use_shared(*variable, {});
    return module_.symbol_address(operand.name) + uint64_t(operand.offset);
}

uint64_t Operands::reserved_shared() {
    ptx::Variable variable;
    variable.name = "reserved_shared_memory";
    variable.space = ptx::Space::kShared;
    variable.bytes = kReservedSharedBytes;
    variable.align = 16;
    const uint32_t index = module_.shared_index(variable, "the toolkit");
    code_.shared.push_back(index);
    module_.shared[index].reserved = true;
    return module_.shared[index].address;
}

bool Operands::address(const ptx::Instruction& in, const Operand& operand, MemoryOp& op) {
    if (operand.kind != Operand::Kind::kAddress || operand.elements.empty()) return false;
    const Operand& base = operand.elements[0];
    op.space = in.space == Space::kNone ? Space::kGeneric : in.space;
    op.offset = operand.offset;
    switch (base.kind) {
    case Operand::Kind::kRegister:
        op.base_row = register_row(base);
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
                op.region = rows_.parameter_region(base.index);
            else if (base.target == Operand::Target::kParameter)
                op.region = code_.parameters[base.index];
            else if (base.target == Operand::Target::kResult)
                op.region = code_.results[base.index];
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

CallOp::Slot Operands::slot(const Operand& operand, uint32_t bytes) {
    CallOp::Slot out;
    if (operand.kind == Operand::Kind::kSymbol && operand.target == Operand::Target::kVariable) {
        out.region = rows_.parameter_region(operand.index);
    } else if (operand.kind == Operand::Kind::kRegister) {
        out.row = register_row(operand);
        out.row_bytes = register_bytes(operand);
    } else if (operand.kind == Operand::Kind::kImmediate) {
        out.row_bytes = std::max(2u, bytes);
        out.row = immediate(operand,
                            bytes == 8   ? Type::kB64
                            : bytes == 4 ? Type::kB32
                                         : Type::kB16);
    }
    return out;
}

bool is_partial(const ptx::Function& function, const Operand& operand) {
    const bool predicate = operand.kind == Operand::Kind::kRegister &&
                           function.registers[operand.index].type == Type::kPred;
    return !operand.selector.empty() || (operand.negated && !predicate);
}

bool has_partial_elements(const ptx::Function& function, const Operand& operand) {
    return std::any_of(
        operand.elements.begin(), operand.elements.end(), [&](const Operand& element) {
            return is_partial(function, element) || has_partial_elements(function, element);
        });
}

}  // namespace machine
