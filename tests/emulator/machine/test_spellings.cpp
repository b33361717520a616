// SPDX-License-Identifier: MIT
// PTX as people and other compilers write it: forms that nvcc never prints, each accepted by ptxas,
// with the value that they must give; and what ptxas refuses, with the line and the cause.
#include "machine_lab.h"

using namespace machine_lab;

namespace {

struct Spelling {
    const char* body;  // leaves a word in %r1
    uint32_t value;
    const char* before = "";
};

void check(std::initializer_list<Spelling> spellings) {
    for (const Spelling& each : spellings) {
        CAPTURE(each.body);
        Lab lab;
        lab.run(std::string(each.body) + "\nst.global.u32 [%mine], %r1;", {}, each.before);
        CHECK(lab.got(0) == each.value);
    }
}

constexpr const char* kTwo =
    ".func (.reg .b32 a, .reg .b32 b) two(.reg .b32 x) { add.u32 a, x, 1; add.u32 b, x, 2; ret; }\n"
    ".func (.reg .b32 a) other(.reg .b32 x, .reg .b64 y) { cvt.u32.u64 a, y; add.u32 a, a, x; }\n";

}  // namespace

TEST_CASE("spelling: variables in the global and const space inside a function",
          "[machine][spellings]") {
    check({
        {".global .u32 g = 4;\nld.global.u32 %r1, [g];", 4},
        {".const .u32 c[2] = {5, 6};\nld.const.u32 %r1, [c+4];", 6},
        {".global .u32 g = 7;\n{ .global .u32 g = 8; st.global.u32 [g], 9; }\n"
         "ld.global.u32 %r1, [g];",
         7},
        {".global .u64 p = t+4;\nld.global.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];",
         3,
         ".global .u32 t[2] = {2, 3};\n"},
        {".global .u32 g = 4;\nmov.u64 %rd1, g;\ncvta.global.u64 %rd1, %rd1;\nld.u32 %r1, [%rd1];",
         4},
    });
}

TEST_CASE("spelling: a function's own global variable keeps its value between calls",
          "[machine][spellings]") {
    Lab lab;
    lab.run("setp.eq.u32 %p1, %lane, 0;\n@!%p1 bra DONE;\ncall (%r1), count, ();\n"
            "call (%r1), count, ();\ncall (%r1), count, ();\nst.global.u32 [%mine], %r1;\nDONE:",
            {},
            ".func (.reg .b32 r) count() {\n.global .u32 n = 0;\nld.global.u32 r, [n];\n"
            "add.u32 r, r, 1;\nst.global.u32 [n], r;\nret;\n}\n");
    CHECK(lab.got(0) == 3);
}

TEST_CASE("spelling: vector registers", "[machine][spellings]") {
    check({
        {".reg .v4 .b32 v;\nmov.v4.b32 v, {1, 2, 3, 4};\nmov.b32 %r1, v.z;", 3},
        {".reg .v2 .b32 v;\nmov.v2.b32 v, {1, 2};\nmov.v2.b32 v, {v.y, v.x};\n"
         "mad.lo.u32 %r1, v.x, 10, v.y;",
         21},
        {".reg .v2 .b32 v<3>, w;\nmov.b32 v1.x, 1;\nmov.b32 v1.y, 2;\nmov.b32 v2.y, 5;\n"
         "mov.v2.b32 w, v1;\nadd.u32 %r1, w.y, v2.g;",
         7},
        {".reg .v4 .b32 v<2>;\nst.global.v4.b32 [%out+1024], {6, 7, 8, 9};\n"
         "ld.global.v4.b32 v1, [%out+1024];\nmov.b32 %r1, v1.w;",
         9},
        {".reg .v2 .b16 v<2>;\nmov.b32 v1, 0x30004;\ncvt.u32.u16 %r1, v1.y;", 3},
        {"mov.v2.b32 {%r1, _}, {3, 4};", 3},
        {"mov.v4.u32 {_, %r1, _, _}, %ntid;", 1},
        {".reg .v4 .u32 t;\nmov.v4.u32 t, %ntid;\nmov.u32 %r1, t.x;", 32},
        {"mov.v4.u16 {%rs1, %rs2, %rs3, %rs4}, %ntid;\ncvt.u32.u16 %r1, %rs1;", 32},
    });
}

