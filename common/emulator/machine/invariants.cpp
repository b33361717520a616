// SPDX-License-Identifier: MIT
// Instructions whose result is the same for every thread of a launch (parameters, sizes of grid and
// block, addresses of variables, arithmetic on these): executed once for each activation's rows and
// launch instead of once for each warp. Counters see them as before.
#include <algorithm>

#include "machine/decoder.h"
#include "machine/executor.h"

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

// Every register that an operand may stand for a result in.
template <class F>
void each_result(const Operand& operand, F&& f) {
    if (operand.kind == Operand::Kind::kRegister) f(operand.index);
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair ||
        operand.kind == Operand::Kind::kList)
        for (const Operand& element : operand.elements) each_result(element, f);
}

}  // namespace

// Results come first in PTX, so whatever writes a register has it in the first operand; where that
// is a source (st, red), the register is only counted once too often.
void Decoder::count_definitions() {
    definitions_.assign(function_.registers.size(), 0);
    invariant_.assign(function_.registers.size(), false);
    if (!function_.is_entry) return;
    for (const auto& in : function_.body) {
        if (in.operands.empty() || in.opcode == Opcode::k_st || in.opcode == Opcode::k_bra)
            continue;
        each_result(in.operands[0], [&](uint32_t r) { ++definitions_[r]; });
    }
}

bool Decoder::is_invariant(In in) const {
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
            if (symbol_space(source) == Space::kLocal || symbol_space(source) == Space::kParam)
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

void Decoder::note_invariant(In in, size_t first) {
    auto& instructions = code_->instructions;
    if (instructions.size() != first + 1 || instructions[first].control != kStraight) return;
    if (!is_invariant(in)) return;
    each_result(in.operands[0], [&](uint32_t r) { invariant_[r] = true; });
    fate_.resize(instructions.size(), Fate::kStays);
    fate_[first] = Fate::kHoisted;
}

// Takes the marked instructions, and those that were fused with another, out of the body. Each is
// counted with the next one of its basic block that stays; one without such a neighbour leaves an
// instruction that does nothing in its place. Before branches get their targets.
void Decoder::hoist_invariants() {
    auto& instructions = code_->instructions;
    const size_t count = instructions.size();
    fate_.resize(count, Fate::kStays);
    std::vector<bool> starts(count + 1, false);
    for (const BranchOp& branch : code_->branches) {
        starts[pc_of_[branch.target]] = true;
        for (const uint32_t t : branch.table) starts[pc_of_[t]] = true;
    }
    constexpr uint32_t kNobody = 0xffffffffu;
    std::vector<uint32_t> counted_with(count, kNobody);
    uint32_t anchor = kNobody;
    for (size_t i = count; i-- > 0;) {
        const uint8_t control = instructions[i].control;
        if (control == kReconverge) {
            anchor = kNobody;  // it is not counted, and ends a block
        } else if (fate_[i] == Fate::kStays) {
            // Hidden instructions count for nothing; the others have a place.
            if (instructions[i].site || control != kStraight) anchor = uint32_t(i);
        } else {
            counted_with[i] = anchor;
        }
        if (starts[i]) anchor = kNobody;
        if (i > 0 && instructions[i - 1].control > kReconverge) anchor = kNobody;
    }
    std::vector<uint32_t> moved(count + 1);
    std::vector<Instr> kept;
    for (size_t i = 0; i < count; ++i) {
        moved[i] = uint32_t(kept.size());
        if (fate_[i] == Fate::kHoisted) code_->invariants.push_back(instructions[i]);
        if (fate_[i] != Fate::kStays && counted_with[i] != kNobody) continue;
        kept.push_back(instructions[i]);
        if (fate_[i] != Fate::kStays)
            kept.back().handler = kept.back().one_lane = move_handlers().no_operation;
    }
    moved[count] = uint32_t(kept.size());
    for (size_t i = 0; i < count; ++i)
        if (counted_with[i] != kNobody)
            code_->counted_with.push_back(
                {moved[counted_with[i]], instructions[i].site, instructions[i].in_double});
    instructions = std::move(kept);
    for (uint32_t& pc : pc_of_) pc = moved[pc];
}

void Executor::execute_invariants(Frame& activation) {
    activation.prepared = info.serial;
    const Lanes before = *this;
    rows = activation.rows;
    mask = kAllLanes;
    for (const Instr& in : activation.code->invariants) in.handler(*this, in);
    static_cast<Lanes&>(*this) = before;
}

}  // namespace machine
