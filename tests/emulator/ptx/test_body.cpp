// SPDX-License-Identifier: MIT
#include <set>

#include "ptx_text.h"

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;

TEST_CASE("body: an inner block shadows registers and variables", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .b32 t;
mov.u32 t, 1;
{ .reg .b64 t; .param .b32 q; mov.u64 t, 2; st.param.b32 [q], 5;
  { .reg .b32 t; mov.u32 t, 3; } mov.u64 t, 4; }
{ .param .b64 q; st.param.b64 [q], 5; }
mov.u32 t, 5;)");
    const auto& k = *module->function("k");
    const auto reg = [&](size_t i) { return k.body[i].operands[0].index; };
    CHECK(reg(0) == reg(6));
    CHECK(reg(1) == reg(4));
    CHECK((std::set<uint32_t>{reg(0), reg(1), reg(3)}.size()) == 3);
    CHECK(k.registers[reg(1)].type == ptx::Type::kB64);
    CHECK(k.body[2].operands[0].elements[0].index == 0);
    CHECK(k.body[5].operands[0].elements[0].index == 1);
    CHECK(k.variables.size() == 2);
}

TEST_CASE("body: labels belong to their block, and jumps may leave it", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .pred %p<2>;
{ WAIT: @%p1 bra DONE; bra WAIT; DONE: }
{ WAIT: @!%p1 bra WAIT; bra END; }
END:)");
    const auto& k = *module->function("k");
    REQUIRE(k.body.size() == 5);
    CHECK(k.body[0].operands[0].index == 2);
    CHECK(k.body[1].operands[0].index == 0);
    CHECK(k.body[2].operands[0].index == 2);
    CHECK(k.body[2].guard_negated);
    CHECK(k.body[3].operands[0].index == 4);
    CHECK(k.body[4].opcode == Opcode::k_ret);  // added: the label stands at the end
}

TEST_CASE("body: a body never falls off its end", "[ptx][body]") {
    CHECK(open_kernel("")->function("k")->body.size() == 1);
    CHECK(open_kernel(".reg .pred p; @p ret;")->function("k")->body.size() == 2);
    CHECK(open_kernel("ret;")->function("k")->body.size() == 1);
    CHECK(open_kernel("L: bra L;")->function("k")->body.size() == 1);
}

TEST_CASE("body: ranges of registers, and only those that are used", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .b32 %r<12>, %r1<3>;
.reg .f32 %f<100000>;
mov.u32 %r11, %r0;
mov.u32 %r12, %r11;
mov.f32 %f99999, %f5000;)");
    const auto& k = *module->function("k");
    REQUIRE(k.registers.size() == 5);
    CHECK(k.registers[0].name == "%r11");
    CHECK(k.registers[2].name == "%r12");
    CHECK(k.registers[3].type == ptx::Type::kF32);
    for (const char* name : {"%r13", "%r01", "%f100000", "%x", "%r", "%r99999999999999999999"}) {
        CAPTURE(name);
        CHECK(contains(body_error(".reg .b32 %r<12>, %r1<3>; .reg .f32 %f<100000>;\nmov.u32 %r1, " +
                                  std::string(name) + ";"),
                       std::string("PTX line 6, at '") + name));
    }
}

TEST_CASE("body: a vector register is its elements", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .v4 .f32 v; .reg .f32 %f;
ld.global.v4.f32 v, [p];
mov.f32 %f, v.z;)");
    const auto& k = *module->function("k");
    const auto& all = k.body[0].operands[0];
    REQUIRE(all.kind == Operand::Kind::kVector);
    REQUIRE(all.elements.size() == 4);
    CHECK(k.body[1].operands[1].index == all.elements[2].index);
}

