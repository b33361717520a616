// SPDX-License-Identifier: MIT
// Decoding and execution of alloca, stacksave and stackrestore.
#include <algorithm>

#include "machine/decode/families.h"
#include "machine/state/launch_state.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

void allocate_on_stack(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    Frame& frame = *ex.frame;
    const uint32_t base = frame.dynamic_base(), align = in.extra;
    const bool wide = in.src[1] == 8;
    for_lanes(ex.mask, [&](uint32_t lane) {
        const uint64_t size =
            wide ? ex.row<uint64_t>(in.src[0])[lane] : ex.row<uint32_t>(in.src[0])[lane];
        const uint64_t start = (uint64_t(base) + frame.dynamic[lane] + align - 1) / align * align;
        if (size > ex.local_stride() || start + size + 1024 > ex.local_stride()) {
            if (ex.abort) return;
            ex.fault(FaultKind::kStackOverflow,
                     1u << lane,
                     "alloca of " + std::to_string(size) + " bytes: the stack of " +
                         std::to_string(ex.local_stride()) + " bytes per thread is used up");
            ex.stop(LaunchStatus::kStackOverflow);
            return;
        }
        frame.dynamic[lane] = uint32_t(start + size) - base;
        frame.dynamic_bytes =
            std::max(frame.dynamic_bytes,
                     uint32_t(start + size) - (frame.local_base + frame.code->local_bytes));
        if (wide)
            ex.row<uint64_t>(in.dst)[lane] = start;
        else
            ex.row<uint32_t>(in.dst)[lane] = uint32_t(start);
    });
}

template <class T, bool restores>
void stack_mark(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    for_lanes(ex.mask, [&](uint32_t lane) {
        if (restores)
            ex.frame->dynamic[lane] = uint32_t(ex.row<T>(in.src[0])[lane]);
        else
            ex.row<T>(in.dst)[lane] = T(ex.frame->dynamic[lane]);
    });
}

}  // namespace

// PTX ISA "Stack Manipulation Instructions". alloca returns an address in local memory, after
// the variables of the running function.
bool decode_stack(Decoding& d, Decoding::In in) {
    const uint32_t bytes = ptx::byte_size(in.type());
    if (in.operands.empty() || (bytes != 4 && bytes != 8) || ptx::is_float(in.type())) return false;
    const bool restores = in.opcode == Opcode::k_stackrestore;
    uint32_t row = kNoRow;
    if (restores || in.opcode == Opcode::k_alloca) {
        const size_t k = restores ? 0 : 1;
        if (in.operands.size() <= k) return false;
        row = d.operands.source(in.operands[k], in.type());
        if (row == kNoRow || (in.operands[k].kind == Operand::Kind::kRegister &&
                              d.operands.register_bytes(in.operands[k]) != bytes))
            return false;
    }
    uint32_t dst = kNoRow;
    if (!restores) {
        if (in.operands[0].kind != Operand::Kind::kRegister ||
            d.operands.register_bytes(in.operands[0]) != bytes)
            return false;
        dst = d.operands.destination(in.operands[0], in.type());
        if (dst == kNoRow) return false;
    }
    if (in.opcode != Opcode::k_alloca) {
        Instr& out = d.emitter.emit(
            in,
            kStraight,
            restores ? (bytes == 8 ? stack_mark<uint64_t, true> : stack_mark<uint32_t, true>)
                     : (bytes == 8 ? stack_mark<uint64_t, false> : stack_mark<uint32_t, false>));
        if (restores)
            out.src[0] = row;
        else
            out.dst = dst;
        return true;
    }
    uint64_t align = 8;
    if (in.operands.size() > 2) {
        if (in.operands[2].kind != Operand::Kind::kImmediate) return false;
        align = in.operands[2].bits;
    }
    if (align == 0 || align > 4096 || (align & (align - 1))) return false;
    Instr& out = d.emitter.emit(in, kStraight, allocate_on_stack);
    out.src[0] = row;
    out.src[1] = bytes;
    out.dst = dst;
    out.extra = uint16_t(align);
    return true;
}

}  // namespace machine
