// SPDX-License-Identifier: MIT
#include "ptx/parse/initialiser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/parse/expression.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

// A limit, since gaps between rows can make a short initialiser large.
constexpr uint64_t kMaxInitialBytes = uint64_t(1) << 28;

class Initialiser {
public:
    Initialiser(Lexer& lexer, const std::vector<uint64_t>& dimensions, bool unsized, Variable& out)
        : lexer_(lexer), dimensions_(dimensions), unsized_(unsized), out_(out),
          element_(byte_size(out.type)) {}

    uint64_t parse() {
        if (dimensions_.empty()) {
            parse_element(0);
            return element_;
        }
        if (lexer_.peek().kind == Token::Kind::kString) return parse_string();
        return parse_list(0, 0);
    }

private:
    uint64_t row_bytes(size_t depth) const {
        uint64_t bytes = element_;
        for (size_t i = depth + 1; i < dimensions_.size(); ++i) bytes *= dimensions_[i];
        return bytes;
    }

    // `{ ... }` for dimension `depth`, at byte `start`, with braces around each row. Recursion is
    // bounded by the number of dimensions. Returns the end of the last element.
    uint64_t parse_list(size_t depth, uint64_t start) {
        const Token open = lexer_.peek();
        lexer_.expect('{', "before the values of an array");
        const uint64_t row = row_bytes(depth);
        const bool bounded = depth > 0 || !unsized_;
        const uint64_t limit = start + (bounded ? row * dimensions_[depth] : kMaxInitialBytes);
        uint64_t at = start;
        while (!lexer_.accept('}')) {
            const Token& token = lexer_.peek();
            if (token.is('{')) {
                if (depth + 1 >= dimensions_.size())
                    lexer_.fail("a value: the array has fewer dimensions");
                at = start + (at - start + row - 1) / (row ? row : 1) * row;  // next whole row
                if (row == 0 || at + row > limit) lexer_.fail("fewer values");
                parse_list(depth + 1, at);
                at += row;
            } else {
                if (depth + 1 < dimensions_.size())
                    lexer_.fail("braces around the values of a row");
                if (element_ == 0 || at + element_ > limit)
                    lexer_.fail("fewer values: the array is full");
                if (token.kind == Token::Kind::kInteger && !is_float(out_.type) &&
                    lexer_.after_token() == ',') {
                    at = take_integers(at, limit);
                    continue;
                }
                parse_element(at);
                at += element_;
            }
            if (lexer_.accept('}')) break;
            lexer_.expect(',', "between values");
        }
        if (at > kMaxInitialBytes) lexer_.fail(open, "a smaller initialiser");
        if (depth == 0 && unsized_) at = (at + row - 1) / (row ? row : 1) * row;
        return at;
    }

    // A sequence of plain numbers, each followed by a comma. Returns the end of the last one's
    // bytes.
    uint64_t take_integers(uint64_t at, uint64_t limit) {
        numbers_.clear();
        lexer_.take_integers(numbers_);
        if (numbers_.size() > (limit - at) / element_) {
            lexer_.fail("fewer values: the array is full");
        }
        const uint64_t end = at + numbers_.size() * element_;
        if (end > kMaxInitialBytes) lexer_.fail("a smaller initialiser");
        if (out_.initial.size() < end) out_.initial.resize(size_t(end));
        for (const uint64_t number : numbers_) {
            std::memcpy(
                out_.initial.data() + at, &number, std::min<uint64_t>(element_, sizeof number));
            at += element_;
        }
        return at;
    }

    uint64_t parse_string() {
        const Token token = lexer_.take();
        if (element_ != 1) lexer_.fail(token, "an array of bytes for a string");
        uint64_t at = 0;
        for (size_t i = 0; i < token.text.size(); ++i, ++at) {
            char c = token.text[i];
            if (c == '\\' && i + 1 < token.text.size()) {
                c = token.text[++i];
                switch (c) {
                case 'n':
                    c = '\n';
                    break;
                case 't':
                    c = '\t';
                    break;
                case 'r':
                    c = '\r';
                    break;
                case '0':
                    c = '\0';
                    break;
                default:
                    break;
                }
            }
            store(at, uint8_t(c));
        }
        store(at++, 0);
        if (!unsized_ && at > row_bytes(0) * dimensions_[0]) {
            if (at - 1 > row_bytes(0) * dimensions_[0]) lexer_.fail(token, "a shorter string");
            out_.initial.pop_back();  // as in C, the final NUL may not fit
            --at;
        }
        return at;
    }

