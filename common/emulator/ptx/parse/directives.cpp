// SPDX-License-Identifier: MIT
// The index of a module: every directive outside of bodies.
#include <algorithm>

#include "ptx/parse/expression.h"
#include "ptx/parse/function_headers.h"
#include "ptx/parse/index.h"
#include "ptx/parse/old_isa.h"

namespace ptx {
namespace {

// The newest PTX ISA that this reader supports; minor versions only add instructions.
constexpr unsigned kNewestMajor = 9;
constexpr uint64_t kConstantBytes = 64 << 10;

class Indexer {
public:
    explicit Indexer(ModuleIndex& index) : index_(index), lexer_(index.text, index.name) {}

    void run() {
        while (lexer_.peek().kind != Token::Kind::kEnd) statement();
        if (index_.version_major == 0) {
            lexer_.fail(1, {}, "expected .version at the start: this is not a PTX module");
        }
        if (index_.target == 0) {
            lexer_.fail(1, {}, "expected .target, for instance .target sm_75");
        }
        uint64_t constant = 0;
        for (const Variable& variable : index_.variables)
            if (variable.space == Space::kConst) constant += variable.bytes;
        if (constant > kConstantBytes)
            lexer_.fail(1,
                        {},
                        "the module has " + std::to_string(constant) +
                            " bytes of .const variables: expected at most 65536");
        for (const auto& [alias, function] : index_.aliases)
            if (!index_.function_index.contains(alias) || !index_.function_index.contains(function))
                lexer_.fail(1, alias, "expected .alias between two functions of this module");
        for (const Variable& variable : index_.variables)
            for (const SymbolFixup& fixup : variable.fixups)
                if (!index_.declares(fixup.symbol))
                    lexer_.fail(variable.line,
                                fixup.symbol,
                                "expected a name that is declared in this module, in the value "
                                "of `" +
                                    std::string(variable.name) + "`");
    }

private:
    void statement() {
        const Token token = lexer_.peek();
        if (token.is(';')) {
            lexer_.advance();
        } else if (token.is('@', '@') || token.is('@')) {
            lexer_.skip_line();  // @@DWARF, the debug directives of PTX 2
        } else if (token.kind == Token::Kind::kDotted) {
            directive(token);
        } else {
            lexer_.fail("a directive such as .version, .entry, .func or .global");
        }
    }

    void directive(const Token& token) {
        const std::string_view word = token.text;
        if (index_.version_major == 0 && word != ".version") {
            lexer_.fail(".version before anything else: this is not a PTX module");
        }
        if (word == ".version") {
            lexer_.advance();
            version();
        } else if (word == ".target") {
            lexer_.advance();
            target();
        } else if (word == ".address_size") {
            lexer_.advance();
            const Token size = lexer_.peek();
            if (lexer_.expect_integer("64 after .address_size") != 64) {
                lexer_.fail(size, "64-bit addresses: compile with -m64");
            }
        } else if (word == ".file") {
            lexer_.advance();
            parse_file_directive(lexer_, index_.sources);
        } else if (word == ".section") {
            lexer_.advance();
            section();
        } else if (word == ".pragma") {
            lexer_.advance();
            lexer_.skip_statement();
        } else if (word == ".alias") {
            lexer_.advance();
            const std::string_view alias = lexer_.expect_name("the name of an alias").text;
            lexer_.expect(',', "after an alias");
            index_.aliases[alias] = lexer_.expect_name("the name of a function").text;
            lexer_.expect(';', "after .alias");
        } else if (word == ".loc") {
            lexer_.skip_line();
        } else {
            declaration();
        }
    }

    void version() {
        const Token token = lexer_.take();
        // `9.0` is lexed as a floating-point number; only its digits matter.
        const size_t dot = token.text.find('.');
        const auto digits = [&](std::string_view text) {
            unsigned value = 0;
            if (text.empty() || text.size() > 4) lexer_.fail(token, "a version such as 9.0");
            for (const char c : text) {
                if (c < '0' || c > '9') lexer_.fail(token, "a version such as 9.0");
                value = value * 10 + unsigned(c - '0');
            }
            return value;
        };
        if (token.kind != Token::Kind::kFloat64 || dot == std::string_view::npos) {
            lexer_.fail(token, "a version such as 9.0");
        }
        index_.version_major = digits(token.text.substr(0, dot));
        index_.version_minor = digits(token.text.substr(dot + 1));
        if (index_.version_major == 0) lexer_.fail(token, "a version such as 9.0");
        if (index_.version_major > kNewestMajor) {
            throw UnsupportedVersion(
                index_.name + ": PTX line " + std::to_string(token.line) + ": PTX ISA " +
                std::string(token.text) + " is newer than " + std::to_string(kNewestMajor) +
                ".x, the newest that this reader supports; compile with CUDA 13 or older");
        }
    }

