// SPDX-License-Identifier: MIT
// Registers of a body: ranges, vectors, and the lookup of names.
#include <charconv>

#include "ptx/parse/body.h"

namespace ptx {
namespace {

constexpr uint64_t kMaxRange = uint64_t(1) << 24;
constexpr uint32_t kMaxDense = 4096;
constexpr size_t kMaxRegisters = size_t(1) << 22;

// 0 to 3 for x y z w (or r g b a); 4: none of them.
uint32_t component(std::string_view suffix) {
    if (suffix.size() != 1) return 4;
    for (const std::string_view letters : {"xyzw", "rgba"}) {
        const size_t at = letters.find(suffix[0]);
        if (at != std::string_view::npos) return uint32_t(at);
    }
    return 4;
}

bool is_selector(std::string_view suffix) {
    if (suffix.size() < 2 || suffix.size() > 5 || (suffix[0] != 'b' && suffix[0] != 'h'))
        return false;
    return suffix.find_first_not_of("01234567", 1) == std::string_view::npos;
}

Operand register_operand(uint32_t index, std::string_view name) {
    Operand out;
    out.kind = Operand::Kind::kRegister;
    out.index = index;
    out.name = name;
    return out;
}

}  // namespace

uint32_t BodyParser::use_register(std::string_view name, Type type) {
    if (out_.registers.size() >= kMaxRegisters) lexer_.fail("fewer registers in one function");
    out_.registers.push_back({name, type});
    return uint32_t(out_.registers.size());  // index + 1
}

void BodyParser::declare_register(const Token& name, const Specifiers& specifiers) {
    Scope& scope = scopes_.back();
    if (name.text == "_" || name.text == "WARP_SZ")
        lexer_.fail(name, "another name: this one is predefined");
    if (lexer_.accept('<')) {
        const Token count = lexer_.peek();
        const uint64_t wanted = lexer_.expect_integer("how many registers");
        if (wanted > kMaxRange) lexer_.fail(count, "fewer registers");
        lexer_.expect('>', "after the number of registers");
        Range range;
        range.type = specifiers.type;
        range.count = uint32_t(wanted);
        range.vector = specifiers.vector;
        if (!scope.ranges.try_emplace(name.text, std::move(range)).second) {
            lexer_.fail(name, "a range of registers that is not declared twice in one block");
        }
        return;
    }
    for (const auto& [prefix, range] : scope.ranges) {
        const std::string_view digits =
            name.text.starts_with(prefix) ? name.text.substr(prefix.size()) : std::string_view{};
        uint32_t number = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool plain = digits == "0" || (!digits.empty() && digits[0] != '0');
        if (plain && read.ec == std::errc() && read.ptr == digits.data() + digits.size() &&
            number < range.count)
            lexer_.fail(name, "a name that is not declared twice in one block");
    }
    Symbol symbol;
    symbol.type = specifiers.type;
    symbol.vector = specifiers.vector;
    symbol.elements.resize(specifiers.vector > 1 ? specifiers.vector : 0);
    if (!scope.names.try_emplace(name.text, std::move(symbol)).second) {
        lexer_.fail(name, "a name that is not declared twice in one block");
    }
}

bool BodyParser::find_in_ranges(Scope& scope, std::string_view name, std::string_view suffix,
                                Found& out) {
    if (scope.ranges.empty()) return false;
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    // `%r12` is number 12 of `%r`, or number 2 of a range called `%r1`.
    uint64_t number = 0;
    for (size_t split = name.size(), scale = 1; split-- > digits;) {
        if (name.size() - split > 8) break;
        number += uint64_t(name[split] - '0') * scale;
        scale *= 10;
        if (name[split] == '0' && split + 1 != name.size()) continue;  // %r012 is not a register
        const auto found = scope.ranges.find(name.substr(0, split));
        if (found == scope.ranges.end() || number >= found->second.count) continue;
        Range& range = found->second;
        const uint32_t wanted = uint32_t(number);
        if (wanted < kMaxDense && range.dense.size() <= wanted) {
            range.dense.resize(std::min<size_t>(
                range.count,
                std::max<size_t>(wanted + 1, std::min<size_t>(2 * wanted, kMaxDense))));
        }
        uint32_t& slot = wanted < kMaxDense ? range.dense[wanted] : range.sparse[wanted];
        if (slot == 0) {
            slot = use_register(name, range.type);
            for (uint8_t i = 1; i < range.vector; ++i) use_register(name, range.type);
        }
        if (range.vector == 1) {
            out.selector = is_selector(suffix);
            out.found = suffix.empty() || out.selector;
            out.operand = register_operand(slot - 1, name);
        } else if (suffix.empty()) {
            out.found = true;
            out.operand = {};
            out.operand.kind = Operand::Kind::kVector;
            for (uint32_t i = 0; i < range.vector; ++i)
                out.operand.elements.push_back(register_operand(slot - 1 + i, name));
        } else if (const uint32_t i = component(suffix); i < range.vector) {
            out.found = true;
            out.operand = register_operand(slot - 1 + i, name);
        }
        return true;
    }
    return false;
}

bool BodyParser::find_in_scope(Scope& scope, std::string_view name, std::string_view suffix,
                               Found& out) {
    const auto named = scope.names.find(name);
    if (named == scope.names.end()) {
        return find_in_ranges(scope, name, suffix, out);
    }
    Symbol& symbol = named->second;
    if (symbol.kind == Symbol::Kind::kVariable) {
        out.found = suffix.empty();
        out.operand.kind = Operand::Kind::kSymbol;
        out.operand.target = Operand::Target::kVariable;
        out.operand.index = symbol.index;
        out.operand.name = name;
        return true;
    }
    const auto element = [&](uint32_t i, std::string_view spelled) {
        uint32_t& slot = symbol.vector > 1 ? symbol.elements[i] : symbol.index;
        if (slot == 0) slot = use_register(spelled, symbol.type);
        return register_operand(slot - 1, spelled);
    };
    if (symbol.vector == 1) {
        out.selector = is_selector(suffix);
        out.found = suffix.empty() || out.selector;
        out.operand = element(0, name);
    } else if (suffix.empty()) {
        out.found = true;
        out.operand.kind = Operand::Kind::kVector;
        for (uint32_t i = 0; i < symbol.vector; ++i)
            out.operand.elements.push_back(element(i, name));
    } else {
        const uint32_t i = component(suffix);
        out.found = i < symbol.vector;
        // `v.x` is contiguous in the text.
        const std::string_view spelled(name.data(), name.size() + 1 + suffix.size());
        if (out.found) out.operand = element(i, spelled);
    }
    return true;
}

BodyParser::Found BodyParser::find(std::string_view name, std::string_view suffix) {
    Found out;
    for (size_t i = scopes_.size(); i-- > 0;) {
        if (find_in_scope(scopes_[i], name, suffix, out)) return out;
    }
    if (find_in_scope(module_scope_, name, suffix, out) && !out_.is_entry)
        lexer_.fail(
            lexer_.peek().line,
            name,
            "registers and .local variables outside of functions are only supported in kernels: "
            "expected a parameter");
    return out;
}

}  // namespace ptx
