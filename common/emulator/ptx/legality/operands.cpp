// SPDX-License-Identifier: MIT
// Checks registers and constants against the types of an instruction: PTX ISA "Operand Type
// Checking" and "Operand Size Exceeding Instruction-Type Size", and the literals that ptxas accepts
// for each type.
#include "ptx/legality/legality.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

enum class Class : uint8_t { kBits, kInteger, kFloat, kPredicate };

Class class_of(Type type) {
    switch (type) {
    case Type::kPred:
        return Class::kPredicate;
    case Type::kF16:
    case Type::kBf16:
    case Type::kF32:
    case Type::kF64:
        return Class::kFloat;
    default:
        // ptxas treats two halves in one register as bits.
        return type >= Type::kU8 && type <= Type::kS64 ? Class::kInteger : Class::kBits;
    }
}

// `may_exceed`: ld, st and cvt accept a wider register and use its low part.
bool fits(Type held, Type wanted, bool may_exceed) {
    const Class a = class_of(held), b = class_of(wanted);
    if ((a == Class::kPredicate) != (b == Class::kPredicate)) return false;
    if (a == Class::kPredicate) return true;
    const unsigned has = byte_size(held), needs = byte_size(wanted);
    const bool same = a == b || a == Class::kBits || b == Class::kBits;
    if (has == needs) return same;
    return may_exceed && has > needs && same && !(a == Class::kFloat && b == Class::kFloat);
}

bool takes_literal(const Operand& operand, Type wanted) {
    using Literal = Operand::Literal;
    switch (class_of(wanted)) {
    case Class::kInteger:
    case Class::kPredicate:
        return operand.literal == Literal::kInteger;
    case Class::kFloat:
        return operand.literal != Literal::kInteger && byte_size(wanted) != 2;
    case Class::kBits:
        if (operand.literal == Literal::kFloat32) return byte_size(wanted) == 4;
        if (operand.literal == Literal::kFloat64) return byte_size(wanted) == 8;
        return true;
    }
    return true;
}

class Checker {
public:
    Checker(const Instruction& in, const Function& function) : in_(in), function_(function) {}

    std::optional<Complaint> found;

    void strict(size_t operand, Type wanted) { check(operand, wanted, false); }
    void wide(size_t operand, Type wanted) { check(operand, wanted, true); }
    const Function& function() const { return function_; }

private:
    void check(size_t index, Type wanted, bool may_exceed) {
        if (index >= in_.operands.size() || wanted == Type::kNone || wanted == Type::kTf32) return;
        const Operand& operand = in_.operands[index];
        if (operand.kind == Operand::Kind::kVector) {
            for (const Operand& element : operand.elements) one(element, wanted, may_exceed);
        } else if (operand.kind == Operand::Kind::kPair) {
            one(operand.elements[0], wanted, may_exceed);
        } else {
            one(operand, wanted, may_exceed);
        }
    }

    void one(const Operand& operand, Type wanted, bool may_exceed) {
        if (found || !operand.selector.empty()) return;
        const std::string needs =
            "`" + std::string(in_.text) + "` expects a ." + std::string(spelling(wanted)) + " here";
        if (operand.kind == Operand::Kind::kRegister) {
            const Type held = function_.registers[operand.index].type;
            if (fits(held, wanted, may_exceed)) return;
            found =
                Complaint{std::string(operand.name),
                          needs + ", but the register is declared ." + std::string(spelling(held))};
        } else if (operand.kind == Operand::Kind::kImmediate && operand.name.empty() &&
                   !takes_literal(operand, wanted)) {
            const bool integer = operand.literal == Operand::Literal::kInteger;
            found = Complaint{
                "", needs + ", but the constant is " + (integer ? "an integer" : "a float")};
        } else if (operand.kind == Operand::Kind::kSymbol && !may_exceed &&
                   in_.opcode != Opcode::k_mov) {
            found = Complaint{std::string(operand.name),
                              needs + " in a register: expected mov to put the address into one"};
        }
    }

    const Instruction& in_;
    const Function& function_;
};

// mov between one register and several that are its parts: PTX ISA "Data Movement: mov", second
// form.
std::optional<Complaint> complaint_about_parts(const Instruction& in, const Function& function) {
    const bool packs = in.operands[1].kind == Operand::Kind::kVector;
    const Operand& parts = in.operands[packs ? 1 : 0];
    if (in.operands[packs ? 0 : 1].kind == Operand::Kind::kVector ||
        in.operands[packs ? 0 : 1].kind == Operand::Kind::kSpecial)
        return std::nullopt;
    if (class_of(in.type()) != Class::kBits)
        return Complaint{std::string(in.text),
                         "several registers form a .b16, .b32, .b64 or .b128"};
    unsigned bytes = 0;
    for (const Operand& part : parts.elements)
        if (part.kind == Operand::Kind::kRegister)
            bytes = byte_size(function.registers[part.index].type);
    if (bytes == 0 || bytes * parts.elements.size() == byte_size(in.type())) return std::nullopt;
    return Complaint{std::string(in.text),
                     std::to_string(parts.elements.size()) + " registers of " +
                         std::to_string(bytes * 8) + " bits do not form a ." +
                         std::string(spelling(in.type()))};
}

