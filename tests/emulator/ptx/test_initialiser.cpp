// SPDX-License-Identifier: MIT
#include <cstring>
#include <vector>

#include "ptx_text.h"

namespace {

// Names point into a module's text, so the modules stay.
ptx::Variable variable(const std::string& declaration) {
    static std::vector<std::unique_ptr<ptx::Module>> modules;
    modules.push_back(open_text(declaration + " .func f(); .func g(); .func h();"));
    const auto& module = modules.back();
    REQUIRE(module->variables().size() == 1);
    return module->variables()[0];
}

template <class T>
std::vector<T> values(const ptx::Variable& variable) {
    std::vector<T> out(variable.initial.size() / sizeof(T));
    std::memcpy(out.data(), variable.initial.data(), out.size() * sizeof(T));
    return out;
}

}  // namespace

TEST_CASE("variable: space, type, alignment and size", "[ptx][variable]") {
    const auto plain = variable(".global .u32 x;");
    CHECK(plain.space == ptx::Space::kGlobal);
    CHECK(plain.bytes == 4);
    CHECK(plain.align == 4);
    CHECK_FALSE(plain.is_array);
    CHECK(plain.initial.empty());

    const auto array = variable(".visible .const .align 16 .b8 c[12][2];");
    CHECK(array.space == ptx::Space::kConst);
    CHECK(array.bytes == 24);
    CHECK(array.align == 16);
    CHECK(array.is_array);

    const auto dynamic = variable(".extern .shared .align 16 .b8 s[];");
    CHECK(dynamic.bytes == 0);
    CHECK(dynamic.is_extern);

    const auto vector = variable(".global .v4 .f32 v[2];");
    CHECK(vector.bytes == 32);
    CHECK(vector.align == 16);

    CHECK(variable(".visible .global .align 4 .attribute(.managed) .u32 m;").is_managed);
}

TEST_CASE("variable: numbers become bytes of the element type", "[ptx][variable]") {
    CHECK(values<uint32_t>(variable(".global .u32 x = 7;")) == std::vector<uint32_t>{7});
    CHECK(values<int16_t>(variable(".global .s16 x[3] = {-1, 2, (1<<4)};")) ==
          std::vector<int16_t>{-1, 2, 16});
    CHECK(values<float>(
              variable(".global .f32 x[4] = {0f3F800000, 0.5, -2.0, 0d4008000000000000};")) ==
          std::vector<float>{1, 0.5f, -2, 3});
    CHECK(values<double>(variable(".global .f64 x[2] = {1.25, 0f40000000};")) ==
          std::vector<double>{1.25, 2});
    CHECK(values<uint32_t>(variable(".global .b32 x = 0f3F800000;")) ==
          std::vector<uint32_t>{0x3f800000});
    CHECK(values<uint8_t>(variable(".global .b8 x[9] = {1, 0x2, 03,\n 4 , (5), -6, 0, 300,9};")) ==
          std::vector<uint8_t>{1, 2, 3, 4, 5, 250, 0, 44, 9});
}

TEST_CASE("variable: a short list leaves the rest zero, nested rows are padded",
          "[ptx][variable]") {
    const auto list = variable(".global .u32 x[5] = {1, 2};");
    CHECK(list.bytes == 20);
    CHECK(list.initial.size() == 8);
    CHECK(values<uint32_t>(variable(".global .u32 x[2][2] = {{1}, {2, 3}};")) ==
          std::vector<uint32_t>{1, 0, 2, 3});
    CHECK(values<uint32_t>(variable(".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};")) ==
          std::vector<uint32_t>{1, 2, 3, 4});
}

TEST_CASE("variable: an unsized array is as long as its value", "[ptx][variable]") {
    CHECK(variable(".global .u32 x[] = {1, 2, 3};").bytes == 12);
    CHECK(variable(".global .u32 x[][2] = {{1, 2}, {3}};").bytes == 16);
    const auto text = variable(".global .b8 s[] = \"hi\\n\";");
    CHECK(text.bytes == 4);
    CHECK(values<uint8_t>(text) == std::vector<uint8_t>{'h', 'i', '\n', 0});
}