TEST_CASE("spelling: special registers outside of plain moves", "[machine][spellings]") {
    check({
        {"cvt.u16.u32 %rs1, %ntid.x;\ncvt.u32.u16 %r1, %rs1;", 32},
        {"cvt.u64.u32 %rd1, %ntid.x;\ncvt.u32.u64 %r1, %rd1;", 32},
        {"mov.u16 %rs1, %ntid.x;\ncvt.u32.u16 %r1, %rs1;", 32},
        {"mov.b64 %rd1, {%ntid.x, %ntid.y};\nshr.u64 %rd1, %rd1, 32;\ncvt.u32.u64 %r1, %rd1;", 1},
        {"mov.b32 {%rs1, _}, %ntid.x;\ncvt.u32.u16 %r1, %rs1;", 32},
        {"mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 1, 2, %p1;", 2},
        {"mov.u64 %rd1, %current_graph_exec;\ncvt.u32.u64 %r1, %rd1;", 0},
        {"pmevent 1;\npmevent.mask 6;\nmov.u32 %r1, 1;", 1},
    });
    const std::string wide = refusal("mov.u64 %rd1, %laneid;");
    CHECK(wide.find("has 32 bits") != std::string::npos);
    CHECK(wide.find("%laneid") != std::string::npos);
    CHECK(refusal("mov.u32 %r1, %clock64;").find("has 64 bits") != std::string::npos);
}

TEST_CASE("spelling: constants that start with a point, and preprocessor lines",
          "[machine][spellings]") {
    check({
        {"mov.f32 %f1, .5;\nmov.b32 %r1, %f1;", 0x3f000000},
        {"mov.f32 %f1, -.25e+1;\nmov.b32 %r1, %f1;", 0xc0200000},
        {"ld.global.u32 %r1, [g+4];", 0x3e800000, ".global .f32 g[2] = {1.0, .25};\n"},
        {"# 12 \"kernel.cl\" 1\n#line 13 \"kernel.cl\"\nmov.u32 %r1, 3; # 14 \"kernel.cl\"\n", 3},
    });
    CHECK(refusal("#define X 1\n").find("'#'") != std::string::npos);
}

TEST_CASE("spelling: unused results, and lists of call targets", "[machine][spellings]") {
    check({
        {"call (_, %r1), two, (5);", 7, kTwo},
        {"call (%r1, _), two, (5);", 6, kTwo},
        {"call (_), other, (1, 2);\nmov.u32 %r1, 4;", 4, kTwo},
        {"mov.u64 %rd1, other;\nT: .calltargets other;\ncall (%r1), %rd1, (4, 7), T;", 11, kTwo},
    });
}

TEST_CASE("spelling: a call must pass what the function declares", "[machine][spellings]") {
    const std::string missing = refusal("\ncall (%r1), other, (1);", kTwo);
    CHECK(missing.find("1 argument(s)") != std::string::npos);
    CHECK(missing.find("declares 2") != std::string::npos);
    CHECK(refusal("call other, (1, 2);", kTwo).find("0 result(s)") != std::string::npos);
    const std::string wide = refusal("call (%r1), other, (%rd1, 2);", kTwo);
    CHECK(wide.find("8 bytes") != std::string::npos);
    CHECK(wide.find("`x` of the function has 4") != std::string::npos);
}

TEST_CASE("spelling: single bytes of an address", "[machine][spellings]") {
    // Bytes 1 and 0 of the address, in that order, and byte 2 alone.
    Lab lab;
    LoadedModule& m = lab.load(".global .align 256 .u32 t[4];\n"
                               ".global .u8 swapped[2] = {0xFF00(t+4), 0xFF(t+4)};\n"
                               ".global .u8 third = 0xFF0000(t);\n");
    const uint64_t at = m.variable("t")->address;
    CHECK(uint8_t(m.variable("swapped")->host[0]) == uint8_t((at + 4) >> 8));
    CHECK(uint8_t(m.variable("swapped")->host[1]) == uint8_t(at + 4));
    CHECK(uint8_t(m.variable("third")->host[0]) == uint8_t(at >> 16));
}

TEST_CASE("spelling: vector atomics through a generic address", "[machine][spellings]") {
    check({
        {"cvta.global.u64 %rd1, %out;\nst.global.v2.f32 [%out+1024], {1.0, 2.0};\n"
         "bar.sync 0;\nsetp.ne.u32 %p1, %lane, 0;\n@%p1 bra DONE;\n"
         "atom.add.v2.f32 {%f1, %f2}, [%rd1+1024], {0.5, 4.0};\n"
         "red.add.v2.f32 [%rd1+1024], {0.5, 4.0};\nDONE:\nld.global.v2.f32 {%f3, %f4}, "
         "[%out+1024];\nadd.f32 %f3, %f3, %f4;\nadd.f32 %f3, %f3, %f2;\nmov.b32 %r1, %f3;",
         0x41600000},  // (1 + 0.5 + 0.5) + (2 + 4 + 4) + 2
    });
}