    void target() {
        do {
            const Token token = lexer_.expect_name("a target such as sm_75");
            const size_t digit = token.text.find_first_of("0123456789");
            if ((token.text.starts_with("sm_") || token.text.starts_with("compute_")) &&
                digit != std::string_view::npos) {
                unsigned arch = 0;
                for (size_t i = digit; i < token.text.size() && i < digit + 4; ++i) {
                    const char c = token.text[i];
                    if (c < '0' || c > '9') break;  // sm_90a
                    arch = arch * 10 + unsigned(c - '0');
                }
                index_.target = arch;
            }
        } while (lexer_.accept(','));
        if (index_.target == 0) lexer_.fail("a target such as sm_75");
    }

    void section() {
        const Token name = lexer_.take();
        if (name.kind != Token::Kind::kDotted && name.kind != Token::Kind::kName) {
            lexer_.fail(name, "the name of a section");
        }
        const size_t begin = lexer_.token_begin();
        const uint32_t line = lexer_.peek().line;
        if (name.text == ".debug_str") {
            index_.sources.set_strings(lexer_.text().substr(begin), line);
        }
        lexer_.skip_braces();
    }

    struct Linkage {
        bool is_extern = false, is_exported = false, is_weak = false;
    };

    // Parses linkage directives, then a variable or a function.
    void declaration() {
        const Token first = lexer_.peek();
        Linkage linkage;
        while (lexer_.peek().is_dotted(".visible") || lexer_.peek().is_dotted(".extern") ||
               lexer_.peek().is_dotted(".weak") || lexer_.peek().is_dotted(".common")) {
            const bool is_extern = lexer_.peek().is_dotted(".extern");
            const bool is_visible = lexer_.peek().is_dotted(".visible");
            linkage.is_extern |= is_extern;
            linkage.is_exported |= !is_extern;
            linkage.is_weak |= !is_extern && !is_visible;
            lexer_.advance();
        }
        const Token token = lexer_.peek();
        if (token.is_dotted(".entry") || token.is_dotted(".func")) {
            lexer_.advance();
            function(token, linkage);
        } else if (token.is_dotted(".global") || token.is_dotted(".const") ||
                   token.is_dotted(".shared") || token.is_dotted(".tex") ||
                   token.is_dotted(".local") || token.is_dotted(".align")) {
            variables(linkage);
        } else if (token.is_dotted(".reg")) {
            registers();
        } else if (token.kind == Token::Kind::kDotted && token.text == first.text) {
            // A directive of a newer ISA: recorded and skipped, up to the end of its statement.
            index_.unsupported.push_back({std::string(token.text), token.line});
            try {
                lexer_.skip_statement();
            } catch (const ParseError&) {
                lexer_.fail(token, "a known directive, or the end of this one");
            }
        } else {
            lexer_.fail(".entry, .func or the state space of a variable");
        }
    }

    void variables(const Linkage& linkage) {
        Specifiers specifiers = parse_specifiers(lexer_);
        specifiers.is_extern = specifiers.is_extern || linkage.is_extern;
        if (specifiers.space == Space::kLocal && index_.version_major >= 3)
            lexer_.fail(specifiers.line, ".local", "expected it in a function, since PTX ISA 3.0");
        do {
            const Token name = lexer_.peek();
            for (Variable& variable : parse_variables(lexer_, specifiers, index_.made_names)) {
                variable.is_exported = linkage.is_exported;
                variable.is_weak = linkage.is_weak;
                add(name, std::move(variable));
            }
        } while (lexer_.accept(','));
        lexer_.expect(';', "after a variable");
    }

    void add(const Token& name, Variable&& variable) {
        const auto [known, is_new] =
            index_.variable_index.try_emplace(variable.name, uint32_t(index_.variables.size()));
        if (is_new) {
            index_.variables.push_back(std::move(variable));
        } else if (index_.variables[known->second].is_extern || variable.is_extern) {
            // A declaration and a definition: the definition is kept.
            if (!variable.is_extern) index_.variables[known->second] = std::move(variable);
        } else {
            lexer_.fail(name, "a name that is not taken by another variable");
        }
    }

    void registers() {
        if (index_.version_major >= 3)
            lexer_.fail(lexer_.peek(), "registers in a function, since PTX ISA 3.0");
        index_.register_statements.emplace_back(lexer_.token_begin(), lexer_.peek().line);
        lexer_.skip_statement();
    }

