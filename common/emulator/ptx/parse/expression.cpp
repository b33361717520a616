// SPDX-License-Identifier: MIT
#include "ptx/parse/expression.h"

#include <bit>

namespace ptx {
namespace {

// More than any real text needs, and within the size of every thread's stack.
constexpr unsigned kMaxDepth = 200;

struct Operator {
    int precedence = 0;  // 0: not a binary operator
    uint16_t code = 0;
};

constexpr uint16_t two(char a, char b) {
    return uint16_t(uint8_t(a) << 8 | uint8_t(b));
}

Operator binary_operator(const Token& token) {
    if (token.kind != Token::Kind::kPunct) return {};
    switch (token.punct) {
    case '*':
    case '/':
    case '%':
        return {10, token.punct};
    case '+':
    case '-':
        return {9, token.punct};
    case two('<', '<'):
    case two('>', '>'):
        return {8, token.punct};
    case '<':
    case '>':
    case two('<', '='):
    case two('>', '='):
        return {7, token.punct};
    case two('=', '='):
    case two('!', '='):
        return {6, token.punct};
    case '&':
        return {5, token.punct};
    case '^':
        return {4, token.punct};
    case '|':
        return {3, token.punct};
    case two('&', '&'):
        return {2, token.punct};
    case two('|', '|'):
        return {1, token.punct};
    default:
        return {};
    }
}

bool truth(const Constant& value) {
    return value.is_float() ? value.as_double() != 0 : value.bits != 0;
}

Constant truth_value(bool value) {
    return {Constant::Kind::kSigned, value};
}

Constant combine_floats(Lexer& lexer, const Token& token, double a, double b) {
    const auto number = [](double value) {
        return Constant{Constant::Kind::kFloat64, std::bit_cast<uint64_t>(value)};
    };
    switch (token.punct) {
    case '+':
        return number(a + b);
    case '-':
        return number(a - b);
    case '*':
        return number(a * b);
    case '/':
        return number(a / b);
    case '<':
        return truth_value(a < b);
    case '>':
        return truth_value(a > b);
    case two('<', '='):
        return truth_value(a <= b);
    case two('>', '='):
        return truth_value(a >= b);
    case two('=', '='):
        return truth_value(a == b);
    case two('!', '='):
        return truth_value(a != b);
    default:
        lexer.fail(token, "an operator for floating-point constants");
    }
}

Constant combine_integers(Lexer& lexer, const Token& token, const Constant& a, const Constant& b) {
    const bool is_unsigned =
        a.kind == Constant::Kind::kUnsigned || b.kind == Constant::Kind::kUnsigned;
    const Constant::Kind kind = is_unsigned ? Constant::Kind::kUnsigned : Constant::Kind::kSigned;
    const uint64_t x = a.bits, y = b.bits;
    const int64_t sx = int64_t(x), sy = int64_t(y);
    const auto compare = [&](auto f) { return truth_value(is_unsigned ? f(x, y) : f(sx, sy)); };
    switch (token.punct) {
    case '*':
        return {kind, x * y};
    case '+':
        return {kind, x + y};
    case '-':
        return {kind, x - y};
    case '/':
    case '%': {
        if (y == 0) lexer.fail(token.line, token.text, "division by zero in a constant expression");
        const bool divides = token.punct == '/';
        if (is_unsigned) return {kind, divides ? x / y : x % y};
        if (sy == -1) return {kind, divides ? 0 - x : 0};  // INT64_MIN / -1 overflows
        return {kind, uint64_t(divides ? sx / sy : sx % sy)};
    }
    case two('<', '<'):
        return {a.kind, y < 64 ? x << y : 0};
    case two('>', '>'):
        if (a.kind == Constant::Kind::kUnsigned) return {a.kind, y < 64 ? x >> y : 0};
        return {a.kind, uint64_t(sx >> (y < 64 ? y : 63))};
    case '<':
        return compare([](auto p, auto q) { return p < q; });
    case '>':
        return compare([](auto p, auto q) { return p > q; });
    case two('<', '='):
        return compare([](auto p, auto q) { return p <= q; });
    case two('>', '='):
        return compare([](auto p, auto q) { return p >= q; });
    case two('=', '='):
        return truth_value(x == y);
    case two('!', '='):
        return truth_value(x != y);
    case '&':
        return {kind, x & y};
    case '^':
        return {kind, x ^ y};
    case '|':
        return {kind, x | y};
    default:
        lexer.fail(token, "an operator");
    }
}

Constant parse(Lexer& lexer, int minimum, unsigned depth);

Constant parse_unary(Lexer& lexer, unsigned depth) {
    if (depth > kMaxDepth) lexer.fail("a constant expression that is nested less deeply");
    const Token token = lexer.peek();
    switch (token.kind) {
    case Token::Kind::kInteger: {
        lexer.advance();
        const bool is_unsigned = token.is_unsigned || token.bits >> 63 != 0;
        return {is_unsigned ? Constant::Kind::kUnsigned : Constant::Kind::kSigned, token.bits};
    }
    case Token::Kind::kFloat32:
        lexer.advance();
        return {Constant::Kind::kFloat32, token.bits};
    case Token::Kind::kFloat64:
        lexer.advance();
        return {Constant::Kind::kFloat64, token.bits};
    case Token::Kind::kName:
        if (token.text != "WARP_SZ") break;
        lexer.advance();
        return {Constant::Kind::kSigned, 32};
    case Token::Kind::kPunct:
        if (token.is('(')) {
            lexer.advance();
            if (lexer.peek().is_dotted(".s64") || lexer.peek().is_dotted(".u64")) {
                const bool is_signed = lexer.take().text == ".s64";
                lexer.expect(')', "after the type of a cast");
                Constant value = parse_unary(lexer, depth + 1);
                if (value.is_float()) lexer.fail(token, "an integer after a cast");
                value.kind = is_signed ? Constant::Kind::kSigned : Constant::Kind::kUnsigned;
                return value;
            }
            const Constant value = parse(lexer, 0, depth + 1);
            lexer.expect(')', "in a constant expression");
            return value;
        }
        if (token.is('+') || token.is('-') || token.is('!') || token.is('~')) {
            lexer.advance();
            Constant value = parse_unary(lexer, depth + 1);
            if (token.is('!')) return truth_value(!truth(value));
            if (token.is('~')) {
                if (value.is_float()) lexer.fail(token, "an integer after '~'");
                value.bits = ~value.bits;
            } else if (token.is('-')) {
                if (value.kind == Constant::Kind::kFloat32)
                    value.bits ^= 0x80000000u;
                else if (value.is_float())
                    value.bits ^= uint64_t(1) << 63;
                else
                    value.bits = 0 - value.bits;
            }
            return value;
        }
        break;
    default:
        break;
    }
    lexer.fail("a constant");
}

// Precedence climbing; with `minimum` 0 it also parses the conditional operator.
Constant parse(Lexer& lexer, int minimum, unsigned depth) {
    if (depth > kMaxDepth) lexer.fail("a constant expression that is nested less deeply");
    Constant left = parse_unary(lexer, depth + 1);
    for (;;) {
        const Token token = lexer.peek();
        const Operator op = binary_operator(token);
        if (op.precedence == 0 || op.precedence <= minimum) break;
        lexer.advance();
        const Constant right = parse(lexer, op.precedence, depth + 1);
        if (token.is('&', '&'))
            left = truth_value(truth(left) && truth(right));
        else if (token.is('|', '|'))
            left = truth_value(truth(left) || truth(right));
        else if (left.is_float() || right.is_float())
            left = combine_floats(lexer, token, left.as_double(), right.as_double());
        else
            left = combine_integers(lexer, token, left, right);
    }
    if (minimum == 0 && lexer.accept('?')) {
        const Constant yes = parse(lexer, 0, depth + 1);
        lexer.expect(':', "of a conditional expression");
        const Constant no = parse(lexer, 0, depth + 1);
        return truth(left) ? yes : no;
    }
    return left;
}

}  // namespace

double Constant::as_double() const {
    switch (kind) {
    case Kind::kFloat32:
        return double(std::bit_cast<float>(uint32_t(bits)));
    case Kind::kFloat64:
        return std::bit_cast<double>(bits);
    case Kind::kUnsigned:
        return double(bits);
    case Kind::kSigned:
        break;
    }
    return double(int64_t(bits));
}

Constant parse_constant(Lexer& lexer) {
    return parse(lexer, 0, 0);
}

Constant parse_unary_constant(Lexer& lexer) {
    return parse_unary(lexer, 0);
}

uint64_t parse_integer(Lexer& lexer, std::string_view what) {
    const Token first = lexer.peek();
    const Constant value = parse_constant(lexer);
    if (value.is_float()) lexer.fail(first, what);
    return value.bits;
}

int64_t parse_offset(Lexer& lexer) {
    uint64_t offset = 0;
    while (lexer.peek().is('+') || lexer.peek().is('-')) {
        const bool negative = lexer.take().is('-');
        const Token first = lexer.peek();
        // `sym + 4*2 - 1`: multiplications bind tighter, so take one term at a time.
        const Constant term = parse(lexer, 9, 0);
        if (term.is_float()) lexer.fail(first, "an integer offset");
        offset = negative ? offset - term.bits : offset + term.bits;
    }
    return int64_t(offset);
}

}  // namespace ptx
