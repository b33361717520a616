// SPDX-License-Identifier: MIT
#include "checks/race/optimistic_read.h"

#include <set>

#include "machine/program/liveness.h"
#include "machine/program/sites.h"

namespace checks {
namespace {

using ptx::Opcode;
using ptx::Operand;

// The copies of one value: in registers, and in the .param variables that calls take.
struct Copies {
    std::set<uint32_t> registers, arguments;

    bool holds(const Operand& operand) const {
        if (operand.kind == Operand::Kind::kRegister) return registers.count(operand.index) > 0;
        return operand.kind == Operand::Kind::kSymbol &&
               operand.target == Operand::Target::kVariable && arguments.count(operand.index) > 0;
    }
};

bool copies(const ptx::Instruction& in) {
    return in.opcode == Opcode::k_mov || in.opcode == Opcode::k_cvt;
}

void follow(const ptx::Instruction& in, Copies& known) {
    if (in.operands.size() < 2 || !known.holds(in.operands[1])) return;
    if (copies(in)) {
        machine::for_written(in, [&](uint32_t r) { known.registers.insert(r); });
    } else if (in.opcode == Opcode::k_st && in.space == ptx::Space::kParam &&
               !in.operands[0].elements.empty()) {
        known.arguments.insert(in.operands[0].elements[0].index);
    }
}

// Whether it compares memory with one of the copies. Unoptimised code calls a function for it.
bool compares_and_swaps(const ptx::Instruction& in, const Copies& known) {
    if (in.operands.size() < 3) return false;
    if (in.opcode == Opcode::k_atom) return in.has(ptx::Mod::k_cas) && known.holds(in.operands[2]);
    if (in.opcode != Opcode::k_call) return false;
    const auto& arguments = in.operands[2].elements;
    return in.operands[1].name.find("tomicCAS") != in.operands[1].name.npos &&
           arguments.size() == 3 && known.holds(arguments[1]);
}

}  // namespace

bool may_be_expected(machine::SiteId instruction) {
    const ptx::Function* const function = machine::function_of_site(instruction);
    if (!function) return true;
    Copies known;
    machine::for_written(function->body[machine::instruction_of_site(instruction)],
                         [&](uint32_t r) { known.registers.insert(r); });
    for (size_t before = 0; before != known.registers.size() + known.arguments.size();) {
        before = known.registers.size() + known.arguments.size();
        for (const ptx::Instruction& in : function->body) follow(in, known);
    }
    for (const ptx::Instruction& in : function->body)
        if (compares_and_swaps(in, known)) return true;
    return false;
}

}  // namespace checks
