// SPDX-License-Identifier: MIT
// Parses calls with registers and constants for parameters, and functions that declare their
// parameters in .reg (PTX ISA "Function Declarations and Definitions"). All of them are rewritten
// to pass parameters in memory.
#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/parse/body.h"

namespace ptx {
namespace {

// The size of one argument or result of a call; 0 for a constant or when unknown.
uint64_t bytes_of(const Operand& element, const Function& function) {
    if (element.kind == Operand::Kind::kVector) {
        uint64_t bytes = 0;
        for (const Operand& each : element.elements) bytes += bytes_of(each, function);
        return bytes;
    }
    if (element.kind == Operand::Kind::kRegister) {
        const Type type = function.registers[element.index].type;
        return type == Type::kPred ? 1 : byte_size(type);
    }
    if (element.kind != Operand::Kind::kSymbol) return 0;
    switch (element.target) {
    case Operand::Target::kVariable:
        return function.variables[element.index].bytes;
    case Operand::Target::kParameter:
        return function.parameters[element.index].bytes;
    case Operand::Target::kResult:
        return function.results[element.index].bytes;
    default:
        return 0;
    }
}

bool is_predicate(const Operand& element, const Function& function) {
    return element.kind == Operand::Kind::kRegister &&
           function.registers[element.index].type == Type::kPred;
}

}  // namespace

// A call must pass what the function's header, the prototype or the targets declare.
void BodyParser::check_arguments(const Instruction& out, const std::vector<Parameter>& expected,
                                 size_t list, const Token& place) {
    const char* what = list == 0 ? " result(s)" : " argument(s)";
    const std::vector<Operand>& given = out.operands[list].elements;
    const std::string callee(out.operands[1].name);
    if (given.size() != expected.size()) {
        lexer_.fail(place.line,
                    callee,
                    "the call has " + std::to_string(given.size()) + what +
                        ", but the function declares " + std::to_string(expected.size()));
    }
    for (size_t i = 0; i < given.size(); ++i) {
        const std::string number = "number " + std::to_string(i + 1) + " of the call's" + what;
        const std::string name = "`" + std::string(expected[i].name) + "` of the function ";
        const bool is_sink = given[i].kind == Operand::Kind::kSink;
        const bool wants_predicate = expected[i].type == Type::kPred;
        if (!is_sink && is_predicate(given[i], out_) != wants_predicate)
            lexer_.fail(place.line,
                        callee,
                        number +
                            (wants_predicate ? " is not a predicate register, but "
                                             : " is a predicate, but ") +
                            name + (wants_predicate ? "is a predicate" : "is not"));
        const bool is_vector = given[i].kind == Operand::Kind::kVector;
        if (is_vector && given[i].elements.size() != expected[i].vector)
            lexer_.fail(place.line,
                        callee,
                        number + " is a vector of " + std::to_string(given[i].elements.size()) +
                            ", but " + name + "is not a vector of that length");
        const uint64_t bytes = bytes_of(given[i], out_);
        if (bytes == 0 || bytes == expected[i].bytes) continue;
        if (expected[i].is_unsized) {
            if (bytes <= kUnsizedBytes) continue;
            lexer_.fail(place.line,
                        callee,
                        number + " has " + std::to_string(bytes) + " bytes: at most " +
                            std::to_string(kUnsizedBytes) + " are passed for " + name);
        }
        lexer_.fail(place.line,
                    callee,
                    number + " has " + std::to_string(bytes) + " bytes, but " + name + "has " +
                        std::to_string(expected[i].bytes));
    }
}

// Loads or stores a register, a vector of registers or a constant. A predicate is a byte in memory.
std::vector<Instruction> BodyParser::move_parameter(const Instruction& model, bool is_store,
                                                    Operand memory, Operand value, Type type) {
    Instruction copy;
    copy.opcode = is_store ? Opcode::k_st : Opcode::k_ld;
    copy.text = is_store ? "st.param" : "ld.param";
    copy.space = Space::kParam;
    copy.types = {type == Type::kPred ? Type::kU8 : type};
    copy.vector = value.kind == Operand::Kind::kVector ? uint8_t(value.elements.size()) : 1;
    copy.guarded = model.guarded;
    copy.guard_negated = model.guard_negated;
    copy.guard = model.guard;
    copy.location = model.location;
    copy.line = model.line;
    Instruction convert = copy;
    if (type == Type::kPred) {
        const Operand byte = temporary(Type::kU16);
        const auto constant = [](uint64_t bits) {
            Operand out;
            out.kind = Operand::Kind::kImmediate;
            out.bits = bits;
            return out;
        };
        convert.space = Space::kNone;
        convert.types = {Type::kU16};
        convert.opcode = is_store ? Opcode::k_selp : Opcode::k_setp;
        if (is_store) {
            convert.operands = {byte, constant(1), constant(0), std::move(value)};
        } else {
            convert.mods.set(size_t(Mod::k_ne));
            convert.operands = {std::move(value), byte, constant(0)};
        }
        value = byte;
    }
    if (is_store)
        copy.operands = {std::move(memory), std::move(value)};
    else
        copy.operands = {std::move(value), std::move(memory)};
    if (type != Type::kPred) return {std::move(copy)};
    if (is_store) return {std::move(convert), std::move(copy)};
    return {std::move(copy), std::move(convert)};
}

// Old-style calls use registers and constants as parameters: those become .param variables here,
// with a store before the call or a load after it. Appends the call.
void BodyParser::lower_call_registers(Instruction& out, const Token& place) {
    const std::vector<Parameter>* expected[2] = {nullptr, nullptr};
    if (const FunctionHeader* header = index_.find_function(out.operands[1].name)) {
        expected[0] = &header->results;
        expected[1] = &header->parameters;
    } else if (out.operands.size() > 3) {
        for (const Function::Prototype& prototype : out_.prototypes) {
            if (prototype.name != out.operands[3].name) continue;
            expected[0] = &prototype.results;
            expected[1] = &prototype.parameters;
        }
    }
    std::vector<Instruction> loads;
    for (const size_t list : {size_t(0), size_t(2)}) {
        const std::vector<Parameter>* parameters = expected[list / 2];
        if (parameters) check_arguments(out, *parameters, list, place);
        std::vector<Operand>& elements = out.operands[list].elements;
        for (size_t i = 0; i < elements.size(); ++i) {
            Operand& element = elements[i];
            const bool sink = element.kind == Operand::Kind::kSink;
            if (element.kind == Operand::Kind::kSymbol || (sink && !(parameters && list == 0)))
                continue;
            if (sink) {  // an unused result still needs a variable
                const Parameter& unwanted = (*parameters)[i];
                Variable variable;
                variable.name = "_";
                variable.space = Space::kParam;
                variable.type = unwanted.type;
                variable.bytes = unwanted.bytes;
                variable.align = unwanted.align;
                element = symbol_operand(
                    Operand::Target::kVariable, uint32_t(out_.variables.size()), variable.name);
                out_.variables.push_back(variable);
                continue;
            }
            const bool is_register = element.kind == Operand::Kind::kRegister;
            const bool is_vector = element.kind == Operand::Kind::kVector && parameters &&
                                   (*parameters)[i].type != Type::kPred;
            Type type = Type::kNone;
            if (parameters && i < parameters->size())
                type = (*parameters)[i].type;
            else if (is_register)
                type = out_.registers[element.index].type;
            if (type == Type::kNone || (list == 0 && !is_register && !is_vector) ||
                (element.kind == Operand::Kind::kVector && !is_vector) ||
                element.kind == Operand::Kind::kAddress) {
                lexer_.fail(place, "parameters of the call in .param variables");
            }
            Variable variable;
            variable.name = element.name.empty() ? std::string_view("argument") : element.name;
            variable.space = Space::kParam;
            variable.type = type == Type::kPred ? Type::kB8 : type;
            variable.bytes = byte_size(variable.type) * (is_vector ? element.elements.size() : 1);
            variable.align = uint32_t(variable.bytes);
            const Operand symbol = symbol_operand(
                Operand::Target::kVariable, uint32_t(out_.variables.size()), variable.name);
            out_.variables.push_back(variable);
            // A result that is the call's own guard is written last, since the guard applies to all
            // instructions.
            const bool is_guard = list == 0 && out.guarded && is_register && type == Type::kPred &&
                                  element.index == out.guard;
            auto moves = move_parameter(
                out, list != 0, address_of(symbol), std::exchange(element, symbol), type);
            if (list != 0)
                for (Instruction& each : moves) append(std::move(each));
            else
                loads.insert(is_guard ? loads.end() : loads.begin(),
                             std::make_move_iterator(moves.begin()),
                             std::make_move_iterator(moves.end()));
        }
    }
    append(std::move(out));
    for (Instruction& load : loads) append(std::move(load));
}

// Parameters in the .reg space are loaded before the body starts; results are stored before a
// return.
void BodyParser::move_registers(const std::vector<bool>& flags, bool results,
                                const Instruction& model) {
    const std::vector<Parameter>& parameters = results ? out_.results : out_.parameters;
    for (uint32_t i = 0; i < flags.size(); ++i) {
        if (!flags[i]) continue;
        const Parameter& parameter = parameters[i];
        const Found found = find(parameter.name, {});
        const bool is_register = found.found && (found.operand.kind == Operand::Kind::kRegister ||
                                                 found.operand.kind == Operand::Kind::kVector);
        const bool predicates =
            parameter.type == Type::kPred && found.operand.kind == Operand::Kind::kVector;
        if (!is_register || parameter.is_array || predicates)
            lexer_.fail(model.line, parameter.name, "expected a register as a parameter");
        const Operand memory = address_of(symbol_operand(
            results ? Operand::Target::kResult : Operand::Target::kParameter, i, parameter.name));
        for (Instruction& each :
             move_parameter(model, results, memory, found.operand, parameter.type))
            append(std::move(each));
    }
}

}  // namespace ptx
