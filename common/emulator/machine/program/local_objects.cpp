// SPDX-License-Identifier: MIT
#include "machine/program/local_objects.h"

#include <algorithm>
#include <set>

namespace machine {
namespace {

using ptx::Opcode;
using ptx::Operand;

// The value of a register, joined over all instructions that write it.
struct Value {
    enum Kind : uint8_t {
        kNothing,  // not written yet
        kDepot,    // the depot's own address
        kObject,   // an address within the variable that begins at `offset`
        kOther,
    } kind = kNothing;
    uint32_t offset = 0;
    bool operator==(const Value&) const = default;
};

Value join(Value a, Value b) {
    if (a.kind == Value::kNothing || a == b) return b;
    return b.kind == Value::kNothing ? a : Value{Value::kOther, 0};
}

class Solver {
public:
    explicit Solver(const ptx::Function& function)
        : function_(function), values_(function.registers.size()) {}

    std::vector<LocalObject> run() {
        bool changed = true;
        // The lattice has three levels, so few rounds suffice; give up rather than loop.
        for (int round = 0; changed && round < 32; ++round) {
            changed = false;
            for (const ptx::Instruction& in : function_.body) changed |= step(in);
        }
        std::vector<LocalObject> out(values_.size());
        // A single variable is the whole depot, or is preceded by one that is reached without an
        // address.
        if (changed || starts_.empty() || (starts_.size() == 1 && *starts_.begin() != 0))
            return out;
        for (size_t i = 0; i < values_.size(); ++i) {
            if (values_[i].kind != Value::kObject) continue;
            const auto next = starts_.upper_bound(values_[i].offset);
            out[i] = {values_[i].offset, next == starts_.end() ? uint32_t(depot_bytes_) : *next};
        }
        return out;
    }

private:
    // The .local variable that an operand names, if it is one.
    const ptx::Variable* local_variable(const Operand& operand) const {
        if (operand.kind != Operand::Kind::kSymbol || operand.target != Operand::Target::kVariable)
            return nullptr;
        const ptx::Variable& variable = function_.variables[operand.index];
        return variable.space == ptx::Space::kLocal ? &variable : nullptr;
    }

    Value value(const Operand& operand) const {
        if (operand.kind == Operand::Kind::kRegister) return values_[operand.index];
        return {Value::kOther, 0};
    }

    // An address plus a number; null pointers and differences are neither of them.
    Value sum(const ptx::Instruction& in) {
        const Operand &a = in.operands[1], &b = in.operands[2];
        const Value left = value(a), right = value(b);
        if (left.kind == Value::kDepot && b.kind == Operand::Kind::kImmediate) {
            starts_.insert(uint32_t(b.bits));
            return {Value::kObject, uint32_t(b.bits)};
        }
        if (left.kind == Value::kNothing || right.kind == Value::kNothing) return {};
        const bool pointer_left = left.kind == Value::kObject;
        const bool pointer_right = right.kind == Value::kObject && in.opcode != Opcode::k_sub;
        if (pointer_left && !pointer_right && right.kind == Value::kOther) return left;
        if (pointer_right && left.kind == Value::kOther) return right;
        return {Value::kOther, 0};
    }

    bool step(const ptx::Instruction& in) {
        if (in.operands.empty()) return false;
        const Operand& to = in.operands[0];
        if (to.kind != Operand::Kind::kRegister) {
            // Results of loads of several elements, of shuffles with a predicate, of unpacking.
            bool changed = false;
            if (to.kind == Operand::Kind::kVector || to.kind == Operand::Kind::kPair)
                for (const Operand& element : to.elements)
                    if (element.kind == Operand::Kind::kRegister)
                        changed |= set(element.index, {Value::kOther, 0});
            return changed;
        }
        Value result{Value::kOther, 0};
        switch (in.opcode) {
        case Opcode::k_mov:
        case Opcode::k_cvta:
            if (in.operands.size() != 2) break;
            if (const ptx::Variable* depot = local_variable(in.operands[1])) {
                result = {Value::kDepot, 0};
                depot_bytes_ = std::max(depot_bytes_, depot->bytes);
            } else {
                result = value(in.operands[1]);
            }
            break;
        case Opcode::k_add:
        case Opcode::k_sub:
            if (in.operands.size() == 3) result = sum(in);
            break;
        case Opcode::k_selp:
            if (in.operands.size() == 4)
                result = join(value(in.operands[1]), value(in.operands[2]));
            break;
        // These read their first operand.
        case Opcode::k_bra:
        case Opcode::k_bar:
        case Opcode::k_barrier:
            return false;
        default:
            break;
        }
        return set(to.index, result);
    }

    bool set(uint32_t index, Value result) {
        const Value joined = join(values_[index], result);
        if (joined == values_[index]) return false;
        values_[index] = joined;
        return true;
    }

    const ptx::Function& function_;
    std::vector<Value> values_;
    std::set<uint32_t> starts_;  // of variables, in the depot
    uint64_t depot_bytes_ = 0;
};

}  // namespace

std::vector<LocalObject> local_objects(const ptx::Function& function) {
    size_t depots = 0;
    for (const ptx::Variable& variable : function.variables)
        depots += variable.space == ptx::Space::kLocal;
    // Several `.local` variables: not the output of this compiler, and each has an address of its
    // own.
    if (depots != 1) return std::vector<LocalObject>(function.registers.size());
    return Solver(function).run();
}

}  // namespace machine