// The width of a special register; those that used to have 16 bits also accept .u16.
std::optional<Complaint> complaint_about_source(const Instruction& in) {
    const Operand& from = in.operands[1];
    const Class wanted = class_of(in.type());
    const bool symbol = from.kind == Operand::Kind::kSymbol;
    if (!symbol && from.kind != Operand::Kind::kSpecial) return std::nullopt;
    if (wanted == Class::kFloat)
        return Complaint{std::string(from.name),
                         std::string(symbol ? "an address" : "a special register") +
                             " is not a float: expected an integer type"};
    if (symbol || byte_size(in.type()) != 2) return std::nullopt;
    for (const std::string_view once : {"%tid", "%ntid", "%ctaid", "%nctaid", "%gridid"})
        if (from.name.starts_with(once)) return std::nullopt;
    return Complaint{std::string(from.name), "this special register has 32 bits"};
}

bool reaches_global(const Instruction& in) {
    return memory_operand(in.opcode) == MemoryOperand::k_address &&
           (in.space == Space::kGlobal || in.space == Space::kGeneric);
}

// Errors in any instruction: a negated result, an address in a register of another type, and
// operands of instructions that have none.
std::optional<Complaint> complaint_about_kinds(const Instruction& in, const Function& function) {
    if (in.operands.empty()) return std::nullopt;
    const Operand& first = in.operands[0];
    const bool pair = first.kind == Operand::Kind::kPair;
    if (first.negated || (pair && (first.elements[0].negated || first.elements[1].negated)))
        return Complaint{std::string(first.name), "a result cannot be negated"};
    if (in.opcode == Opcode::k_exit || in.opcode == Opcode::k_ret || in.opcode == Opcode::k_trap ||
        in.opcode == Opcode::k_brkpt)
        return Complaint{std::string(in.text), "expected ';': this instruction has no operands"};
    for (const Operand& operand : in.operands) {
        if (operand.kind != Operand::Kind::kAddress || operand.elements.empty()) continue;
        const Operand& base = operand.elements[0];
        if (base.kind != Operand::Kind::kRegister) continue;
        const Class held = class_of(function.registers[base.index].type);
        if (held == Class::kFloat || held == Class::kPredicate)
            return Complaint{std::string(base.name), "expected an integer register in an address"};
        if (reaches_global(in) && byte_size(function.registers[base.index].type) < 8)
            return Complaint{std::string(base.name),
                             "a 32-bit register cannot hold a global address: this is "
                             "32-bit PTX, and the device has 64-bit addresses; compile with -m64"};
    }
    return std::nullopt;
}

// The column `operands` of instructions.def.

void check_none_operands(Checker&, const Instruction&) {}

// All have the type of the instruction.
void check_uniform_operands(Checker& check, const Instruction& in) {
    for (size_t i = 0; i < 4; ++i) check.strict(i, in.type());
}

// Likewise, except with .wide and in instructions of two types.
void check_one_type_operands(Checker& check, const Instruction& in) {
    if (in.types.size() == 1 && !in.has(Mod::k_wide)) check_uniform_operands(check, in);
}

void check_test_operands(Checker& check, const Instruction& in) {
    check.strict(1, in.type());
}

void check_selection_operands(Checker& check, const Instruction& in) {
    for (size_t i = 0; i < 3; ++i) check.strict(i, in.type());
    check.strict(3, Type::kPred);
}

void check_sign_selection_operands(Checker& check, const Instruction& in) {
    for (size_t i = 0; i < 3; ++i) check.strict(i, in.type());
    check.strict(3, in.type(1));
}

void check_predicate_operands(Checker& check, const Instruction& in) {
    check.strict(0, Type::kPred);
    check.strict(1, in.type());
    check.strict(2, in.type());
    check.strict(3, Type::kPred);
}

void check_comparison_operands(Checker& check, const Instruction& in) {
    check.strict(0, in.type());
    check.strict(1, in.type(1));
    check.strict(2, in.type(1));
    check.strict(3, Type::kPred);
}

void check_shift_operands(Checker& check, const Instruction& in) {
    check.strict(0, in.type());
    check.strict(1, in.type());
    check.strict(2, Type::kU32);
}

void check_count_operands(Checker& check, const Instruction& in) {
    check.strict(0, Type::kU32);
    check.strict(1, in.type());
}

void check_move_operands(Checker& check, const Instruction& in) {
    if (in.vector != 1 || in.operands.size() != 2) return;
    if (in.operands[0].kind == Operand::Kind::kVector ||
        in.operands[1].kind == Operand::Kind::kVector) {
        check.found = complaint_about_parts(in, check.function());
        return;
    }
    check_uniform_operands(check, in);
    if (!check.found) check.found = complaint_about_source(in);
}

void check_load_operands(Checker& check, const Instruction& in) {
    check.wide(0, in.type());
}

void check_store_operands(Checker& check, const Instruction& in) {
    check.wide(1, in.type());
}

void check_conversion_operands(Checker& check, const Instruction& in) {
    if (in.types.size() != 2 || in.operands.size() != 2) return;
    check.wide(0, in.type());
    check.wide(1, in.type(1));
}

void check_atomic_operands(Checker& check, const Instruction& in) {
    if (in.vector != 1) return;
    check.strict(0, in.type());
    check.strict(2, in.type());
    if (in.has(Mod::k_cas)) check.strict(3, in.type());
}

void check_reduction_operands(Checker& check, const Instruction& in) {
    if (in.vector == 1) check.strict(1, in.type());
}

}  // namespace

std::optional<Complaint> complaint_about_operands(const Instruction& in, const Function& function) {
    static constexpr void (*kChecks[])(Checker&, const Instruction&) = {
        check_none_operands,
#define PTX_OPCODE(name, decoder, rule, operands, memory) check_##operands##_operands,
#include "ptx/instructions.def"
    };
    if (auto wrong = complaint_about_kinds(in, function)) return wrong;
    Checker check(in, function);
    kChecks[size_t(in.opcode)](check, in);
    return check.found;
}

}  // namespace ptx
