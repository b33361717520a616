// SPDX-License-Identifier: MIT
// Decoding of instructions that belong to no family: exits and traps, hints, questions about lanes
// and addresses.

#include "machine/decode/families.h"

namespace machine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool decode_unsupported(Decoding&, Decoding::In) {
    return false;
}

bool decode_return(Decoding& d, Decoding::In in) {
    d.emitter.emit(in, d.function.is_entry ? kExit : kReturn, nullptr);
    return true;
}

bool decode_exit(Decoding& d, Decoding::In in) {
    d.emitter.emit(in, kExit, nullptr);
    return true;
}

bool decode_trap(Decoding& d, Decoding::In in) {
    d.emitter.emit(in, kTrap, nullptr);
    return true;
}

bool decode_sleep(Decoding& d, Decoding::In in) {
    d.emitter.emit(in, kStraight, move_handlers().wait);
    return true;
}

// Hints about caches and debuggers, and griddepcontrol: no launch starts before the one that it
// depends on has ended.
bool decode_no_operation(Decoding& d, Decoding::In in) {
    d.emitter.emit(in, kStraight, move_handlers().no_operation);
    return true;
}

// createpolicy. Caches are not emulated, so any policy will do.
bool decode_policy(Decoding& d, Decoding::In in) {
    if (in.operands.empty() || in.operands[0].kind != Operand::Kind::kRegister ||
        d.operands.register_bytes(in.operands[0]) != 8)
        return false;
    const uint32_t none = d.rows.constant(Type::kU64, 0);
    Instr& out = d.emitter.emit(in, kStraight, move_handlers().copy(8));
    out.src[0] = none;
    out.dst = d.operands.register_row(in.operands[0]);
    return true;
}

bool decode_active_mask(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 1) return false;
    const uint32_t dst = d.operands.destination(in.operands[0], Type::kB32);
    if (dst == kNoRow) return false;
    d.emitter.emit(in, kStraight, move_handlers().active_mask).dst = dst;
    return true;
}

// isspacep
bool decode_space_test(Decoding& d, Decoding::In in) {
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

}  // namespace machine
