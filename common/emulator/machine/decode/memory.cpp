// SPDX-License-Identifier: MIT
// Decoding of everything that touches memory: ld, st, atom, red, fences.
#include "machine/decode/families.h"
#include "machine/execute/access_runs.h"
#include "machine/units/atomics.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
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

bool decode_access(Decoding& d, Decoding::In in) {
    if (in.operands.size() < 2) return false;
    const bool store = in.opcode == Opcode::k_st;
    const Operand& where = store ? in.operands[0] : in.operands[1];
    const Operand& what = store ? in.operands[1] : in.operands[0];
    const Type type = in.type();
    if (ptx::byte_size(type) * in.vector > 16) return decode_wide_access(d, in);
    MemoryOp op;
    op.kind = store ? AccessKind::kStore : AccessKind::kLoad;
    op.order = order_of(in);
    op.scope = scope_of(in);
    op.element_bytes = uint8_t(ptx::byte_size(type));
    op.vector = in.vector;
    if (op.element_bytes == 0 || !d.operands.address(in, where, op)) return false;
    op.bytes = uint8_t(op.element_bytes * op.vector);
    std::vector<Operand> single{what};
    const auto& elements = what.kind == Operand::Kind::kVector ? what.elements : single;
    if (elements.size() != op.vector || op.vector > 8) return false;
    // Registers decide how wide the rows are; constants and sinks among them follow.
    const uint32_t natural = std::max<uint32_t>(2, op.element_bytes);
    uint32_t width = 0;
    for (const Operand& element : elements) {
        if (element.kind != Operand::Kind::kRegister) continue;
        if (d.operands.is_predicate(element) ||
            (width && d.operands.register_bytes(element) != width))
            return false;
        width = d.operands.register_bytes(element);
    }
    if (!width) width = natural;
    if (width == 16 && elements[0].kind != Operand::Kind::kRegister) return false;
    const Type wide = width == 16  ? Type::kB128
                      : width == 8 ? Type::kB64
                      : width == 4 ? Type::kB32
                                   : Type::kB16;
    op.row_bytes = uint8_t(width);
    for (size_t k = 0; k < elements.size(); ++k) {
        op.rows[k] = store ? d.operands.source(elements[k], width == natural ? type : wide)
                           : d.operands.destination(elements[k], wide);
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
    Instr& out = d.emitter.emit_access(in, handler, op);
    if (op.order == MemoryOrder::kWeak)
        if (const Handler one_lane = one_lane_access(op.space)) out.one_lane = one_lane;
    return true;
}

bool decode_atomic(Decoding& d, Decoding::In in) {
    const bool reduction = in.opcode == Opcode::k_red;
    const size_t first = reduction ? 0 : 1;
    if (in.operands.size() < first + 2) return false;
    if (in.vector != 1) return decode_vector_atomic(d, in);
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
    if (op.element_bytes == 0 || !d.operands.address(in, in.operands[first], op)) return false;
    if (op.space != Space::kGlobal && op.space != Space::kShared && op.space != Space::kGeneric)
        return false;
    // A cache policy may follow the operands.
    for (size_t k = 0; k < (op.conditional ? 2 : 1) && first + 1 + k < in.operands.size(); ++k) {
        if (type == Type::kB128 && in.operands[first + 1 + k].kind != Operand::Kind::kRegister)
            return false;
        op.operands[k] = d.operands.source(in.operands[first + 1 + k], type);
        if (op.operands[k] == kNoRow) return false;
    }
    if (op.conditional && op.operands[1] == kNoRow) return false;
    if (!reduction) {
        op.dst = d.operands.destination(in.operands[0], type);
        if (op.dst == kNoRow) return false;
    }
    op.mover = atomic_mover(in);
    if (!op.mover) return false;
    d.emitter.emit_access(in, access_handlers().address(op.space, op.kind), op);
    return true;
}

bool decode_fence(Decoding& d, Decoding::In in) {
    // fence.proxy.* orders asynchronous proxies, which the machine does not have: nothing to do.
    if (in.has(Mod::k_proxy)) {
        d.emitter.emit(in, kStraight, move_handlers().no_operation);
        return true;
    }
    Scope scope = scope_of(in);
    if (scope == Scope::kNone) scope = Scope::kGpu;
    Instr& out = d.emitter.emit(in, kStraight, move_handlers().fence);
    out.extra = uint16_t(scope);
    return true;
}

}  // namespace machine
