// SPDX-License-Identifier: MIT
// A parsed PTX module: the text with scopes and names resolved, nothing executed. Functions are
// parsed on first use, so that loading a megabyte of PTX costs only its index.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ptx {

// PTX ISA "State Spaces". kGeneric: no space was written on a ld/st/atom.
enum class Space : uint8_t { kNone, kGeneric, kParam, kGlobal, kShared, kLocal, kConst };

// PTX ISA "Fundamental Types" and "Alternate Floating-Point Data Formats".
enum class Type : uint8_t {
    kNone,
    kPred,
    kB8,
    kB16,
    kB32,
    kB64,
    kB128,
    kU8,
    kU16,
    kU32,
    kU64,
    kS8,
    kS16,
    kS32,
    kS64,
    kF16,
    kF16x2,
    kBf16,
    kBf16x2,
    kTf32,
    kF32,
    kF64,
    kF32x2,
};
constexpr unsigned byte_size(Type type);  // 0 for kNone and kPred
constexpr bool is_float(Type type);
constexpr bool is_signed(Type type);

enum class Opcode : uint16_t {
    kUnknown,
#define PTX_OPCODE(name, ...) k_##name,
#include "ptx/instructions.def"
    kCount,
};

// Every dotted token that is neither a type, a space nor a vector width.
enum class Mod : uint16_t {
#define PTX_MODIFIER(name, spelling) k_##name,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
    kCount,
};

// Predefined read-only registers that a kernel may name as an operand.
enum class Special : uint8_t {
#define PTX_SPECIAL(name, ...) k_##name,
#include "ptx/specials.def"
#undef PTX_SPECIAL
    kCount,
};

struct Operand {
    enum class Kind : uint8_t {
        kNone,
        kRegister,   // `index` into Function::registers; `negated` for !%p and, in vmad, -%r
        kImmediate,  // `bits`, `literal`
        kSymbol,     // the address of something: see `target`, plus `offset`
        kAddress,    // [ ... ]: elements[0] is kRegister, kSymbol or kImmediate; plus `offset`;
                     // a texture reference [t, {x, y}] carries the coordinates as elements[1]
        kVector,     // {a, b, ...}: elements
        kPair,       // p|q: elements[0], elements[1]
        kList,   // (a, b, ...): arguments or results of a call; may be empty. A call's operands are
                 // always {results kList, callee, arguments kList[, prototype]}, and the lists hold
                 // only kSymbol and kSink: registers and constants have been moved to .param
                 // variables.
        kLabel,  // `index` of the instruction that follows the label
        kSpecial,  // `special`
        kSink,     // _
    };
    // What a kSymbol refers to. The parser resolves scopes, so an index is unambiguous.
    enum class Target : uint8_t {
        kNone,
        kVariable,   // `index` into Function::variables
        kParameter,  // `index` into Function::parameters
        kResult,     // `index` into Function::results
        kModule,     // `name`: a module variable, a function or a prototype label
    };
    enum class Literal : uint8_t { kInteger, kFloat32, kFloat64 };

    Kind kind = Kind::kNone;
    Target target = Target::kNone;
    Literal literal = Literal::kInteger;
    Special special{};
    bool negated = false;
    uint32_t index = 0;
    uint64_t bits = 0;   // integer: two's complement, 64 bits; kFloat32: low 32 bits; kFloat64: all
    int64_t offset = 0;  // bytes
    std::string_view name;      // points into the module's text
    std::string_view selector;  // of a register in a video instruction: `b2`, `h10`
    std::vector<Operand> elements;
};

struct Instruction {
    Opcode opcode = Opcode::kUnknown;
    Space space = Space::kNone;   // first written space; kGeneric where an access names none
    Space space2 = Space::kNone;  // second one (cvta.to.x, cp.async.shared.global)
    uint8_t vector = 1;           // 1, 2, 4 or 8 elements
    bool guarded = false, guard_negated = false;
    uint32_t guard = 0;  // register index of @p
    std::vector<Type>
        types;  // in the order written: setp.lt.s32 -> {kS32}, cvt.u64.u32 -> {kU64, kU32}
    std::bitset<size_t(Mod::kCount)> mods;
    std::vector<Operand> operands;
    uint32_t location = 0;  // SourceMap id; 0: none
    uint32_t line = 0;      // 1-based line in the PTX text
    std::string_view text;  // the mnemonic with its modifiers, as written

    bool has(Mod mod) const { return mods.test(size_t(mod)); }
    Type type(size_t i = 0) const { return i < types.size() ? types[i] : Type::kNone; }
};

// A pointer stored in an initialiser: the bytes at `offset` get the address of `symbol` + addend.
struct SymbolFixup {
    uint64_t offset;
    std::string_view symbol;
    int64_t addend;
    bool generic;       // written as generic(symbol)
    uint8_t bytes;      // 4 or 8; with the mask operator, the number of consecutive bytes
    uint8_t shift = 0;  // in bits: the mask operator may start above the lowest byte
};

