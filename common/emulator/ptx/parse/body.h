// SPDX-License-Identifier: MIT
// The parser of one function body. Split over body.cpp (statements, scopes, labels), registers.cpp,
// instructions.cpp (mnemonics), operands.cpp, calls.cpp and lowering.cpp.
#pragma once

#include <optional>
#include <utility>

#include "ptx/parse/index.h"
#include "ptx/tables.h"

namespace ptx {

class BodyParser {
public:
    BodyParser(ModuleIndex& index, uint32_t function, Function& out,
               std::vector<Unsupported>& unsupported);
    void run();

private:
    // `.reg .b32 %r<80>`: %r0 to %r79. A register becomes one of Function::registers on first use.
    struct Range {
        Type type = Type::kNone;
        uint32_t count = 0;
        uint8_t vector = 1;           // the elements are consecutive in Function::registers
        std::vector<uint32_t> dense;  // number -> index + 1
        std::unordered_map<uint32_t, uint32_t> sparse;  // for large numbers
    };
    struct Symbol {
        enum class Kind : uint8_t { kRegister, kVariable } kind = Kind::kRegister;
        Type type = Type::kNone;
        uint32_t index = 0;              // variable, or register + 1 (0: not used yet)
        uint8_t vector = 1;              // a vector register has its elements here
        std::vector<uint32_t> elements;  // register + 1
    };
    // A label referred to by operand `operand` of an instruction, or by entry `operand` of a table.
    struct Wanted {
        std::string_view name;
        uint32_t line = 0, owner = 0, operand = 0;
        bool is_table = false;
    };
    struct Scope {
        std::unordered_map<std::string_view, Symbol> names;
        std::unordered_map<std::string_view, Range> ranges;  // by prefix
        std::unordered_map<std::string_view, uint32_t> labels;
        std::vector<Wanted> wanted;
    };
    struct Found {
        bool found = false;
        bool selector = false;  // `%r1.b0`, an element selector of the video instructions
        Operand operand;
    };

    // body.cpp
    void statement();
    void directive();
    void register_declaration();
    void declare_module_registers();
    void variable_declaration();
    void location();
    void label(const Token& name);
    void branch_targets(const Token& name);
    void call_targets(const Token& name);
    void call_prototype(const Token& name);
    void open_scope();
    void close_scope();
    void resolve(const Wanted& wanted, uint32_t target);
    void finish();
    void report(std::string_view text, uint32_t line);

    // registers.cpp
    void declare_register(const Token& name, const Specifiers& specifiers);
    Found find(std::string_view name, std::string_view suffix);
    bool find_in_scope(Scope& scope, std::string_view name, std::string_view suffix, Found& out);
    bool find_in_ranges(Scope& scope, std::string_view name, std::string_view suffix, Found& out);
    uint32_t use_register(std::string_view name, Type type);

    // instructions.cpp
    void instruction(Instruction& out);
    void mnemonic(Instruction& out);
    void call(Instruction& out);
    void branch(Instruction& out);
    void append(Instruction&& instruction);
    void append_return(uint32_t line);

    // calls.cpp
    void lower_call_registers(Instruction& out, const Token& place);
    void check_arguments(const Instruction& out, const std::vector<Parameter>& expected,
                         size_t list, const Token& place);
    std::vector<Instruction> move_parameter(const Instruction& model, bool is_store, Operand memory,
                                            Operand value, Type type);
    void move_registers(const std::vector<bool>& flags, bool results, const Instruction& model);

    // lowering.cpp
    Operand temporary(Type type);
    void append_move(const Instruction& model, Type type, Operand to, Operand from);
    void lower_specials(Instruction& out);
    void lower_parameter_address(Instruction& out);
    void lower_unsynchronized(Instruction& out);
    void copy_parameters();
    bool lower_vector_move(Instruction& out, const Token& place);
    void lower_sums(const Instruction& out, const Token& place);

    // operands.cpp
    Operand operand(unsigned depth);
    Operand reference();
    Operand address(unsigned depth);
    Operand list(char close, Operand::Kind kind, unsigned depth);
    Operand sum(Operand base, const Token& place);
    Operand constant();
    Operand module_symbol(const Token& name);
    uint64_t element_bytes(const Operand& symbol) const;

    ModuleIndex& index_;
    const BodyPlace& place_;
    Function& out_;
    std::vector<Unsupported>& unsupported_;
    Lexer lexer_;
    std::vector<Scope> scopes_;
    Scope module_scope_;  // registers outside of functions
    // .local variables of the module: each function gets its own.
    std::unordered_map<std::string_view, uint32_t> module_locals_;
    // Names that the module must declare, with the line that refers to them.
    std::vector<std::pair<std::string_view, uint32_t>> module_names_;
    std::unordered_map<std::string_view, uint32_t> all_labels_;  // kAmbiguous when declared twice
    // Parameters of a function whose address is taken, and the .local variables that replace them.
    std::unordered_map<uint32_t, uint32_t> parameter_copies_;
    // `%r1+4` in the instruction being parsed: the additions into its temporaries.
    std::vector<Instruction> sums_;
    uint32_t location_ = 0;
    size_t block_start_ = 0;              // the first instruction after the last label
    std::optional<size_t> without_line_;  // where instructions of line 0 began the block
    bool jumps_to_end_ = false;
    bool done_ = false;
    bool odd_operand_ = false;  // the instruction being parsed has a form that Operand cannot hold
};

inline Operand symbol_operand(Operand::Target target, uint32_t index, std::string_view name) {
    Operand out;
    out.kind = Operand::Kind::kSymbol;
    out.target = target;
    out.index = index;
    out.name = name;
    return out;
}

inline Operand address_of(Operand symbol) {
    Operand out;
    out.kind = Operand::Kind::kAddress;
    out.elements.push_back(std::move(symbol));
    return out;
}

}  // namespace ptx