TEST_CASE("variable: addresses become fixups", "[ptx][variable]") {
    const auto table = variable(".global .u64 t[5] = {0, f, g+8, generic(h), generic(h)+16};");
    CHECK(table.initial.size() == 40);
    REQUIRE(table.fixups.size() == 4);
    CHECK(table.fixups[0].offset == 8);
    CHECK(table.fixups[0].symbol == "f");
    CHECK(table.fixups[0].bytes == 8);
    CHECK_FALSE(table.fixups[0].generic);
    CHECK(table.fixups[1].addend == 8);
    CHECK(table.fixups[3].generic);
    CHECK(table.fixups[3].addend == 16);
    CHECK(table.fixups[3].offset == 32);

    const auto masked = variable(".global .b8 t[10] = {1, 2, 0xFF(f), 0xFF00(f), 0xFF0000(f), "
                                 "0xFF000000(f), 0xFF00000000(f), 0xFF0000000000(f), "
                                 "0xFF000000000000(f), 0xFF00000000000000(f)};");
    REQUIRE(masked.fixups.size() == 1);
    CHECK(masked.fixups[0].offset == 2);
    CHECK(masked.fixups[0].bytes == 8);

    const auto bytes = variable(".global .b8 t[3] = {0xFF00(f), 0xFF(f), 0xFF00(f+1)};");
    REQUIRE(bytes.fixups.size() == 3);
    CHECK(bytes.fixups[0].shift == 8);
    CHECK(bytes.fixups[1].bytes == 1);
    CHECK(bytes.fixups[2].addend == 1);
}

TEST_CASE("variable: one declaration may name several", "[ptx][variable]") {
    const auto module = open_text(".global .u32 a = 1, b[2], c = 3;");
    REQUIRE(module->variables().size() == 3);
    CHECK(module->variables()[1].bytes == 8);
    CHECK(module->variables()[2].initial.size() == 4);
}

TEST_CASE("variable: a definition replaces its extern declaration", "[ptx][variable]") {
    const auto module = open_text(".extern .global .u32 a;\n.global .u32 a = 4;");
    REQUIRE(module->variables().size() == 1);
    CHECK(module->variables()[0].initial.size() == 4);
    CHECK_FALSE(module->variables()[0].is_extern);
}

TEST_CASE("variable: what does not fit is refused with its line", "[ptx][variable]") {
    for (const char* text : {".global .u32 x[2] = {1, 2, 3};",
                             ".global .u32 x[1][1] = {{1, 2}};",
                             ".global .u32 x[2] = {{{1}}};",
                             ".global .u16 x = f;",
                             ".global .u32 x = 0d3FF0000000000000;",
                             ".global .u32 x[1099511627776][1099511627776];",
                             ".global .u32 x[2][];",
                             ".global x;",
                             ".global .u32;",
                             ".global .align 3 .u32 x;",
                             ".global .pred p;",
                             ".global .reg .pred %p = 1;",
                             ".global .shared .u32 x;",
                             ".global .b8 s[2] = \"abc\";",
                             ".global .b8 x[2] = {0xFFF(f)};",
                             ".global .b8 x[2] = {0(f)};",
                             ".global .u16 x[2] = {0xFF(f)};",
                             ".global .u64 x = nobody;",
                             ".global .f32 x = inf;",
                             ".global .u32 x[4",
                             ".global .u32 x = ;",
                             ".global .u32 x = {1, 2",
                             ".global .u32 x; .global .u32 x;",
                             // As ptxas does: rows in braces, values of the type, no empty arrays.
                             ".global .u32 x[2][2] = {1, 2, 3, 4};",
                             ".global .u32 x[2][3] = {{1, 2}, 3};",
                             ".global .u32 x = {5};",
                             ".global .f32 x = 1;",
                             ".global .f64 x[2] = {1.0, 2};",
                             ".global .u32 x = 0f3F800000;",
                             ".shared .u32 x = 1;",
                             ".global .u32 x[];",
                             ".global .u32 x[0];",
                             ".global .v4 .b64 x;",
                             ".global .bf16 x;",
                             ".local .u32 x;",
                             ".global .u32 x[2][1099511] = {{1},{2}, {3}};"}) {
        CAPTURE(text);
        CHECK(contains(error_of(kHeader + text), "PTX line 4"));
    }
}
