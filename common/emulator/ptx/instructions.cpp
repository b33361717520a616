// SPDX-License-Identifier: MIT
// Instructions: the mnemonic's modifiers in any order, operands, branches and calls.
#include <utility>

#include "ptx/body.h"
#include "ptx/expression.h"

namespace ptx {
namespace {

constexpr size_t kMaxOperands = 64;

// Instructions that access memory, where no written space means a generic address.
bool accesses_memory(const Instruction& instruction) {
    switch (instruction.opcode) {
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
    case Opcode::k_atom:
    case Opcode::k_red:
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
    case Opcode::k_ldmatrix:
    case Opcode::k_mbarrier:
    case Opcode::k_applypriority:
    case Opcode::k_discard:
    case Opcode::k_multimem:
    case Opcode::k_mapa:
    case Opcode::k_getctarank:
        return true;
    case Opcode::k_wmma:
        return instruction.has(Mod::k_load) || instruction.has(Mod::k_store);
    default:
        return false;
    }
}

bool takes_address(Opcode opcode) {
    return opcode == Opcode::k_ld || opcode == Opcode::k_ldu || opcode == Opcode::k_st ||
           opcode == Opcode::k_atom || opcode == Opcode::k_red || opcode == Opcode::k_prefetch;
}

Operand symbol_operand(Operand::Target target, uint32_t index, std::string_view name) {
    Operand out;
    out.kind = Operand::Kind::kSymbol;
    out.target = target;
    out.index = index;
    out.name = name;
    return out;
}

Operand address_of(Operand symbol) {
    Operand out;
    out.kind = Operand::Kind::kAddress;
    out.elements.push_back(std::move(symbol));
    return out;
}

}  // namespace

// Sorts the dotted tokens behind `out.text` into the fields of the instruction.
void BodyParser::mnemonic(Instruction& out) {
    const char* begin = out.text.data();
    const char* end = begin + out.text.size();
    out.opcode = find_opcode(out.text);
    bool unknown = out.opcode == Opcode::kUnknown;
    while (lexer_.peek().kind == Token::Kind::kDotted) {
        const Token token = lexer_.take();
        end = token.text.data() + token.text.size();
        const Dotted dotted = find_dotted(token.text.substr(1));
        switch (dotted.kind) {
        case Dotted::Kind::kType:
            out.types.push_back(dotted.type);
            break;
        case Dotted::Kind::kVector:
            out.vector = dotted.vector;
            break;
        case Dotted::Kind::kMod:
            out.mods.set(size_t(dotted.mod));
            break;
        case Dotted::Kind::kSpace:
            if (out.space == Space::kNone)
                out.space = dotted.space;
            else
                out.space2 = dotted.space;
            break;
        case Dotted::Kind::kUnknown:
            unknown = true;
            break;
        }
    }
    out.text = std::string_view(begin, size_t(end - begin));
    if (unknown) report(out.text, out.line);
    if (out.space == Space::kNone && accesses_memory(out)) out.space = Space::kGeneric;
}

void BodyParser::instruction(Instruction& out) {
    out.location = location_;
    mnemonic(out);
    const Token place = lexer_.peek();
    switch (out.opcode) {
    case Opcode::kUnknown:
        lexer_.skip_statement();
        break;
    case Opcode::k_call:
        call(out);
        lower_call_registers(out, place);
        return;
    case Opcode::k_bra:
        branch(out);
        break;
    case Opcode::k_ret:
        move_registers(place_.register_results, true, out);
        lexer_.expect(';', "after ret");
        break;
    default:
        odd_operand_ = false;
        if (!lexer_.peek().is(';')) {
            do {
                if (out.operands.size() == kMaxOperands) lexer_.fail("fewer operands");
                out.operands.push_back(operand(0));
            } while (lexer_.accept(','));
        }
        lexer_.expect(';', "after the operands of an instruction");
        if (takes_address(out.opcode)) {
            // `ld.global.u32 %r1, table[2]`: memory without brackets around it.
            for (Operand& each : out.operands) {
                if (each.kind != Operand::Kind::kSymbol) continue;
                Operand whole = address_of(std::move(each));
                whole.offset = std::exchange(whole.elements[0].offset, 0);
                each = std::move(whole);
            }
        }
        if (odd_operand_) {
            const char* end = place.text.data();
            while (*end != ';') ++end;  // the statement has been read up to there
            report(std::string_view(out.text.data(), size_t(end - out.text.data())), out.line);
        }
    }
    append(std::move(out));
}

void BodyParser::append(Instruction&& instruction) {
    out_.body.push_back(std::move(instruction));
}

void BodyParser::append_return(uint32_t line) {
    Instruction out;
    out.opcode = Opcode::k_ret;
    out.line = line;
    out.location = location_;
    out.text = "ret";
    move_registers(place_.register_results, true, out);
    append(std::move(out));
}

void BodyParser::branch(Instruction& out) {
    const Token name = lexer_.expect_name("a label");
    lexer_.expect(';', "after a label");
    Operand target;
    target.kind = Operand::Kind::kLabel;
    target.name = name.text;
    out.operands.push_back(std::move(target));
    scopes_.back().wanted.push_back({name.text, name.line, uint32_t(out_.body.size()), 0, false});
}

// call [(results),] callee [, (arguments) [, prototype or targets]]
void BodyParser::call(Instruction& out) {
    Operand results, arguments;
    results.kind = arguments.kind = Operand::Kind::kList;
    if (lexer_.peek().is('(')) {
        results = list(')', Operand::Kind::kList, 0);
        lexer_.expect(',', "after the results of a call");
    }
    if (lexer_.peek().kind != Token::Kind::kName) lexer_.fail("the function to call");
    Operand callee = reference();
    Operand prototype;
    if (lexer_.accept(',')) {
        bool more = true;
        if (lexer_.peek().is('(')) {
            arguments = list(')', Operand::Kind::kList, 0);
            more = lexer_.accept(',');
        }
        if (more) prototype = module_symbol(lexer_.expect_name("a prototype or a list of targets"));
    }
    lexer_.expect(';', "after a call");
    out.operands.push_back(std::move(results));
    out.operands.push_back(std::move(callee));
    out.operands.push_back(std::move(arguments));
    if (prototype.kind != Operand::Kind::kNone) out.operands.push_back(std::move(prototype));
}

// Old-style calls name registers and constants where .param variables should stand: those become
// variables here, with a store before the call or a load behind it. Appends the call.
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
        std::vector<Operand>& elements = out.operands[list].elements;
        for (size_t i = 0; i < elements.size(); ++i) {
            Operand& element = elements[i];
            if (element.kind == Operand::Kind::kSymbol || element.kind == Operand::Kind::kSink)
                continue;
            Type type = Type::kNone;
            if (parameters && i < parameters->size())
                type = (*parameters)[i].type;
            else if (element.kind == Operand::Kind::kRegister)
                type = out_.registers[element.index].type;
            if (byte_size(type) == 0 || (list == 0 && element.kind != Operand::Kind::kRegister) ||
                element.kind == Operand::Kind::kVector || element.kind == Operand::Kind::kAddress) {
                lexer_.fail(place, "parameters of the call in .param variables");
            }
            Variable variable;
            variable.name = element.name.empty() ? std::string_view("argument") : element.name;
            variable.space = Space::kParam;
            variable.type = type;
            variable.bytes = variable.align = byte_size(type);
            const Operand symbol = symbol_operand(
                Operand::Target::kVariable, uint32_t(out_.variables.size()), variable.name);
            out_.variables.push_back(variable);
            Instruction copy;
            copy.opcode = list == 0 ? Opcode::k_ld : Opcode::k_st;
            copy.text = list == 0 ? "ld.param" : "st.param";
            copy.space = Space::kParam;
            copy.types = {type};
            copy.guarded = out.guarded;
            copy.guard_negated = out.guard_negated;
            copy.guard = out.guard;
            copy.location = out.location;
            copy.line = out.line;
            if (list == 0)
                copy.operands = {element, address_of(symbol)};
            else
                copy.operands = {address_of(symbol), element};
            element = symbol;
            if (list == 0)
                loads.push_back(std::move(copy));
            else
                append(std::move(copy));
        }
    }
    append(std::move(out));
    for (Instruction& load : loads) append(std::move(load));
}

