// SPDX-License-Identifier: MIT
// Decoding of branches, calls and barriers of blocks.
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
    if (in.operands.size() != 1 || in.operands[0].kind != Operand::Kind::kLabel) return false;
    BranchOp op;
    op.reconvergence = d.reconvergence;
    op.target = in.operands[0].index;
    d.emitter.emit_with(in, kBranch, nullptr, d.code.branches, std::move(op));
    return true;
}

bool decode_branch_table(Decoding& d, Decoding::In in) {
    if (in.operands.size() != 2) return false;
    BranchOp op;
    op.reconvergence = d.reconvergence;
    for (const auto& table : d.function.branch_targets)
        if (table.name == in.operands[1].name) op.table = table.targets;
    op.index_row = d.operands.source(in.operands[0], Type::kU32);
    if (op.table.empty() || op.index_row == kNoRow) return false;
    d.emitter.emit_with(in, kBranchTable, nullptr, d.code.branches, std::move(op));
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
    if (in.text.starts_with("bar.warp")) return decode_warp_barrier(d, in);
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

}  // namespace machine