struct Variable {
    std::string_view name;
    Space space = Space::kNone;
    Type type = Type::kNone;
    uint32_t align = 1;
    uint32_t line = 0;   // in the PTX text
    uint64_t bytes = 0;  // 0 for an unsized array such as dynamic shared memory
    bool is_array = false, is_extern = false, is_managed = false, is_texture = false,
         is_surface = false;
    bool is_exported = false;        // .visible, .weak or .common: other modules may name it
    bool is_weak = false;            // .weak or .common: there may be several
    std::vector<std::byte> initial;  // shorter than `bytes`: the rest is zero
    std::vector<SymbolFixup> fixups;
};

struct Parameter {
    std::string_view name;
    Type type = Type::kNone;
    uint32_t align = 1;
    uint32_t bytes = 0;
    uint32_t offset = 0;  // within the parameter block: the previous end, aligned up
    bool is_array = false;
    // `.param .b8 more[]`, the last parameter of a function: callers may pass an array of any size.
    // Its `bytes` are the size reserved for it.
    bool is_unsized = false;
    uint8_t vector = 1;  // elements of a vector register, in old-style parameters: `.reg .v2 .u32`
};

struct Register {
    std::string_view name;
    Type type = Type::kNone;
};

struct Function {
    std::string_view name;
    bool is_entry = false, is_noreturn = false;
    bool is_declaration = false;  // .extern or a prototype without a body
    std::vector<Parameter> parameters, results;
    std::vector<Register> registers;  // those that the body names, in order of first use
    std::vector<Variable> variables;  // .local, .shared, .param and .const declared in the body
    // Always ends in a terminator: the parser appends a `ret` where the text has none.
    std::vector<Instruction> body;
    uint32_t max_threads = 0;  // .maxntid product; 0: not given
    uint32_t line = 0;         // PTX line of the header
    // Tables for brx.idx: operand kModule name -> instruction indexes.
    struct BranchTargets {
        std::string_view name;
        std::vector<uint32_t> targets;
    };
    std::vector<BranchTargets> branch_targets;
    // .callprototype label: results and parameters of an indirect call.
    struct Prototype {
        std::string_view name;
        std::vector<Parameter> parameters, results;
    };
    std::vector<Prototype> prototypes;
};

// What the header of a function declares, without its body.
struct FunctionHeader {
    std::string_view name;
    bool is_entry = false, is_declaration = false;
    bool is_exported = false;  // .visible or .weak: other modules may name it
    bool is_weak = false;      // there may be several
    std::vector<Parameter> parameters, results;
    uint32_t max_threads = 0;                         // of .maxntid or .reqntid; 0: not given
    std::array<uint32_t, 3> required_block{0, 0, 0};  // of .reqntid; zeros: not given
    uint32_t line = 0;
};

struct SourceLine {
    std::string file;  // as .file names it; empty when unknown
    uint32_t line = 0;
    uint32_t column = 0;
    std::string function;  // of the innermost inlined function, when the text names it
};

struct Unsupported {
    std::string text;  // the opcode or directive as written
    uint32_t line;     // in the PTX text
};

// The text is not PTX, or not PTX that this reader supports. what() has line, token and advice.
class ParseError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The text is of a PTX ISA that is newer than this reader.
class UnsupportedVersion : public ParseError {
public:
    using ParseError::ParseError;
};

class Module {
public:
    // Takes ownership of the text. Throws ParseError. `name` is only for messages.
    static std::unique_ptr<Module> open(std::string text, std::string name);
    virtual ~Module() = default;

    virtual unsigned target() const = 0;         // 75 for sm_75
    virtual unsigned version_major() const = 0;  // PTX ISA version
    virtual unsigned version_minor() const = 0;
    virtual const std::vector<Variable>& variables() const = 0;
    virtual const std::vector<FunctionHeader>& functions() const = 0;
    // Parses the body on first use; null when there is no such function. Throws ParseError.
    virtual const Function* function(std::string_view name) = 0;
    // Opcodes of `function` that are not in the table; the caller refuses to run it. Parses the
    // function if necessary.
    virtual std::vector<Unsupported> unsupported(std::string_view function) = 0;

    // The source lines of a location id, innermost first, then where each was inlined.
    virtual std::vector<SourceLine> inline_chain(uint32_t location) const = 0;
    // The line that a finding is attributed to: the first of the chain in a file of the user's (not
    // under a CUDA toolkit's or the compiler's include directories), else the outermost.
    virtual SourceLine user_line(uint32_t location) const = 0;
    // Whether that line is in a file of the user's: false inside a toolkit's own function.
    virtual bool in_user_file(uint32_t location) const = 0;
};

constexpr unsigned byte_size(Type type) {
    switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
        return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
        return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kTf32:
    case Type::kF16x2:
    case Type::kBf16x2:
        return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
    case Type::kF32x2:
        return 8;
    case Type::kB128:
        return 16;
    default:
        return 0;
    }
}
constexpr bool is_float(Type type) {
    return type >= Type::kF16;
}
constexpr bool is_signed(Type type) {
    return type >= Type::kS8 && type <= Type::kS64;
}

}  // namespace ptx
