// SPDX-License-Identifier: MIT
#include "checks/race/lost_update.h"

#include <set>

#include "machine/program/liveness.h"
#include "machine/program/sites.h"

namespace checks {
namespace {

using ptx::Opcode;
using ptx::Operand;

// Registers that hold the loaded value, or one computed from it.
struct Value {
    std::set<uint32_t> same, changed;

    static bool among(const std::set<uint32_t>& set, const Operand& operand) {
        if (operand.kind == Operand::Kind::kRegister) return set.count(operand.index) > 0;
        for (const Operand& element : operand.elements)
            if (among(set, element)) return true;
        return false;
    }
    size_t size() const { return same.size() + changed.size(); }
};

// A condition, and a value that goes through memory or a call, is not followed.
bool ends_here(const ptx::Instruction& in) {
    switch (in.opcode) {
    case Opcode::k_setp:
    case Opcode::k_set:
    case Opcode::k_ld:
    case Opcode::k_st:
    case Opcode::k_atom:
    case Opcode::k_red:
    case Opcode::k_call:
        return true;
    default:
        return in.operands.size() < 2;
    }
}

bool keeps(const ptx::Instruction& in) {
    switch (in.opcode) {
    case Opcode::k_mov:
    case Opcode::k_cvt:
    case Opcode::k_selp:
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_min:
    case Opcode::k_max:
        return true;
    default:
        return false;
    }
}

void follow(const ptx::Instruction& in, Value& value) {
    if (ends_here(in)) return;
    bool same = false, changed = false;
    for (size_t i = 1; i < in.operands.size(); ++i) {
        same |= Value::among(value.same, in.operands[i]);
        changed |= Value::among(value.changed, in.operands[i]);
    }
    if (same && !keeps(in)) changed = true;
    machine::for_written(in, [&](uint32_t r) {
        if (changed) value.changed.insert(r);
        if (same && keeps(in)) value.same.insert(r);
    });
}

}  // namespace

bool is_lost_update(machine::SiteId load, machine::SiteId store) {
    const ptx::Function* const function = machine::function_of_site(load);
    if (!function || function != machine::function_of_site(store)) return false;
    const ptx::Instruction& to = function->body[machine::instruction_of_site(store)];
    if (to.opcode != Opcode::k_st || to.operands.size() < 2) return false;
    Value value;
    machine::for_written(function->body[machine::instruction_of_site(load)],
                         [&](uint32_t r) { value.same.insert(r); });
    for (size_t before = 0; before != value.size();) {
        before = value.size();
        for (const ptx::Instruction& in : function->body) follow(in, value);
    }
    return Value::among(value.changed, to.operands[1]);
}

}  // namespace checks
