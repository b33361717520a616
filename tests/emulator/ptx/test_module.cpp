// SPDX-License-Identifier: MIT
#include "ptx_text.h"

TEST_CASE("module: version, target and the functions with their parameters", "[ptx][module]") {
    const auto module = ptx::Module::open(R"(
//  a comment { with a brace
.version 8.7
.target sm_90a, debug
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 r) helper (.param .b32 x);
.visible .entry k(
    .param .u8 c,
    .param .align 8 .b8 s[13],
    .param .u64 .ptr .global .align 16 q,
    .param .u16 h
)
.maxntid 8, 4, 2
.minnctapersm 1
{ ret; }
.func (.param .b32 r) helper (.param .b32 x) .noreturn { ret; }
)" + std::string("\0\0 garbage", 10),
                                          "m");
    CHECK(module->version_major() == 8);
    CHECK(module->version_minor() == 7);
    CHECK(module->target() == 90);
    const auto& functions = module->functions();
    REQUIRE(functions.size() == 3);
    CHECK(functions[0].name == "vprintf");
    CHECK(functions[0].is_declaration);
    CHECK(functions[1].name == "helper");
    CHECK_FALSE(functions[1].is_declaration);
    CHECK(functions[1].line == 17);
    const auto& k = functions[2];
    CHECK(k.is_entry);
    CHECK(k.max_threads == 64);
    CHECK(k.line == 8);
    REQUIRE(k.parameters.size() == 4);
    CHECK(k.parameters[1].offset == 8);
    CHECK(k.parameters[1].bytes == 13);
    CHECK(k.parameters[1].is_array);
    CHECK(k.parameters[2].offset == 24);
    CHECK(k.parameters[2].type == ptx::Type::kU64);
    CHECK(k.parameters[3].offset == 32);
    CHECK(module->function("helper")->is_noreturn);
    CHECK(module->function("vprintf")->is_declaration);
    CHECK(module->function("nobody") == nullptr);
}

TEST_CASE("module: bodies are parsed on first use, and only then", "[ptx][module]") {
    const auto module = open_text(".entry good() { ret; }\n.entry bad() { add.u32 %r1; ; ] }\n");
    REQUIRE(module->function("good"));
    CHECK(module->function("good")->body.size() == 1);
    CHECK(module->function("good") == module->function("good"));
    CHECK_THROWS_AS(module->function("bad"), ptx::ParseError);
    CHECK_THROWS_AS(module->function("bad"), ptx::ParseError);
}

TEST_CASE("module: opcode names are legal names of kernels, labels and registers",
          "[ptx][module]") {
    const auto module = open_text(R"(.global .u32 mov;
.entry min(.param .u32 add) {
    .reg .u32 ld, %add;
    .reg .pred bra;
    ld.param.u32 ld, [add];
    setp.eq.u32 bra, ld, 0;
    @bra bra ret;
add: add.u32 ld, ld, %add;
    bra add;
ret: ret;
})");
    const auto* min = module->function("min");
    REQUIRE(min);
    REQUIRE(min->body.size() == 6);
    CHECK(min->body[0].operands[1].elements[0].target == ptx::Operand::Target::kParameter);
    CHECK(min->body[2].operands[0].index == 5);
    CHECK(min->body[4].operands[0].index == 3);
    CHECK(module->unsupported("min").empty());
}

TEST_CASE("module: sections, pragmas, aliases and old debug lines are passed over",
          "[ptx][module]") {
    const auto module = open_text(R"(@@DWARF .byte 1, 2 { {
.pragma "nounroll";
.section .debug_info
{
.b8 1,2,3
.b32 .debug_abbrev
}
.func f() { ret; }
.func g();
.alias g, f;
.file 1 "a.cu", 123, 456
)");
    REQUIRE(module->function("g"));
    CHECK(module->function("g") == module->function("f"));
}

