// SPDX-License-Identifier: MIT
// Decoding of branches, calls, barriers and warp-wide operations.
#include "machine/decode/families.h"
#include "machine/machine.h"
#include "machine/program/control_flow.h"
#include "machine/state/launch_state.h"
#include "machine/units/builtins.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool decode_branch(Decoding& d, Decoding::In in) {
    BranchOp op;
    op.reconvergence = d.reconvergence;
    if (in.opcode == Opcode::k_bra) {
        if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kLabel) return false;
        op.target = in.operands[0].index;
    } else {
        if (in.operands.size() != 2) return false;
        for (const auto& table : d.function.branch_targets)
            if (table.name == in.operands[1].name) op.table = table.targets;
        op.index_row = d.operands.source(in.operands[0], Type::kU32);
        if (op.table.empty() || op.index_row == kNoRow) return false;
    }
    d.emitter.emit_with(in,
                        in.opcode == Opcode::k_bra ? kBranch : kBranchTable,
                        nullptr,
                        d.code.branches,
                        std::move(op));
    return true;
}

bool decode_call(Decoding& d, Decoding::In in) {
    CallOp op;
    const Operand* target = nullptr;
    const Operand* results = nullptr;
    const Operand* arguments = nullptr;
    for (const Operand& operand : in.operands) {
        if (operand.kind == Operand::Kind::kList)
            (target ? arguments : results) = &operand;
        else if (!target)
            target = &operand;
    }
    if (!target) return false;
    if (target->kind == Operand::Kind::kRegister) {
        if (!d.operands.fits(*target, Type::kB64)) return false;
        op.pointer_row = d.operands.register_row(*target);
        d.code.calls_indirectly = true;
    } else {
        op.name = std::string(target->name);
        op.builtin = find_builtin(op.name);
        const bool launches = op.name.starts_with("__cudaCDP2");
        d.calls_device_runtime |= launches;
        if (!op.builtin && is_toolkit_function(op.name) &&
            (launches || !d.module.is_defined(op.name)))
            return false;
        if (!op.builtin) d.code.callees.push_back(op.name);
    }
    const auto slots = [&](const Operand* list, std::vector<CallOp::Slot>& out) {
        if (!list) return true;
        for (const Operand& operand : list->elements) {
            out.push_back(d.operands.slot(operand, 8));
            if (out.back().row == kNoRow && out.back().region.stride == 0) return false;
        }
        return true;
    };
    if (!slots(results, op.results) || !slots(arguments, op.arguments)) return false;
    d.emitter.emit_with(in, kCall, nullptr, d.code.calls, std::move(op));
    d.emitter.emit_reconvergence();  // of lanes that return at different times
    return true;
}

bool decode_barrier(Decoding& d, Decoding::In in) {
    BarrierOp op;
    op.aligned = in.opcode == Opcode::k_bar || in.has(Mod::k_aligned);
    size_t next = 0;
    const auto& operands = in.operands;
    if (in.has(Mod::k_cluster)) return false;
    if (in.has(Mod::k_red)) {
        if (operands.size() < 3) return false;
        op.kind = in.has(Mod::k_popc)  ? BarrierOp::Kind::kPopc
                  : in.has(Mod::k_and) ? BarrierOp::Kind::kAnd
                                       : BarrierOp::Kind::kOr;
        op.dst = d.operands.destination(
            operands[next++], op.kind == BarrierOp::Kind::kPopc ? Type::kU32 : Type::kPred);
        op.predicate_row = d.operands.source(operands.back(), Type::kPred);
        if (op.dst == kNoRow || op.predicate_row == kNoRow) return false;
    } else if (in.has(Mod::k_arrive)) {
        op.kind = BarrierOp::Kind::kArrive;
    } else if (!in.has(Mod::k_sync)) {
        return false;
    }
    const size_t end = operands.size() - (in.has(Mod::k_red) ? 1 : 0);
    if (next >= end) return false;
    op.id_row = d.operands.source(operands[next++], Type::kU32);
    if (op.id_row == kNoRow) return false;
    if (next < end) {
        op.count_row = d.operands.source(operands[next], Type::kU32);
        if (op.count_row == kNoRow) return false;
    }
    d.emitter.emit_with(in, kBarrier, nullptr, d.code.barriers, op);
    d.emitter.emit_reconvergence_after(in);
    return true;
}

