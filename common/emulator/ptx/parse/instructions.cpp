// SPDX-License-Identifier: MIT
// Parses instructions: the mnemonic's modifiers in any order, operands, branches and calls.
#include <utility>

#include "ptx/legality/legality.h"
#include "ptx/parse/body.h"
#include "ptx/parse/expression.h"
#include "ptx/parse/old_isa.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

constexpr size_t kMaxOperands = 64;

// Whether the address is generic where no state space is written.
bool accesses_memory(const Instruction& instruction) {
    if (instruction.opcode == Opcode::k_wmma)
        return instruction.has(Mod::k_load) || instruction.has(Mod::k_store);
    return memory_operand(instruction.opcode) != MemoryOperand::k_none;
}

}  // namespace

// Stores the dotted tokens that follow `out.text` in the members of the instruction.
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
            skip_bank(lexer_, dotted.space, token);
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
    const size_t reported = unsupported_.size();
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
        sums_.clear();
        if (!lexer_.peek().is(';')) {
            do {
                if (out.operands.size() == kMaxOperands) lexer_.fail("fewer operands");
                out.operands.push_back(operand(0));
            } while (lexer_.accept(','));
        }
        lexer_.expect(';', "after the operands of an instruction");
        if (memory_operand(out.opcode) == MemoryOperand::k_address) {
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
            while (*end != ';') ++end;  // the statement has been parsed up to there
            report(std::string_view(out.text.data(), size_t(end - out.text.data())), out.line);
        }
    }
    complete_modifiers(out, index_);
    // Instructions that the reader does not know are refused by the machine.
    if (unsupported_.size() == reported) {
        if (const auto wrong = complaint_about(out, out_, index_.target))
            lexer_.fail(out.line, wrong->token, wrong->message);
    }
    lower_sums(out, place);
    if (out.opcode == Opcode::k_mov && out.vector > 1 && lower_vector_move(out, place)) return;
    if (out.opcode == Opcode::k_mov || out.opcode == Opcode::k_cvt || out.opcode == Opcode::k_st)
        lower_specials(out);
    if (out.opcode == Opcode::k_shfl || out.opcode == Opcode::k_vote) lower_unsynchronized(out);
    if (out.opcode == Opcode::k_mov && !out_.is_entry) lower_parameter_address(out);
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

}  // namespace ptx