TEST_CASE("body: calls have results, callee, arguments and prototype in one order", "[ptx][body]") {
    const auto module = open_text(R"(.func (.param .b32 r) f(.param .b32 x, .param .b64 y);
.func g();
.entry k() {
.reg .b64 %rd<3>;
{ .param .b32 a; .param .b64 b; .param .b32 r;
call.uni (r), f, (a, b);
call.uni g, ();
call g;
prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _) .noreturn;
call (r), %rd1, (a, b), prototype_1;
proto2: .callprototype ()_ (.param .b64 _);
call %rd1, (b) , proto2; }
})");
    const auto& k = *module->function("k");
    REQUIRE(k.body.size() == 6);
    for (size_t i = 0; i < 5; ++i) {
        REQUIRE(k.body[i].operands.size() >= 3);
        CHECK(k.body[i].operands[0].kind == Operand::Kind::kList);
        CHECK(k.body[i].operands[2].kind == Operand::Kind::kList);
    }
    CHECK(k.body[0].operands[1].name == "f");
    CHECK(k.body[0].operands[1].target == Operand::Target::kModule);
    CHECK(k.body[0].operands[2].elements.size() == 2);
    CHECK(k.body[2].operands[2].elements.empty());
    CHECK(k.body[3].operands[1].kind == Operand::Kind::kRegister);
    CHECK(k.body[3].operands[3].name == "prototype_1");
    REQUIRE(k.prototypes.size() == 2);
    CHECK(k.prototypes[0].results.size() == 1);
    CHECK(k.prototypes[0].parameters[1].offset == 8);
    CHECK(k.prototypes[1].results.empty());
}

TEST_CASE("body: registers as parameters turn into loads and stores", "[ptx][body]") {
    const auto module = open_text(R"(.func (.reg .u32 %out) f(.reg .u32 %in, .reg .f64 %d) {
.reg .pred p;
@p ret;
add.u32 %out, %in, 1;
}
.entry k() {
.reg .u32 %r<3>;
.reg .f64 %d;
call (%r1), f, (%r2, 0d3FF0000000000000);
mov.u32 %r2, %r1;
ret;
})");
    const auto& f = *module->function("f");
    REQUIRE(f.body.size() == 7);  // ld ld | st ret | add | st ret
    CHECK(f.body[0].opcode == Opcode::k_ld);
    CHECK(f.body[0].operands[1].elements[0].target == Operand::Target::kParameter);
    CHECK(f.body[1].type() == ptx::Type::kF64);
    CHECK(f.body[2].opcode == Opcode::k_st);
    CHECK(f.body[2].guarded);
    CHECK(f.body[2].operands[0].elements[0].target == Operand::Target::kResult);
    CHECK(f.body[3].opcode == Opcode::k_ret);
    CHECK(f.body[5].opcode == Opcode::k_st);
    CHECK_FALSE(f.body[5].guarded);

    const auto& k = *module->function("k");
    REQUIRE(k.body.size() == 6);  // st st call ld mov ret
    CHECK(k.body[1].type() == ptx::Type::kF64);
    CHECK(k.body[2].opcode == Opcode::k_call);
    for (const size_t list : {0, 2}) {
        for (const Operand& element : k.body[2].operands[list].elements) {
            CHECK(element.target == Operand::Target::kVariable);
        }
    }
    CHECK(k.body[3].operands[0].index == k.body[4].operands[1].index);
    CHECK(k.variables.size() == 3);
}

TEST_CASE("body: tables of branch targets", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .u32 %r1;
ts: .branchtargets A, B,
 C;
brx.idx %r1, ts;
A: mov.u32 %r1, 1;
B: mov.u32 %r1, 2;
C: ret;)");
    const auto& k = *module->function("k");
    REQUIRE(k.branch_targets.size() == 1);
    CHECK(k.branch_targets[0].name == "ts");
    CHECK(k.branch_targets[0].targets == std::vector<uint32_t>{1, 2, 3});
    CHECK(k.body[0].operands[1].name == "ts");
}

