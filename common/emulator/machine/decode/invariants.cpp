// SPDX-License-Identifier: MIT
#include "machine/decode/invariants.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Special;

namespace {

// The same in all threads of a launch, or fixed by the lane alone.
bool launch_constant(Special special) {
    switch (special) {
    case Special::k_ntid_x:
    case Special::k_ntid_y:
    case Special::k_ntid_z:
    case Special::k_nctaid_x:
    case Special::k_nctaid_y:
    case Special::k_nctaid_z:
    case Special::k_laneid:
    case Special::k_lanemask_eq:
    case Special::k_lanemask_lt:
    case Special::k_lanemask_le:
    case Special::k_lanemask_gt:
    case Special::k_lanemask_ge:
        return true;
    default:
        return false;
    }
}

// Calls f with every register that the operand names, if it is a result.
template <class F>
void each_result(const Operand& operand, F&& f) {
    if (operand.kind == Operand::Kind::kRegister) f(operand.index);
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair ||
        operand.kind == Operand::Kind::kList)
        for (const Operand& element : operand.elements) each_result(element, f);
}

}  // namespace

// Results come first in PTX, so an instruction that writes a register has it in the first operand;
// where that is a source (st, red), the register is only counted once too often.
LaunchInvariants::LaunchInvariants(const ptx::Function& function, SpaceOf space_of)
    : function_(function), space_of_(std::move(space_of)),
      definitions_(function.registers.size(), 0), invariant_(function.registers.size(), false) {
    if (!function.is_entry) return;
    for (const auto& in : function.body) {
        if (in.operands.empty() || in.opcode == Opcode::k_st || in.opcode == Opcode::k_bra)
            continue;
        each_result(in.operands[0], [&](uint32_t r) { ++definitions_[r]; });
    }
}

bool LaunchInvariants::note(const ptx::Instruction& in) {
    if (!is_invariant(in)) return false;
    each_result(in.operands[0], [&](uint32_t r) { invariant_[r] = true; });
    return true;
}

bool LaunchInvariants::is_invariant(const ptx::Instruction& in) const {
    if (!function_.is_entry || in.guarded || in.operands.size() < 2) return false;
    bool single = in.operands[0].kind == Operand::Kind::kRegister ||
                  in.operands[0].kind == Operand::Kind::kVector;
    each_result(in.operands[0], [&](uint32_t r) { single &= definitions_[r] == 1; });
    if (!single) return false;
    switch (in.opcode) {
    case Opcode::k_ld: {
        const Operand& address = in.operands[1];
        if (in.space != Space::kParam || address.elements.empty()) return false;
        const Operand& base = address.elements[0];
        if (base.kind != Operand::Kind::kSymbol || base.target != Operand::Target::kParameter)
            return false;
        const auto& parameter = function_.parameters[base.index];
        const int64_t first = base.offset + address.offset;
        const int64_t bytes = int64_t(ptx::byte_size(in.type())) * in.vector;
        return first >= 0 && first + bytes <= int64_t(parameter.bytes);
    }
    case Opcode::k_cvta:
        // A generic address of shared or local memory says of which block or thread.
        if ((in.space == Space::kShared || in.space == Space::kLocal) && !in.has(Mod::k_to))
            return false;
        break;
    case Opcode::k_mov:
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul:
    case Opcode::k_mad:
    case Opcode::k_fma:
    case Opcode::k_neg:
    case Opcode::k_min:
    case Opcode::k_max:
    case Opcode::k_shl:
    case Opcode::k_shr:
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_cvt:
        break;
    default:
        return false;
    }
    if (in.has(Mod::k_cc)) return false;  // has the carry as a second result
    for (size_t k = 1; k < in.operands.size(); ++k) {
        const Operand& source = in.operands[k];
        switch (source.kind) {
        case Operand::Kind::kImmediate:
            break;
        case Operand::Kind::kRegister:
            if (!invariant_[source.index] || source.negated) return false;
            break;
        case Operand::Kind::kSpecial:
            if (!launch_constant(source.special)) return false;
            break;
        case Operand::Kind::kSymbol:
            if (space_of_(source) == Space::kLocal || space_of_(source) == Space::kParam)
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

}  // namespace machine
