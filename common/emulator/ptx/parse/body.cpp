// SPDX-License-Identifier: MIT
// Parses statements of a body: scopes, declarations, labels and source locations.
#include "ptx/parse/body.h"

#include <algorithm>
#include <utility>

#include "ptx/parse/expression.h"

namespace ptx {
namespace {

constexpr size_t kMaxScopes = 256;
constexpr uint32_t kAmbiguous = UINT32_MAX;

}  // namespace

BodyParser::BodyParser(ModuleIndex& index, uint32_t function, Function& out,
                       std::vector<Unsupported>& unsupported)
    : index_(index), place_(index.bodies[function]), out_(out), unsupported_(unsupported),
      lexer_(index.text, index.name, place_.begin, place_.line) {}

void BodyParser::run() {
    index_.sources.begin_function(out_.name);
    lexer_.expect('{', "before a body");
    declare_module_registers();
    scopes_.emplace_back();
    // A parameter in the .reg space is a register that is loaded before the first instruction.
    const auto declare = [&](const std::vector<bool>& flags, const std::vector<Parameter>& from) {
        for (size_t i = 0; i < flags.size(); ++i) {
            if (!flags[i]) continue;
            Symbol symbol;
            symbol.type = from[i].type;
            symbol.vector = from[i].vector;
            symbol.elements.resize(symbol.vector > 1 ? symbol.vector : 0);
            scopes_.back().names.try_emplace(from[i].name, symbol);
        }
    };
    declare(place_.register_parameters, out_.parameters);
    declare(place_.register_results, out_.results);
    Instruction start;
    start.line = place_.line;
    move_registers(place_.register_parameters, false, start);
    while (!done_) statement();
    finish();
}

// PTX ISA 1 and 2 allow registers outside of functions. In a kernel without calls they behave like
// its own.
void BodyParser::declare_module_registers() {
    if (index_.register_statements.empty()) return;
    scopes_.emplace_back();
    const Lexer here = lexer_;
    for (const auto& [begin, line] : index_.register_statements) {
        lexer_ = Lexer(index_.text, index_.name, begin, line);
        register_declaration();
    }
    lexer_ = here;
    module_scope_ = std::move(scopes_.back());
    scopes_.pop_back();
}

void BodyParser::report(std::string_view text, uint32_t line) {
    unsupported_.push_back({std::string(text), line});
}

void BodyParser::statement() {
    const Token token = lexer_.peek();
    switch (token.kind) {
    case Token::Kind::kName: {
        lexer_.advance();
        if (lexer_.peek().is(':')) {
            lexer_.advance();
            label(token);
            return;
        }
        Instruction out;
        out.line = token.line;
        out.text = token.text;
        instruction(out);
        return;
    }
    case Token::Kind::kDotted:
        directive();
        return;
    case Token::Kind::kPunct:
        break;
    case Token::Kind::kEnd:
        lexer_.fail("'}' at the end of the function");
    default:
        lexer_.fail("an instruction, a label or a directive");
    }
    if (token.is('{')) {
        lexer_.advance();
        open_scope();
    } else if (token.is('}')) {
        close_scope();
        if (!done_) lexer_.advance();
    } else if (token.is(';')) {
        lexer_.advance();
    } else if (token.is('@')) {
        lexer_.advance();
        Instruction out;
        out.guarded = true;
        out.guard_negated = lexer_.accept('!');
        const Token name = lexer_.expect_name("a predicate after '@'");
        const Found guard = find(name.text, {});
        if (!guard.found || guard.operand.kind != Operand::Kind::kRegister ||
            out_.registers[guard.operand.index].type != Type::kPred) {
            lexer_.fail(name, "a declared predicate register after '@'");
        }
        out.guard = guard.operand.index;
        const Token opcode = lexer_.expect_name("an instruction after its guard");
        out.line = opcode.line;
        out.text = opcode.text;
        instruction(out);
    } else {
        lexer_.fail("an instruction, a label or a directive");
    }
}

void BodyParser::open_scope() {
    if (scopes_.size() == kMaxScopes) lexer_.fail("fewer nested blocks");
    scopes_.emplace_back();
}

void BodyParser::close_scope() {
    // The outermost block is kept: a return that finish() adds may need its names.
    done_ = scopes_.size() == 1;
    const auto labels = std::move(scopes_.back().labels);
    const auto wanted_here = std::move(scopes_.back().wanted);
    if (!done_) scopes_.pop_back();
    for (const Wanted& wanted : wanted_here) {
        const auto found = labels.find(wanted.name);
        if (found != labels.end()) {
            resolve(wanted, found->second);
        } else if (!done_) {
            scopes_.back().wanted.push_back(wanted);
        } else {
            // A jump into a block is only allowed where the label is unambiguous.
            const auto inner = all_labels_.find(wanted.name);
            if (inner == all_labels_.end() || inner->second == kAmbiguous) {
                lexer_.fail(
                    wanted.line, wanted.name, "expected a label that this function defines");
            }
            resolve(wanted, inner->second);
        }
    }
}

void BodyParser::resolve(const Wanted& wanted, uint32_t target) {
    if (wanted.is_table) {
        out_.branch_targets[wanted.owner].targets[wanted.operand] = target;
    } else {
        out_.body[wanted.owner].operands[wanted.operand].index = target;
    }
    jumps_to_end_ = jumps_to_end_ || target == out_.body.size();
}

void BodyParser::label(const Token& name) {
    if (lexer_.peek().is_dotted(".branchtargets")) {
        branch_targets(name);
        return;
    }
    if (lexer_.peek().is_dotted(".callprototype")) {
        call_prototype(name);
        return;
    }
    if (lexer_.accept_dotted(".calltargets")) {
        call_targets(name);
        return;
    }
    const uint32_t here = uint32_t(out_.body.size());
    block_start_ = here;
    without_line_.reset();
    if (!scopes_.back().labels.try_emplace(name.text, here).second) {
        lexer_.fail(name, "a label that is not defined twice in one block");
    }
    const auto [known, is_new] = all_labels_.try_emplace(name.text, here);
    if (!is_new) known->second = kAmbiguous;
}

void BodyParser::branch_targets(const Token& name) {
    lexer_.advance();
    const uint32_t table = uint32_t(out_.branch_targets.size());
    out_.branch_targets.push_back({name.text, {}});
    do {
        const Token target = lexer_.expect_name("a label");
        auto& targets = out_.branch_targets[table].targets;
        for (const std::string_view each : parse_names(lexer_, target.text, index_.made_names)) {
            scopes_.back().wanted.push_back(
                {each, target.line, table, uint32_t(targets.size()), true});
            targets.push_back(0);
        }
    } while (lexer_.accept(','));
    lexer_.expect(';', "after .branchtargets");
}

// All targets have the same signature, so any of them shows what the call passes; the register
// selects the target.
void BodyParser::call_targets(const Token& name) {
    Function::Prototype prototype;
    prototype.name = name.text;
    do {
        const Token target = lexer_.expect_name("the name of a function");
        for (const std::string_view each : parse_names(lexer_, target.text, index_.made_names)) {
            const FunctionHeader* header = index_.find_function(each);
            if (!header) lexer_.fail(target, "a function that is declared before");
            prototype.results = header->results;
            prototype.parameters = header->parameters;
        }
    } while (lexer_.accept(','));
    lexer_.expect(';', "after .calltargets");
    out_.prototypes.push_back(std::move(prototype));
}

void BodyParser::call_prototype(const Token& name) {
    lexer_.advance();
    Function::Prototype prototype;
    prototype.name = name.text;
    if (lexer_.peek().is('(')) prototype.results = parse_parameters(lexer_, nullptr);
    lexer_.expect_name("'_' in a prototype");
    if (lexer_.peek().is('(')) prototype.parameters = parse_parameters(lexer_, nullptr);
    out_.prototypes.push_back(std::move(prototype));
    lexer_.skip_statement();  // .noreturn, .abi_preserve
}

void BodyParser::directive() {
    const Token token = lexer_.peek();
    if (token.is_dotted(".loc")) {
        lexer_.advance();
        location();
    } else if (token.is_dotted(".reg")) {
        register_declaration();
    } else if (token.is_dotted(".pragma")) {
        lexer_.skip_statement();
    } else if (token.is_dotted(".file")) {
        lexer_.advance();
        parse_file_directive(lexer_, index_.sources);
    } else if (token.is_dotted(".section")) {
        lexer_.advance();
        lexer_.advance();
        lexer_.skip_braces();
    } else if (find_dotted(token.text.substr(1)).kind == Dotted::Kind::kSpace ||
               token.is_dotted(".extern") || token.is_dotted(".visible") ||
               token.is_dotted(".align") || token.is_dotted(".weak")) {
        variable_declaration();
    } else {
        report(token.text, token.line);
        lexer_.skip_statement();
    }
}

void BodyParser::register_declaration() {
    const Specifiers specifiers = parse_specifiers(lexer_);
    do {
        declare_register(lexer_.expect_name("the name of a register"), specifiers);
    } while (lexer_.accept(','));
    lexer_.expect(';', "after registers");
}

void BodyParser::variable_declaration() {
    const Specifiers specifiers = parse_specifiers(lexer_);
    if (place_.declares_parameters && specifiers.space == Space::kParam) {
        lexer_.skip_statement();  // parsed with the header
        return;
    }
    do {
        const Token name = lexer_.peek();
        for (Variable& variable : parse_variables(lexer_, specifiers, index_.made_names)) {
            Symbol symbol;
            symbol.kind = Symbol::Kind::kVariable;
            symbol.type = variable.type;
            symbol.index = uint32_t(out_.variables.size());
            if (!scopes_.back().names.try_emplace(variable.name, symbol).second) {
                lexer_.fail(name, "a name that is not declared twice in one block");
            }
            out_.variables.push_back(std::move(variable));
        }
    } while (lexer_.accept(','));
    lexer_.expect(';', "after a variable");
}

// .loc file line column [, function_name label [+ offset]] [, inlined_at file line column]
void BodyParser::location() {
    const auto number = [&](std::string_view what) {
        const Token token = lexer_.peek();
        const uint64_t value = lexer_.expect_integer(what);
        if (value > UINT32_MAX) lexer_.fail(token, what);
        return uint32_t(value);
    };
    const auto place = [&] {
        SourceMap::Place out;
        out.file = number("the number of a file");
        out.line = number("a line");
        out.column = number("a column");
        return out;
    };
    const SourceMap::Place here = place();
    SourceMap::Place inlined_at;
    std::string_view function;
    int64_t offset = 0;
    bool is_inlined = false;
    while (lexer_.accept(',')) {
        const Token word = lexer_.expect_name("function_name or inlined_at");
        if (word.text == "function_name") {
            function = lexer_.take().text;
            offset = parse_offset(lexer_);
        } else if (word.text == "inlined_at") {
            inlined_at = place();
            is_inlined = true;
        } else {
            lexer_.fail(word, "function_name or inlined_at");
        }
    }
    if (!is_inlined)
        function = {};
    else if (function.empty())
        function = "?";  // inlined from a function without a name
    location_ = index_.sources.add(here, function, offset, inlined_at);
    // Code that the compiler has moved to the front of a block has line 0. The next line of that
    // block describes it better than the previous one, which belongs to another block.
    if (here.line == 0) {
        if (out_.body.size() == block_start_) without_line_ = block_start_;
    } else if (const auto first = std::exchange(without_line_, std::nullopt)) {
        const auto begin = out_.body.begin() + ptrdiff_t(*first);
        const bool one_block = std::none_of(begin, out_.body.end(), [](const Instruction& in) {
            return in.opcode == Opcode::k_bra || in.opcode == Opcode::k_brx ||
                   in.opcode == Opcode::k_ret || in.opcode == Opcode::k_exit;
        });
        if (one_block)
            std::for_each(
                begin, out_.body.end(), [&](Instruction& in) { in.location = location_; });
    }
}

void BodyParser::finish() {
    const bool falls_off = out_.body.empty() || jumps_to_end_ || [&] {
        const Instruction& last = out_.body.back();
        if (last.guarded) return true;
        return last.opcode != Opcode::k_ret && last.opcode != Opcode::k_exit &&
               last.opcode != Opcode::k_bra && last.opcode != Opcode::k_brx;
    }();
    if (falls_off) append_return(lexer_.peek().line);
    copy_parameters();

    std::unordered_map<std::string_view, bool> local;
    for (const auto& table : out_.branch_targets) local[table.name] = true;
    for (const auto& prototype : out_.prototypes) local[prototype.name] = true;
    for (const auto& [name, line] : module_names_) {
        if (!local.contains(name) && !index_.declares(name)) {
            lexer_.fail(line, name, "expected a name that is declared in this function or module");
        }
    }
}

void parse_body(ModuleIndex& index, uint32_t function, Function& out,
                std::vector<Unsupported>& unsupported) {
    BodyParser(index, function, out, unsupported).run();
}

}  // namespace ptx
