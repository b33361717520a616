// SPDX-License-Identifier: MIT
#include "ptx/parse/expression.h"

#include <bit>

#include "ptx_text.h"

namespace {

ptx::Constant evaluate(std::string_view text) {
    ptx::Lexer lexer(text, "t");
    const ptx::Constant value = ptx::parse_constant(lexer);
    REQUIRE(lexer.peek().kind == ptx::Token::Kind::kEnd);
    return value;
}

int64_t integer(std::string_view text) {
    return int64_t(evaluate(text).bits);
}

}  // namespace

TEST_CASE("expression: operators bind as in C", "[ptx][expression]") {
    CHECK(integer("1+2*3") == 7);
    CHECK(integer("(1+2)*3") == 9);
    CHECK(integer("20-5-3") == 12);
    CHECK(integer("1<<4|1") == 17);
    CHECK(integer("7&3^1") == 2);
    CHECK(integer("100/7%5") == 4);
    CHECK(integer("1<2&&3>=3") == 1);
    CHECK(integer("0||!5") == 0);
    CHECK(integer("1?2:3") == 2);
    CHECK(integer("0?2:0?4:5") == 5);
    CHECK(integer("~0") == -1);
    CHECK(integer("-4+-4") == -8);
    CHECK(integer("WARP_SZ*2") == 64);
}

TEST_CASE("expression: signedness decides division and right shift", "[ptx][expression]") {
    CHECK(integer("-8>>1") == -4);
    CHECK(integer("(.u64)-8>>60") == 15);
    CHECK(integer("-8/3") == -2);
    CHECK(integer("0xFFFFFFFFFFFFFFF8/2") == 0x7ffffffffffffffc);
    CHECK(integer("(.s64)0x8000000000000000/-1") == INT64_MIN);
    CHECK(integer("1<<64") == 0);
    CHECK(integer("-1>>200") == -1);
}

TEST_CASE("expression: a sign flips a float's bit, not its integer value", "[ptx][expression]") {
    CHECK(evaluate("-0f3F800000").bits == 0xbf800000u);
    CHECK(evaluate("-0f3F800000").kind == ptx::Constant::Kind::kFloat32);
    CHECK(std::bit_cast<double>(evaluate("1.5*-2").bits) == -3.0);
}

TEST_CASE("expression: a sum of offsets is taken term by term", "[ptx][expression]") {
    for (const auto& [text, value] :
         {std::pair{"+4", 4}, {"+-4", -4}, {"-4+2*3", 2}, {"+(1<<4)-1", 15}}) {
        CAPTURE(text);
        ptx::Lexer lexer(text, "t");
        CHECK(ptx::parse_offset(lexer) == value);
    }
}

TEST_CASE("expression: nonsense is refused, and depth is limited", "[ptx][expression]") {
    const std::string deep = std::string(100000, '(') + "1";
    const std::string minus = std::string(100000, '-') + "1";
    const std::string ternary = [] {
        std::string out;
        for (int i = 0; i < 100000; ++i) out += "1?";
        return out;
    }();
    for (const std::string& text : {std::string("1/0"),
                                    std::string("1%0"),
                                    std::string("~1.5"),
                                    std::string("1.5<<2"),
                                    std::string("("),
                                    std::string("1+"),
                                    std::string("x"),
                                    deep,
                                    minus,
                                    ternary}) {
        CAPTURE(text.substr(0, 20));
        ptx::Lexer lexer(text, "t");
        CHECK_THROWS_AS(ptx::parse_constant(lexer), ptx::ParseError);
    }
}