// Parameters in the .reg space: loads them before the body starts, stores results before a return.
void BodyParser::move_registers(const std::vector<bool>& flags, bool results,
                                const Instruction& model) {
    const std::vector<Parameter>& parameters = results ? out_.results : out_.parameters;
    for (uint32_t i = 0; i < flags.size(); ++i) {
        if (!flags[i]) continue;
        const Parameter& parameter = parameters[i];
        const Found found = find(parameter.name, {});
        if (!found.found || found.operand.kind != Operand::Kind::kRegister ||
            byte_size(parameter.type) == 0) {
            lexer_.fail(model.line, parameter.name, "expected a scalar register as a parameter");
        }
        Instruction copy;
        copy.opcode = results ? Opcode::k_st : Opcode::k_ld;
        copy.text = results ? "st.param" : "ld.param";
        copy.space = Space::kParam;
        copy.types = {parameter.type};
        copy.guarded = model.guarded;
        copy.guard_negated = model.guard_negated;
        copy.guard = model.guard;
        copy.location = model.location;
        copy.line = model.line;
        const Operand memory = address_of(symbol_operand(
            results ? Operand::Target::kResult : Operand::Target::kParameter, i, parameter.name));
        if (results)
            copy.operands = {memory, found.operand};
        else
            copy.operands = {found.operand, memory};
        append(std::move(copy));
    }
}

}  // namespace ptx