TEST_CASE("spelling: the address of a function's parameter is one of the stack",
          "[machine][spellings]") {
    // As clang -O0 writes it; the loop shows that each call copies once, at its start.
    constexpr const char* kFunction =
        ".func (.param .b32 r) f(.param .align 4 .b8 s[12], .param .b32 n)\n{\n.reg .b32 a, b, i;"
        ".reg .b64 p, g; .reg .pred q;\nmov.u32 i, 0;\nAGAIN:\nmov.b64 p, s;\n"
        "cvta.local.u64 g, p;\nld.u32 a, [g+8];\nadd.u32 a, a, 1;\nst.local.u32 [p+8], a;\n"
        "add.u32 i, i, 1;\nld.param.u32 b, [n];\nsetp.lt.u32 q, i, b;\n@q bra AGAIN;\n"
        "mov.b64 p, s+4;\nld.local.u32 b, [p];\nmad.lo.u32 a, b, 100, a;\n"
        "st.param.b32 [r], a;\nret;\n}\n";
    check({
        {"{\n.param .align 4 .b8 s[12];\n.param .b32 n;\n.param .b32 r;\n"
         "st.param.b32 [s], 1;\nst.param.b32 [s+4], 2;\nst.param.b32 [s+8], 3;\n"
         "st.param.b32 [n], 5;\ncall (r), f, (s, n);\nld.param.b32 %r1, [r];\n}",
         208,
         kFunction},
    });
}

TEST_CASE("spelling: a register and a constant where a register may stand",
          "[machine][spellings]") {
    check({
        {"mov.u32 %r2, 7;\nadd.u32 %r1, %r2+1, %r2+-1;", 14},
        {"mov.u32 %r2, -1;\ncvt.u64.u32 %rd1, %r2+1;\nmov.b64 {%r1, %r3}, %rd1;\n"
         "or.b32 %r1, %r1, %r3;",
         0},  // the sum has the register's width
        {"mov.u32 %r1, 5;\nmov.u32 %r1, %r1+1;", 6},
        {".shared .u64 s;\nmov.u64 %rd1, 12;\nst.shared.u64 [s], %rd1 + 0x100000000;\n"
         "ld.shared.u32 %r1, [s+4];",
         1},
        {"mov.u16 %rs1, 0xffff;\nmul.wide.u16 %r1, %rs1+3, 5;", 10},
        {"mov.u32 %r1, 9;\nsetp.ne.u32 %p1, %r1, %r1;\n@%p1 mov.u32 %r1, %r1+1;", 9},
    });
}

TEST_CASE("spelling: predicates as parameters in registers", "[machine][spellings]") {
    constexpr const char* kFunctions =
        ".func (.reg .u32 a, .reg .pred b) f(.reg .u32 x, .reg .pred y)\n"
        "{ add.u32 a, x, 1; not.pred b, y; ret; }\n"
        ".func (.reg .pred b) odd(.reg .u32 x)\n"
        "{ .reg .u32 t; and.b32 t, x, 1; setp.eq.u32 b, t, 1; }\n"
        ".func (.reg .pred b, .reg .u32 a) g(.reg .u32 x)\n"
        "{ setp.eq.u32 b, x, 0; add.u32 a, x, 1; ret; }\n";
    check({
        {"setp.eq.u32 %p1, 0, 0;\ncall (%r1, %p2), f, (4, %p1);\n@%p2 add.u32 %r1, %r1, 100;",
         5,
         kFunctions},
        {"setp.eq.u32 %p1, 0, 1;\ncall (%r1, %p2), f, (4, %p1);\n@%p2 add.u32 %r1, %r1, 100;",
         105,
         kFunctions},
        {"call (%p1), odd, (3);\ncall (%p2), odd, (4);\nselp.u32 %r1, 1, 0, %p1;\n"
         "selp.u32 %r2, 2, 0, %p2;\nadd.u32 %r1, %r1, %r2;",
         1,
         kFunctions},
        {"mov.u32 %r1, 3;\nsetp.eq.u32 %p1, 0, 0;\n@%p1 call (%p1, %r1), g, (5);\n"
         "@%p1 add.u32 %r1, %r1, 100;",
         6,
         kFunctions},  // its own guard holds for both results
        {"call (_, %r1), g, (7);", 8, kFunctions},
    });
    // Every lane its own.
    Lab lab;
    lab.run("call (%p1), odd, (%lane);\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%mine], %r1;",
            {},
            kFunctions);
    CHECK(lab.words() == each([](uint32_t i) { return i & 1; }));
    CHECK(
        refusal("call (%r1, %p2), f, (4, %r1);", kFunctions).find("is not a predicate register") !=
        std::string::npos);
    CHECK(refusal("call (%r1), odd, (4);", kFunctions).find("is not a predicate register") !=
          std::string::npos);
    CHECK(refusal("call (%p1), odd, (%p2);", kFunctions).find("is a predicate") !=
          std::string::npos);
}

