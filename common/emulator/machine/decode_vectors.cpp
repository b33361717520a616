// SPDX-License-Identifier: MIT
// Decoding of memory instructions whose elements do not fit into one access or one register:
// vectors of 32 bytes, vector atomics; and the stack of alloca.
#include <algorithm>

#include "machine/decoder.h"
#include "machine/executor.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

Scope scope_of(const ptx::Instruction& in) {
    if (in.has(Mod::k_cta)) return Scope::kCta;
    if (in.has(Mod::k_cluster)) return Scope::kCluster;
    if (in.has(Mod::k_gpu) || in.has(Mod::k_gl)) return Scope::kGpu;
    if (in.has(Mod::k_sys)) return Scope::kSys;
    return Scope::kNone;
}

MemoryOrder order_of(const ptx::Instruction& in) {
    if (in.has(Mod::k_volatile) || in.has(Mod::k_mmio)) return MemoryOrder::kVolatile;
    if (in.has(Mod::k_acq_rel)) return MemoryOrder::kAcqRel;
    if (in.has(Mod::k_acquire)) return MemoryOrder::kAcquire;
    if (in.has(Mod::k_release)) return MemoryOrder::kRelease;
    if (in.has(Mod::k_relaxed)) return MemoryOrder::kRelaxed;
    return MemoryOrder::kWeak;
}

// ld and st of 32 bytes (.v8.b32, .v4.b64): two accesses of 16, as no promise is made that all
// elements move at once. PTX ISA "Vectors": the whole must be aligned to 32 bytes; that is checked
// for its halves only.
bool Decoder::wide_access(In in) {
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
    return memory_access(parts[reverse]) && memory_access(parts[!reverse]);
}

// The elements are packed into one number, which one atomic operation takes and gives back.
bool Decoder::vector_atomic(In in) {
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
        !address(in, in.operands[first], op) || values.kind != Operand::Kind::kVector ||
        values.elements.size() != in.vector)
        return false;
    op.bytes = op.row_bytes = uint8_t(bytes);
    const auto registers = [&](const Operand& list, bool writes, MemoryOp& move) {
        move.vector = in.vector;
        move.element_bytes = op.element_bytes;
        move.row_bytes = op.element_bytes;
        move.bytes = uint8_t(bytes);
        move.dst = reserve(bytes);
        for (size_t k = 0; k < list.elements.size(); ++k) {
            const Operand& each = list.elements[k];
            if (each.kind == Operand::Kind::kRegister &&
                (is_predicate(each) || register_bytes(each) != op.element_bytes))
                return false;
            const Type element = in.type() == Type::kF32 ? Type::kF32  // constants are floats
                                 : op.element_bytes == 2 ? Type::kB16
                                                         : Type::kB32;
            move.rows[k] = writes ? destination(each, element) : source(each, element);
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
    const auto add = [&](Instr& out, const MemoryOp& each) {
        code_->memory.push_back(each);
        out.op = &code_->memory.back();
    };
    add(emit(in, kStraight, move_handlers().pack), in_move);
    add(emit(in, kStraight, access_handlers().address(op.space, op.kind)), op);
    if (!reduction) add(emit(in, kStraight, move_handlers().unpack), out_move);
    return true;
}

namespace {

void allocate_on_stack(Lanes& lanes, const Instr& in) {
    Executor& ex = executor(lanes);
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
    Executor& ex = executor(lanes);
    for_lanes(ex.mask, [&](uint32_t lane) {
        if (restores)
            ex.frame->dynamic[lane] = uint32_t(ex.row<T>(in.src[0])[lane]);
        else
            ex.row<T>(in.dst)[lane] = T(ex.frame->dynamic[lane]);
    });
}

}  // namespace

// PTX ISA "Stack Manipulation Instructions". What alloca gives is an address in local memory,
// behind the variables of the running function.
bool Decoder::stack(In in) {
    const uint32_t bytes = ptx::byte_size(in.type());
    if (in.operands.empty() || (bytes != 4 && bytes != 8) || ptx::is_float(in.type())) return false;
    const bool restores = in.opcode == Opcode::k_stackrestore;
    uint32_t row = kNoRow;
    if (restores || in.opcode == Opcode::k_alloca) {
        const size_t k = restores ? 0 : 1;
        if (in.operands.size() <= k) return false;
        row = source(in.operands[k], in.type());
        if (row == kNoRow || (in.operands[k].kind == Operand::Kind::kRegister &&
                              register_bytes(in.operands[k]) != bytes))
            return false;
    }
    uint32_t dst = kNoRow;
    if (!restores) {
        if (in.operands[0].kind != Operand::Kind::kRegister ||
            register_bytes(in.operands[0]) != bytes)
            return false;
        dst = destination(in.operands[0], in.type());
        if (dst == kNoRow) return false;
    }
    if (in.opcode != Opcode::k_alloca) {
        Instr& out = emit(
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
    Instr& out = emit(in, kStraight, allocate_on_stack);
    out.src[0] = row;
    out.src[1] = bytes;
    out.dst = dst;
    out.extra = uint16_t(align);
    return true;
}

}  // namespace machine
