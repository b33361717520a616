// SPDX-License-Identifier: MIT
#include <bit>
#include <vector>

#include "ptx/parse/lexer.h"
#include "ptx_text.h"

using ptx::Lexer;
using ptx::Token;

namespace {

std::vector<Token> tokens(std::string_view text) {
    std::vector<Token> out;
    for (Lexer lexer(text, "t"); lexer.peek().kind != Token::Kind::kEnd;)
        out.push_back(lexer.take());
    return out;
}

Token only(std::string_view text) {
    const auto all = tokens(text);
    REQUIRE(all.size() == 1);
    return all[0];
}

bool refuses(std::string_view text) {
    try {
        tokens(text);
    } catch (const ptx::ParseError&) {
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE("lexer: names keep their percent and dollar signs", "[ptx][lexer]") {
    for (const char* name : {"%r1", "$L__BB0_1", "_", "_x", "a$b", "%p", "min", "_ZN1A$1"}) {
        CAPTURE(name);
        CHECK(only(name).kind == Token::Kind::kName);
        CHECK(only(name).text == name);
    }
}

TEST_CASE("lexer: a dotted token takes double colons and leading digits", "[ptx][lexer]") {
    const auto all = tokens("ld.global.L2::128B.v4.u32 x.1d");
    REQUIRE(all.size() == 7);
    CHECK(all[2].is_dotted(".L2::128B"));
    CHECK(all[4].is_dotted(".u32"));
    CHECK(all[6].is_dotted(".1d"));
}

TEST_CASE("lexer: integers in every base, with and without suffix", "[ptx][lexer]") {
    CHECK(only("0").bits == 0);
    CHECK(only("42").bits == 42);
    CHECK(only("0x1F").bits == 31);
    CHECK(only("0XfFu").bits == 255);
    CHECK(only("017").bits == 15);
    CHECK(only("0b101").bits == 5);
    CHECK(only("18446744073709551615").bits == UINT64_MAX);
    CHECK(only("7U").is_unsigned);
    CHECK_FALSE(only("7").is_unsigned);
}

TEST_CASE("lexer: hexadecimal floats are bit patterns, decimal ones are doubles", "[ptx][lexer]") {
    CHECK(only("0f3F800000").kind == Token::Kind::kFloat32);
    CHECK(only("0F3f800000").bits == 0x3f800000u);
    CHECK(only("0d3FF0000000000000").kind == Token::Kind::kFloat64);
    CHECK(only("0d3FF0000000000000").bits == 0x3ff0000000000000u);
    CHECK(std::bit_cast<double>(only("1.5").bits) == 1.5);
    CHECK(std::bit_cast<double>(only("2.").bits) == 2.0);
    CHECK(std::bit_cast<double>(only("1e3").bits) == 1000.0);
    CHECK(std::bit_cast<double>(only("1.5E-2").bits) == 1.5e-2);
}

TEST_CASE("lexer: comments and strings hide what is in them", "[ptx][lexer]") {
    const auto all = tokens("a // b { \" \n /* c\n } */ \"d // } \\\" e\" f");
    REQUIRE(all.size() == 3);
    CHECK(all[1].kind == Token::Kind::kString);
    CHECK(all[1].text == "d // } \\\" e");
    CHECK(all[2].line == 3);
}

TEST_CASE("lexer: braces are skipped whatever strings and comments hold", "[ptx][lexer]") {
    Lexer lexer("{ { \"}\" } // }\n /* } */ a/b } tail", "t");
    lexer.skip_braces();
    CHECK(lexer.peek().is_name("tail"));
    CHECK(lexer.peek().line == 2);
}

TEST_CASE("lexer: what is no PTX is refused", "[ptx][lexer]") {
    for (const char* text : {"0x",
                             "0b",
                             "0b2",
                             "08",
                             "0f3F80",
                             "0d123",
                             "18446744073709551616",
                             "12ab",
                             "\"open",
                             "/* open",
                             "\x01",
                             "\xc3\xa4",
                             "`",
                             "#"}) {
        CAPTURE(text);
        CHECK(refuses(text));
    }
}