TEST_CASE("spelling: vectors as parameters in registers", "[machine][spellings]") {
    constexpr const char* kFunctions =
        ".func (.reg .v2 .u32 o) swap(.reg .v2 .u32 i)\n{ mov.v2.u32 o, {i.y, i.x}; ret; }\n"
        ".func (.reg .u32 o) pack(.reg.v4.u16 i)\n{ .reg .u32 t<2>;\n"
        "mov.b32 t0, {i.x, i.w}; mov.b32 t1, {i.z, i.y}; mul.lo.u32 o, t0, 3; "
        "add.u32 o, o, t1; ret; }\n";
    check({
        {".reg .v2 .u32 v;\nmov.v2.u32 v, {5, 9};\ncall (v), swap, (v);\n"
         "mad.lo.u32 %r1, v.x, 100, v.y;",
         905,
         kFunctions},
        {".reg .v4 .u16 v;\nmov.v4.u16 v, {1, 2, 3, 4};\ncall (%r1), pack, (v);",
         3 * 0x40001 + 0x20003,
         kFunctions},
    });
    const std::string longer = refusal(".reg .v4 .u32 v;\ncall (%r1), pack, (v);", kFunctions);
    CHECK(longer.find("has 16 bytes, but `i` of the function has 8") != std::string::npos);
    CHECK(
        refusal(".reg .v2 .u32 v;\ncall (%r1), pack, (v);", kFunctions).find("is a vector of 2") !=
        std::string::npos);
}

TEST_CASE("spelling: single precision as sm_1x has it, in text of PTX ISA 1.3",
          "[machine][spellings]") {
    Lab lab;
    lab.modules.push_back(lab.machine->load(
        ".version 1.3\n.target sm_10, map_f64_to_f32\n.entry k\n{\n.reg .u32 r<4>; .reg .u64 q;"
        "\n.reg .f32 f<4>;\n.param .u64 out;\n.param .u64 in;\nld.param.u64 q, [out];\n"
        "cvt.u32.u16 r1, %tid.x;\nmov.b32 f1, 0x00400000;\nadd.f32 f2, f1, f1;\n"
        "mov.b32 r2, f2;\nmov.f32 f1, 0f40800000;\nsqrt.f32 f2, f1;\ncvt.rzi.u32.f32 r3, f2;\n"
        "add.u32 r3, r3, r2;\nst.global.u32 [q+0], r3;\nexit;\n}\n",
        "old",
        0));
    lab.launch(*lab.modules.back(), "k", {{1, 1, 1}, {1, 1, 1}, 0, false});
    CHECK(lab.got(0) == 2);  // the sum of two subnormal numbers is 0 there, and sqrt(4) is 2
}

TEST_CASE("spelling: a number of names at once", "[machine][spellings]") {
    check({
        {"mov.u32 %r2, 2;\nmov.u32 %r1, 0;\nT: .branchtargets N<3>;\nbrx.idx %r2, T;\n"
         "N0:\nadd.u32 %r1, %r1, 1;\nN1:\nadd.u32 %r1, %r1, 10;\nN2:\nadd.u32 %r1, %r1, 100;",
         100},
        {"T: .calltargets f<2>;\nmov.u64 %rd1, f1;\ncall (%r1), %rd1, (4), T;",
         8,
         ".func (.reg .u32 r) f0(.reg .u32 x) { add.u32 r, x, 1; ret; }\n"
         ".func (.reg .u32 r) f1(.reg .u32 x) { add.u32 r, x, x; ret; }\n"},
        {"st.global.u32 [g3], 5;\nst.global.u32 [g0], 6;\nld.global.u32 %r1, [g3];",
         5,
         ".global .u32 g<4>;"},
        {".shared .u32 s<2>;\n.local .u32 l<2>;\nst.shared.u32 [s0], 3;\n"
         "st.shared.u32 [s1], 4;\nst.local.u32 [l1], 20;\nst.local.u32 [l0], 10;\n"
         "bar.sync 0;\nld.shared.u32 %r1, [s1];\nld.local.u32 %r2, [l1];\n"
         "add.u32 %r1, %r1, %r2;",
         24},
    });
    CHECK(refusal(".shared .u32 s<0>;").find("from 1 to 65536") != std::string::npos);
    CHECK(refusal(".shared .u32 s<2>; .shared .u32 s1;").find("declared twice") !=
          std::string::npos);
}

