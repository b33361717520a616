// SPDX-License-Identifier: MIT
// Decoding of branches, calls, barriers and warp-wide operations.
#include "machine/control_flow.h"
#include "machine/decoder.h"
#include "machine/executor.h"
#include "machine/machine.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool Decoder::branch(In in) {
    BranchOp op;
    op.meeting = meeting_[index_];
    if (in.opcode == Opcode::k_bra) {
        if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kLabel) return false;
        op.target = in.operands[0].index;
    } else {
        if (in.operands.size() != 2) return false;
        for (const auto& table : function_.branch_targets)
            if (table.name == in.operands[1].name) op.table = table.targets;
        op.index_row = source(in.operands[0], Type::kU32);
        if (op.table.empty() || op.index_row == kNoRow) return false;
    }
    Instr& out = emit(in, in.opcode == Opcode::k_bra ? kBranch : kBranchTable, nullptr);
    code_->branches.push_back(std::move(op));
    out.op = &code_->branches.back();
    return true;
}

CallOp::Slot Decoder::slot(const Operand& operand, uint32_t bytes) {
    CallOp::Slot out;
    if (operand.kind == Operand::Kind::kSymbol && operand.target == Operand::Target::kVariable) {
        out.region = variable_region(operand);
    } else if (operand.kind == Operand::Kind::kRegister) {
        out.row = register_rows_[operand.index];
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

bool Decoder::call(In in) {
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
        if (!fits(*target, Type::kB64)) return false;
        op.pointer_row = register_rows_[target->index];
        code_->calls_indirectly = true;
    } else {
        op.name = std::string(target->name);
        op.builtin = find_builtin(op.name);
        const bool launches = op.name.starts_with("__cudaCDP2");
        calls_device_runtime_ |= launches;
        if (!op.builtin && is_toolkit_function(op.name) &&
            (launches || !module_.is_defined(op.name)))
            return false;
        if (!op.builtin) code_->callees.push_back(op.name);
    }
    const auto slots = [&](const Operand* list, std::vector<CallOp::Slot>& out) {
        if (!list) return true;
        for (const Operand& operand : list->elements) {
            out.push_back(slot(operand, 8));
            if (out.back().row == kNoRow && out.back().region.stride == 0) return false;
        }
        return true;
    };
    if (!slots(results, op.results) || !slots(arguments, op.arguments)) return false;
    Instr& out = emit(in, kCall, nullptr);
    code_->calls.push_back(std::move(op));
    out.op = &code_->calls.back();
    Instr join;  // lanes that return apart meet again behind the call
    join.control = kReconverge;
    code_->instructions.push_back(join);
    return true;
}

bool Decoder::barrier(In in) {
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
        op.dst = destination(operands[next++],
                             op.kind == BarrierOp::Kind::kPopc ? Type::kU32 : Type::kPred);
        op.predicate_row = source(operands.back(), Type::kPred);
        if (op.dst == kNoRow || op.predicate_row == kNoRow) return false;
    } else if (in.has(Mod::k_arrive)) {
        op.kind = BarrierOp::Kind::kArrive;
    } else if (!in.has(Mod::k_sync)) {
        return false;
    }
    const size_t end = operands.size() - (in.has(Mod::k_red) ? 1 : 0);
    if (next >= end) return false;
    op.id_row = source(operands[next++], Type::kU32);
    if (op.id_row == kNoRow) return false;
    if (next < end) {
        op.count_row = source(operands[next], Type::kU32);
        if (op.count_row == kNoRow) return false;
    }
    Instr& out = emit(in, kBarrier, nullptr);
    code_->barriers.push_back(op);
    out.op = &code_->barriers.back();
    emit_meeting(in);
    return true;
}

bool Decoder::warp_operation(In in) {
    using Kind = WarpOp::Kind;
    WarpOp op;
    const auto& operands = in.operands;
    const auto row = [&](size_t i, Type type) {
        return i < operands.size() ? source(operands[i], type) : kNoRow;
    };
    const auto result = [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::kPair) {
            op.dst = destination(operand.elements[0], Type::kB32);
            op.dst_predicate = destination(operand.elements[1], Type::kPred);
        } else {
            op.dst = destination(operand, Type::kB32);
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
        op.dst = destination(operands[0], op.kind == Kind::kBallot ? Type::kB32 : Type::kPred);
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
        op.dst = destination(operands[0], Type::kB32);
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
    Instr& out = emit(in, kWarpOp, nullptr);
    code_->warp_ops.push_back(op);
    out.op = &code_->warp_ops.back();
    emit_meeting(in);
    return true;
}

}  // namespace machine
