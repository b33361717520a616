// SPDX-License-Identifier: MIT
// Decoding of instructions that belong to no family: exits and traps, hints, questions about lanes
// and addresses.

#include "machine/decode/families.h"

namespace machine {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool decode_miscellaneous(Decoding& d, Decoding::In in) {
    switch (in.opcode) {
    case Opcode::k_ret:
        d.emitter.emit(in, d.function.is_entry ? kExit : kReturn, nullptr);
        return true;
    case Opcode::k_exit:
        d.emitter.emit(in, kExit, nullptr);
        return true;
    case Opcode::k_trap:
        d.emitter.emit(in, kTrap, nullptr);
        return true;
    case Opcode::k_nanosleep:
        d.emitter.emit(in, kStraight, move_handlers().wait);
        return true;
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
    case Opcode::k_discard:
    case Opcode::k_applypriority:
    case Opcode::k_pmevent:
    case Opcode::k_brkpt:
    case Opcode::k_griddepcontrol:  // no launch starts before the one that it depends on has ended
        d.emitter.emit(in, kStraight, move_handlers().no_operation);
        return true;
    case Opcode::k_createpolicy: {  // caches are not emulated, so any policy will do
        if (in.operands.empty() || in.operands[0].kind != Operand::Kind::kRegister ||
            d.operands.register_bytes(in.operands[0]) != 8)
            return false;
        const uint32_t none = d.rows.constant(Type::kU64, 0);
        Instr& out = d.emitter.emit(in, kStraight, move_handlers().copy(8));
        out.src[0] = none;
        out.dst = d.operands.register_row(in.operands[0]);
        return true;
    }
    case Opcode::k_activemask: {
        if (in.operands.size() != 1) return false;
        const uint32_t dst = d.operands.destination(in.operands[0], Type::kB32);
        if (dst == kNoRow) return false;
        d.emitter.emit(in, kStraight, move_handlers().active_mask).dst = dst;
        return true;
    }
    case Opcode::k_isspacep: {
        if (in.operands.size() != 2) return false;
        const bool narrow = in.operands[1].kind == Operand::Kind::kRegister &&
                            d.operands.register_bytes(in.operands[1]) == 4;
        const uint32_t row = d.operands.source(in.operands[1], narrow ? Type::kU32 : Type::kU64);
        const uint32_t dst = d.operands.destination(in.operands[0], Type::kPred);
        if (row == kNoRow || dst == kNoRow) return false;
        Instr& out = d.emitter.emit(in, kStraight, move_handlers().space_test(narrow ? 4 : 8));
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