TEST_CASE("spelling: special registers in a vector that is stored", "[machine][spellings]") {
    check({
        {"st.global.v2.u32 [%out+1024], {%ntid.x, %nctaid.y};\nld.global.v2.u32 {%r1, %r2}, "
         "[%out+1024];\nmad.lo.u32 %r1, %r1, 10, %r2;",
         321},
    });
}

TEST_CASE("spelling: any array for a parameter without a size", "[machine][spellings]") {
    constexpr const char* kFunction =
        ".func (.param .b32 r) total(.param .b32 n, .param .align 8 .b8 more[])\n{\n"
        ".reg .b32 i, s, v; .reg .b64 p; .reg .pred q;\nld.param.u32 i, [n];\nmov.u32 s, 0;\n"
        "mov.b64 p, more;\nNEXT:\nsetp.eq.u32 q, i, 0;\n@q bra END;\nld.local.u32 v, [p];\n"
        "add.u32 s, s, v;\nadd.u64 p, p, 4;\nsub.u32 i, i, 1;\nbra NEXT;\nEND:\n"
        "ld.param.u32 v, [more+4];\nmad.lo.u32 s, v, 100, s;\nst.param.b32 [r], s;\nret;\n}\n";
    check({
        {"{\n.param .b32 n;\n.param .align 8 .b8 m[12];\n.param .b32 r;\nst.param.b32 [n], 3;\n"
         "st.param.b32 [m], 1;\nst.param.b32 [m+4], 2;\nst.param.b32 [m+8], 4;\n"
         "call (r), total, (n, m);\nld.param.b32 %r1, [r];\n}",
         207,
         kFunction},
        {"{\n.param .b32 n;\n.param .align 8 .b8 m[8];\n.param .b32 r;\nst.param.b32 [n], 2;\n"
         "st.param.b32 [m], 7;\nst.param.b32 [m+4], 0;\ncall (r), total, (n, m);\n"
         "ld.param.b32 %r1, [r];\n}",
         7,
         kFunction},
    });
    CHECK(refusal("{\n.param .b32 n;\n.param .align 8 .b8 m[1032];\n.param .b32 r;\n"
                  "call (r), total, (n, m);\n}",
                  kFunction)
              .find("at most 1024") != std::string::npos);
    CHECK(refusal("", ".func f(.param .b8 a[], .param .b32 b);\n").find("only the last") !=
          std::string::npos);
}

TEST_CASE("spelling: registers and local variables outside of functions, of PTX ISA 2",
          "[machine][spellings]") {
    const std::string head =
        ".version 2.3\n.target sm_20\n.address_size 64\n.reg .u32 %g<2>, own;\n"
        ".reg .pred gp;\n.local .u32 slot[2];\n";
    const std::string kernel =
        ".entry k(.param .u64 out, .param .u64 in)\n{\n.reg .u32 %r<4>, own;"
        " .reg .u64 q;\nld.param.u64 q, [out];\nmov.u32 %g1, %tid.x;\n"
        "setp.ge.u32 gp, %g1, 2;\nmov.u32 own, 100;\n"
        "st.local.u32 [slot+4], %g1;\n@gp add.u32 %g1, %g1, own;\n"
        "ld.local.u32 %r1, [slot+4];\nmad.lo.u32 %r1, %r1, 1000, %g1;\n"
        "mov.u32 %r2, %tid.x;\nmad.wide.u32 q, %r2, 4, q;\nst.global.u32 [q], %r1;\nexit;\n}\n";
    Lab lab;
    lab.modules.push_back(lab.machine->load(head + kernel, "old", 0));
    lab.launch(*lab.modules.back(), "k", {{1, 1, 1}, {4, 1, 1}, 0, false});
    CHECK(lab.words(4) == std::vector<uint32_t>{0, 1001, 2102, 3103});
    const auto said = [&](const std::string& text) -> std::string {
        try {
            const auto module = ptx::Module::open(text, "old");
            for (const auto& header : module->functions()) module->function(header.name);
        } catch (const ptx::ParseError& error) {
            return error.what();
        }
        return {};
    };
    CHECK(said(head + ".func f() { mov.u32 %g0, 1; ret; }\n").find("only supported in") !=
          std::string::npos);
    CHECK(said(head + ".func f() { st.local.u32 [slot], 1; ret; }\n").find("only supported in") !=
          std::string::npos);
    CHECK(said(".version 3.0\n.target sm_20\n.reg .u32 g;\n").find("since PTX ISA 3.0") !=
          std::string::npos);
}