    // Directives that may occur between the parts of a function's header.
    void performance(FunctionHeader& header, BodyPlace& place) {
        while (lexer_.peek().kind == Token::Kind::kDotted && !starts_statement(lexer_.peek())) {
            const Token token = lexer_.take();
            if (token.text == ".noreturn") place.is_noreturn = true;
            if (token.text == ".attribute" || lexer_.peek().is('(')) {
                lexer_.expect('(', "after an attribute");
                for (unsigned depth = 1; depth > 0; lexer_.advance()) {
                    if (lexer_.peek().kind == Token::Kind::kEnd) lexer_.fail("')'");
                    if (lexer_.peek().is('(')) ++depth;
                    if (lexer_.peek().is(')')) --depth;
                }
            } else if (token.text == ".pragma") {
                lexer_.skip_statement();
            } else {
                parse_tuning(lexer_, token, header);
            }
        }
    }

    void function(const Token& keyword, const Linkage& linkage) {
        FunctionHeader header;
        header.is_exported = linkage.is_exported;
        header.is_weak = linkage.is_weak;
        BodyPlace place;
        header.is_entry = keyword.text == ".entry";
        performance(header, place);
        if (lexer_.peek().is('(')) {
            if (header.is_entry) lexer_.fail("the name of a kernel: kernels return nothing");
            header.results = parse_parameters(lexer_, &place.register_results);
        }
        performance(header, place);
        const Token name = lexer_.expect_name("the name of a function");
        header.name = name.text;
        header.line = name.line;
        const bool has_list = lexer_.peek().is('(');
        if (has_list) header.parameters = parse_parameters(lexer_, &place.register_parameters);
        if (header.is_entry)
            check_kernel_parameters(lexer_, name, header, place);
        else
            make_room(lexer_, name, header);
        performance(header, place);
        if (lexer_.peek().is('{')) {
            if (linkage.is_extern) lexer_.fail("';' after an .extern function");
            place.begin = lexer_.token_begin();
            place.line = lexer_.peek().line;
            if (header.is_entry && !has_list && declares_parameters_in_body(index_)) {
                place.declares_parameters = true;
                header.parameters = parse_body_parameters(lexer_);
                place.register_parameters.resize(header.parameters.size());
                check_kernel_parameters(lexer_, name, header, place);
            }
            lexer_.skip_braces();
        } else {
            header.is_declaration = true;
            // ptxas accepts declarations without ';', as compilers of PTX ISA 2 wrote them.
            if (!starts_statement(lexer_.peek()))
                lexer_.expect(';', "or a body after the header of a function");
        }
        const auto [known, is_new] =
            index_.function_index.try_emplace(header.name, uint32_t(index_.functions.size()));
        if (is_new) {
            index_.functions.push_back(std::move(header));
            index_.bodies.push_back(std::move(place));
        } else if (!header.is_declaration) {
            const uint32_t at = known->second;
            if (!index_.functions[at].is_declaration) {
                lexer_.fail(name, "a name that is not taken by another function");
            }
            place.is_noreturn = place.is_noreturn || index_.bodies[at].is_noreturn;
            index_.functions[at] = std::move(header);
            index_.bodies[at] = std::move(place);
        }
    }

    ModuleIndex& index_;
    Lexer lexer_;
};

}  // namespace

// nvcc writes non-ASCII bytes, quotes and backslashes of a path as \ooo or after a backslash.
static std::string without_escapes(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        size_t digits = 0;
        while (digits < 3 && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '7') {
            value = value * 8 + unsigned(text[++i] - '0');
            ++digits;
        }
        out += digits ? char(value) : text[++i];
    }
    return out;
}

void parse_file_directive(Lexer& lexer, SourceMap& sources) {
    const Token number = lexer.peek();
    const uint64_t index = lexer.expect_integer("the number of a file");
    if (index > UINT32_MAX) lexer.fail(number, "a smaller file number");
    const Token name = lexer.take();
    if (name.kind != Token::Kind::kString) lexer.fail(name, "the name of a file in quotes");
    sources.add_file(uint32_t(index), without_escapes(name.text));
    while (lexer.accept(',')) lexer.expect_integer("a time stamp or a size");
}

void index_module(ModuleIndex& index) {
    Indexer(index).run();
}

const FunctionHeader* ModuleIndex::find_function(std::string_view wanted) const {
    const auto alias = aliases.find(wanted);
    const auto found = function_index.find(alias == aliases.end() ? wanted : alias->second);
    return found == function_index.end() ? nullptr : &functions[found->second];
}

const Variable* ModuleIndex::find_variable(std::string_view wanted) const {
    const auto found = variable_index.find(wanted);
    return found == variable_index.end() ? nullptr : &variables[found->second];
}

bool ModuleIndex::declares(std::string_view wanted) const {
    return find_function(wanted) || find_variable(wanted) || aliases.contains(wanted);
}

}  // namespace ptx