    void store(uint64_t at, uint64_t bits) {
        if (at + element_ > kMaxInitialBytes) lexer_.fail("a smaller initialiser");
        if (out_.initial.size() < at + element_) out_.initial.resize(size_t(at + element_));
        uint8_t bytes[16] = {};
        std::memcpy(bytes, &bits, sizeof bits);
        std::memcpy(out_.initial.data() + at, bytes, element_);
    }

    uint64_t encode(const Token& token, const Constant& value) {
        if (is_float(out_.type) && !value.is_float())
            lexer_.fail(token, "a number with a point or 0f... for this type");
        switch (out_.type) {
        case Type::kF32:
        case Type::kTf32:
            if (value.kind == Constant::Kind::kFloat32) return value.bits;
            return std::bit_cast<uint32_t>(float(value.as_double()));
        case Type::kF64:
            return std::bit_cast<uint64_t>(value.as_double());
        default:
            break;
        }
        if (!value.is_float()) return value.bits;
        // A float's bit pattern in an untyped word: `.b32 x = 0f3F800000`.
        if (value.kind == Constant::Kind::kFloat32 && out_.type == Type::kB32) return value.bits;
        if (value.kind == Constant::Kind::kFloat64 && out_.type == Type::kB64) return value.bits;
        lexer_.fail(token, "an integer for this type");
    }

    void parse_element(uint64_t at) {
        const Token first = lexer_.peek();
        if (first.kind == Token::Kind::kName && first.text != "WARP_SZ") {
            parse_symbol(at);
            return;
        }
        if (first.kind == Token::Kind::kInteger && lexer_.after_token() == '(') {
            parse_masked(at);
            return;
        }
        store(at, encode(first, parse_constant(lexer_)));
    }

    struct Symbol {
        std::string_view name;
        int64_t addend = 0;
        bool generic = false;
    };

    // sym, sym+4, generic(sym), generic(sym)+4, generic(sym+4)
    Symbol parse_address() {
        Symbol out;
        const Token name = lexer_.expect_name("the name of a variable or function");
        out.name = name.text;
        if (name.text == "generic" && lexer_.accept('(')) {
            out.generic = true;
            out.name = lexer_.expect_name("a name after generic(").text;
            out.addend = parse_offset(lexer_);
            lexer_.expect(')', "after generic(");
        }
        out.addend = int64_t(uint64_t(out.addend) + uint64_t(parse_offset(lexer_)));
        return out;
    }

    void parse_symbol(uint64_t at) {
        const Token first = lexer_.peek();
        if ((element_ != 4 && element_ != 8) || is_float(out_.type))
            lexer_.fail(first, "a number: an address needs an integer of 4 or 8 bytes");
        const Symbol symbol = parse_address();
        store(at, 0);
        out_.fixups.push_back({at, symbol.name, symbol.addend, symbol.generic, uint8_t(element_)});
    }

    // `0xFF(sym), 0xFF00(sym), ...`: bytes of an address (PTX ISA "Initializers", mask()).
    void parse_masked(uint64_t at) {
        const Token first = lexer_.take();
        lexer_.expect('(', "after a mask");
        const Symbol symbol = parse_address();
        lexer_.expect(')', "after a masked address");
        const unsigned shift = unsigned(std::countr_zero(first.bits | uint64_t(1) << 63));
        if (element_ != 1 || shift % 8 != 0 || first.bits != uint64_t(0xff) << shift) {
            lexer_.fail(first, "a mask of one byte, such as 0xFF00, for a variable of bytes");
        }
        const uint64_t index = shift / 8;
        store(at, 0);
        if (!out_.fixups.empty() && index > 0) {
            SymbolFixup& last = out_.fixups.back();
            if (last.offset + index == at && last.bytes == index && last.shift == 0 &&
                last.symbol == symbol.name && last.addend == symbol.addend) {
                ++last.bytes;
                return;
            }
        }
        out_.fixups.push_back({at, symbol.name, symbol.addend, symbol.generic, 1, uint8_t(shift)});
    }

    Lexer& lexer_;
    const std::vector<uint64_t>& dimensions_;
    const bool unsized_;
    Variable& out_;
    const uint64_t element_;
    std::vector<uint64_t> numbers_;
};

}  // namespace

uint64_t parse_initialiser(Lexer& lexer, const std::vector<uint64_t>& dimensions, bool unsized,
                           Variable& out) {
    return Initialiser(lexer, dimensions, unsized, out).parse();
}

}  // namespace ptx