TEST_CASE("module: an alias stands for a function that is there", "[ptx][module]") {
    CHECK(contains(error_of(kHeader + ".func f() { ret; }\n.alias g, f;\n"), ".alias"));
    CHECK(contains(error_of(kHeader + ".func g();\n.alias g, f;\n"), ".alias"));
}

TEST_CASE("module: directives of a function", "[ptx][module]") {
    const auto module = open_text(".entry k() .maxnreg 32 .reqntid 32, 4 .minnctapersm 2 { ret; }\n"
                                  ".entry e() .maxntid 64 { ret; }\n");
    const auto& headers = module->functions();
    CHECK(headers[0].max_threads == 128);
    CHECK(headers[0].required_block == std::array<uint32_t, 3>{32, 4, 1});
    CHECK(headers[1].required_block == std::array<uint32_t, 3>{0, 0, 0});
    for (const char* wrong : {".entry k() .maxntid 64 .reqntid 64 { ret; }",
                              ".entry k() .maxntid 0 { ret; }",
                              ".entry k() .maxntid 1, 2, 3, 4 { ret; }",
                              ".entry k() .reqntid { ret; }",
                              ".entry k() .maxthreads 4 { ret; }",
                              ".func k() .maxntid 64 { ret; }",
                              ".entry k() .reqnctapercluster 2 { ret; }"}) {
        CAPTURE(wrong);
        CHECK(contains(error_of(kHeader + wrong), "PTX line 4"));
    }
}

TEST_CASE("module: a newer or foreign text is refused with advice", "[ptx][module]") {
    CHECK(contains(error_of(".version 10.1\n.target sm_75\n"), "PTX ISA 10.1 is newer than 9.x"));
    CHECK(contains(error_of(".version 9.9\n.target sm_75\n"), "") == true);
    CHECK(error_of(".version 9.9\n.target sm_75\n").empty());
    CHECK(contains(error_of(""), "not a PTX module"));
    CHECK(contains(error_of("\x7f"
                            "ELF"),
                   "PTX line 1"));
    CHECK(contains(error_of("int main() {}"), "PTX line 1"));
    CHECK(contains(error_of(".version 9.0\n"), ".target"));
    CHECK(contains(error_of(".version 9.0\n.target sm_75\n.address_size 32"), "64-bit"));
    CHECK(contains(error_of(".version 9.0\n.target gfx900\n"), "sm_75"));
}

TEST_CASE("module: an unknown directive is recorded for the code that runs the module",
          "[ptx][module]") {
    const auto module = open_text(".blockmagic 4;\n.entry k() { .spell 3; ret; }");
    const auto unsupported = module->unsupported("k");
    REQUIRE(unsupported.size() == 2);
    CHECK(unsupported[0].text == ".blockmagic");
    CHECK(unsupported[0].line == 4);
    CHECK(unsupported[1].text == ".spell");
}

TEST_CASE("module: declarations may end without ';'", "[ptx][module]") {
    const auto module = open_text(R"(.visible .func (.param .s32 x) f (.param .s32 y)
.extern .func g()
.func h()
.file 1 "a.cu"
.func i() .noreturn
.global .u32 v;
.func h()
{ ret; }
)");
    CHECK(module->functions().size() == 4);
    CHECK(module->functions()[0].is_declaration);
    CHECK_FALSE(module->functions()[2].is_declaration);
    CHECK(module->variables().size() == 1);
    CHECK(contains(error_of(kHeader + ".func h()\nret;"), "expected ';'"));
    CHECK(contains(error_of(kHeader + ".func h()\n.target sm_75"), "a directive of a function"));
}

TEST_CASE("module: constant memory ends at 64 KB", "[ptx][module]") {
    CHECK(error_of(kHeader + ".const .b8 a[65532]; .const .u32 b;").empty());
    CHECK(contains(error_of(kHeader + ".const .b8 a[65532]; .const .u32 b; .const .u8 c;"),
                   "65537 bytes of .const variables"));
}