bool decode_warp_operation(Decoding& d, Decoding::In in) {
    using Kind = WarpOp::Kind;
    WarpOp op;
    const auto& operands = in.operands;
    const auto row = [&](size_t i, Type type) {
        return i < operands.size() ? d.operands.source(operands[i], type) : kNoRow;
    };
    const auto result = [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::kPair) {
            op.dst = d.operands.destination(operand.elements[0], Type::kB32);
            op.dst_predicate = d.operands.destination(operand.elements[1], Type::kPred);
        } else {
            op.dst = d.operands.destination(operand, Type::kB32);
        }
    };
    switch (in.opcode) {
    case Opcode::k_bar:
    case Opcode::k_barrier:
        op.kind = Kind::kBarrier;
        op.mask_row = row(0, Type::kU32);
        break;
    case Opcode::k_shfl:
        if (!in.has(Mod::k_sync) || operands.size() != 5) return false;
        op.kind = in.has(Mod::k_up)     ? Kind::kShuffleUp
                  : in.has(Mod::k_down) ? Kind::kShuffleDown
                  : in.has(Mod::k_bfly) ? Kind::kShuffleXor
                                        : Kind::kShuffleIndex;
        result(operands[0]);
        op.a = row(1, Type::kB32);
        op.b = row(2, Type::kU32);
        op.c = row(3, Type::kU32);
        op.mask_row = row(4, Type::kU32);
        if (op.a == kNoRow || op.b == kNoRow || op.c == kNoRow || op.dst == kNoRow) return false;
        break;
    case Opcode::k_vote:
        if (!in.has(Mod::k_sync) || operands.size() != 3) return false;
        op.kind = in.has(Mod::k_ballot) ? Kind::kBallot
                  : in.has(Mod::k_all)  ? Kind::kAll
                  : in.has(Mod::k_any)  ? Kind::kAny
                                        : Kind::kUniform;
        op.dst = d.operands.destination(operands[0],
                                        op.kind == Kind::kBallot ? Type::kB32 : Type::kPred);
        op.a = row(1, Type::kPred);
        op.mask_row = row(2, Type::kU32);
        if (op.a == kNoRow || op.dst == kNoRow) return false;
        break;
    case Opcode::k_match:
        if (operands.size() != 3) return false;
        op.kind = in.has(Mod::k_all) ? Kind::kMatchAll : Kind::kMatchAny;
        op.width = uint8_t(ptx::byte_size(in.type()));
        result(operands[0]);
        op.a = row(1, in.type());
        op.mask_row = row(2, Type::kU32);
        if (op.a == kNoRow || op.dst == kNoRow) return false;
        break;
    case Opcode::k_redux:
        if (operands.size() != 3 || ptx::byte_size(in.type()) != 4) return false;
        op.is_float = in.type() == Type::kF32;
        op.absolute = in.has(Mod::k_abs);
        op.keeps_nan = in.has(Mod::k_NaN);
        if (op.is_float != ptx::is_float(in.type()) ||
            (op.is_float && !in.has(Mod::k_min) && !in.has(Mod::k_max)) ||
            (!op.is_float && (op.absolute || op.keeps_nan)))
            return false;
        op.kind = in.has(Mod::k_add)   ? Kind::kReduceAdd
                  : in.has(Mod::k_min) ? Kind::kReduceMin
                  : in.has(Mod::k_max) ? Kind::kReduceMax
                  : in.has(Mod::k_and) ? Kind::kReduceAnd
                  : in.has(Mod::k_or)  ? Kind::kReduceOr
                                       : Kind::kReduceXor;
        op.is_signed = ptx::is_signed(in.type());
        op.dst = d.operands.destination(operands[0], Type::kB32);
        op.a = row(1, in.type());
        op.mask_row = row(2, Type::kU32);
        if (op.a == kNoRow || op.dst == kNoRow) return false;
        break;
    case Opcode::k_elect:
        if (operands.size() != 2) return false;
        op.kind = Kind::kElect;
        result(operands[0]);
        op.mask_row = row(1, Type::kU32);
        if (op.dst == kNoRow) return false;
        break;
    default:
        return false;
    }
    if (op.mask_row == kNoRow) return false;
    if (operands[0].kind == Operand::Kind::kPair && op.dst_predicate == kNoRow) return false;
    d.emitter.emit_with(in, kWarpOp, nullptr, d.code.warp_ops, op);
    d.emitter.emit_reconvergence_after(in);
    return true;
}

}  // namespace machine