TEST_CASE("body: unknown instructions are listed and the rest is parsed", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .u32 %r<4>; .reg .v2 .u32 %w;
frobnicate.sync.b32 {%r1, %r2}, [%r9 + 4], {x};
add.shiny.u32 %r1, %r2, %r3;
vadd.s32.u32.s32 %r1, %r2.b0, %r3.h1;
mov.u32 %r1, %envreg77;
ret;)");
    const auto unsupported = module->unsupported("k");
    REQUIRE(unsupported.size() == 3);
    CHECK(unsupported[0].text == "frobnicate.sync.b32");
    CHECK(unsupported[0].line == 6);
    CHECK(unsupported[1].text == "add.shiny.u32");
    CHECK(contains(unsupported[2].text, "%envreg77"));
    CHECK(module->function("k")->body[0].opcode == Opcode::kUnknown);
    CHECK(module->function("k")->body[1].opcode == Opcode::k_add);
    CHECK(module->function("k")->body.size() == 5);
}

TEST_CASE("body: parts of registers and negatives of the video instructions", "[ptx][body]") {
    const auto module = open_kernel(R"(.reg .u32 %r<4>;
vadd.s32.u32.s32 %r1.h0, %r2.b0, %r3.h1, %r1;
vmad.s32.s32.s32 %r1, %r2, -%r3.b3, %r1;
ret;)");
    const auto& k = *module->function("k");
    CHECK(module->unsupported("k").empty());
    CHECK(k.body[0].operands[0].selector == "h0");
    CHECK(k.body[0].operands[1].selector == "b0");
    CHECK(k.body[0].operands[2].selector == "h1");
    CHECK(k.body[0].operands[3].selector.empty());
    CHECK(k.body[1].operands[2].negated);
    CHECK(k.body[1].operands[2].selector == "b3");
    CHECK_FALSE(k.body[1].operands[1].negated);
}

TEST_CASE("body: errors name the line, the token and what was expected", "[ptx][body]") {
    struct Case {
        const char *body, *place, *expected;
    };
    for (const Case& each : {
             Case{".reg .u32 %r<3>;\nadd.u32 %r1, %r2, %r9;",
                  "line 6, at '%r9'",
                  "declared before its use"},
             Case{"bra NOWHERE;", "line 5, at 'NOWHERE'", "a label that this function defines"},
             Case{"L: ret;\nL: ret;", "line 6, at 'L'", "not defined twice"},
             Case{".reg .u32 a, a;", "line 5, at 'a'", "not declared twice"},
             Case{"mov.u32 x y;", "line 5, at 'y'", "';'"},
             Case{"@q ret;", "line 5, at 'q'", "a declared predicate"},
             Case{".reg .u32 q;\n@q ret;", "line 6, at 'q'", "a declared predicate"},
             Case{"call nosuch;", "line 5, at 'nosuch'", "declared in this function or module"},
             Case{"ld.u32 [p], [;", "line 5, at ';'", "a constant"},
             Case{"ret", "line 6, at '}'", "';'"},
             Case{"123;", "line 5, at '123'", "an instruction"},
             Case{".reg .u32 %r<99999999999>;", "line 5, at '99999999999'", "fewer registers"},
         }) {
        CAPTURE(each.body);
        const std::string error = body_error(each.body);
        CAPTURE(error);
        CHECK(contains(error, each.place));
        CHECK(contains(error, each.expected));
    }
}

TEST_CASE("body: predicates and numbers are not passed for one another", "[ptx][body]") {
    const std::string header = kHeader +
                               ".func f(.reg .pred p) { ret; } .func g(.reg .u32 x) { ret; }\n" +
                               ".entry k() { .reg .pred q; .reg .u32 r; ";
    CHECK(error_of(header + "call f, (q); call g, (r); ret; }").empty());
    CHECK(contains(error_of(header + "call f, (r); ret; }"), "is not a predicate register"));
    CHECK(contains(error_of(header + "call f, (1); ret; }"), "is not a predicate register"));
    CHECK(contains(error_of(header + "call g, (q); ret; }"), "is a predicate"));
}
