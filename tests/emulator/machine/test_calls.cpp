// SPDX-License-Identifier: MIT
// Functions: arguments and results of every width, recursion, pointers that differ between lanes,
// local memory per activation, lanes that return one by one, and the end of the stack.
#include "machine_lab.h"

using namespace machine_lab;

namespace {
// result = f(argument) for 32-bit values; `body` turns %a into %b.
std::string function(const std::string& name, const std::string& body) {
    return ".visible .func (.param .b32 r) " + name +
           "(.param .b32 p)\n{\n.reg .b32 %a, %b, %t<8>;\n"
           ".reg .b64 %u<8>;\n.reg .pred %q<4>;\nld.param.u32 %a, [p];\n" +
           body + "\nst.param.b32 [r], %b;\nret;\n}\n";
}
std::string call(const std::string& name, const std::string& to, const std::string& from) {
    return "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], " + from +
           ";\ncall.uni (r0), " + name + ", (a0);\nld.param.b32 " + to + ", [r0];\n}\n";
}
std::string call_pointer(const std::string& pointer, const std::string& to,
                         const std::string& from) {
    return "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], " + from +
           ";\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (r0), " + pointer +
           ", (a0), proto;\nld.param.b32 " + to + ", [r0];\n}\n";
}
}  // namespace

TEST_CASE("call: every lane its own argument and result", "[machine][calls]") {
    Lab lab;
    lab.run(call("f", "%r1", "%lane") + "st.global.u32 [%mine], %r1;",
            {},
            function("f", "mad.lo.u32 %b, %a, %a, 3;"));
    CHECK(lab.words() == each([](uint32_t i) { return i * i + 3; }));
}

TEST_CASE("call: arguments of every width and a structure", "[machine][calls]") {
    Lab lab;
    lab.run(
        "cvt.u16.u32 %rs1, %lane;\nmul.wide.u32 %rd1, %lane, 1000000007;\n"
        "cvt.rn.f64.u32 %d1, %lane;\n{\n.param .b8 a;\n.param .b16 b;\n.param .b64 c;\n"
        ".param .f64 d;\n.param .align 8 .b8 e[16];\n.param .align 8 .b8 x[16];\n"
        "st.param.b8 [a], %rs1;\nst.param.b16 [b], %rs1;\nst.param.b64 [c], %rd1;\n"
        "st.param.f64 [d], %d1;\nst.param.v2.b32 [e], {%lane, 5};\nst.param.b64 [e+8], %rd1;\n"
        "call.uni (x), f, (a, b, c, d, e);\nld.param.b64 %rd2, [x];\nld.param.b64 %rd3, [x+8];\n"
        "}\nst.global.u64 [%mine8], %rd2;\nst.global.u64 [%mine8+256], %rd3;",
        {},
        ".func (.param .align 8 .b8 r[16]) f(.param .b8 a, .param .b16 b, .param .b64 c, "
        ".param .f64 d, .param .align 8 .b8 e[16])\n{\n.reg .b64 %rd<9>; .reg .f64 %d<3>;\n"
        ".reg .b32 %r<4>;\nld.param.u8 %rd1, [a];\nld.param.u16 %rd2, [b];\n"
        "ld.param.u64 %rd3, [c];\nld.param.f64 %d1, [d];\ncvt.rzi.u64.f64 %rd4, %d1;\n"
        "ld.param.v2.u32 {%r1, %r2}, [e];\nld.param.u64 %rd5, [e+8];\nadd.u64 %rd6, %rd1, %rd2;\n"
        "add.u64 %rd6, %rd6, %rd3;\nadd.u64 %rd6, %rd6, %rd4;\ncvt.u64.u32 %rd7, %r1;\n"
        "mad.wide.u32 %rd7, %r2, 100, %rd7;\nadd.u64 %rd7, %rd7, %rd5;\n"
        "st.param.b64 [r], %rd6;\nst.param.b64 [r+8], %rd7;\nret;\n}\n");
    for (uint64_t i : {0, 1, 17, 31}) {
        CHECK(lab.got<uint64_t>(i) == 3 * i + i * 1000000007);
        CHECK(lab.got<uint64_t>(32 + i) == i + 500 + i * 1000000007);
    }
}

TEST_CASE("call: no arguments, no result", "[machine][calls]") {
    Lab lab;
    lab.run("call.uni f;\nst.global.u32 [%mine], 1;",
            {},
            ".global .u32 count;\n.func f()\n{\nred.global.add.u32 [count], 1;\nret;\n}\n");
    uint32_t count;
    std::memcpy(&count, lab.modules[0]->variable("count")->host, 4);
    CHECK(count == 32);
}

TEST_CASE("call: a guarded call runs for its lanes only", "[machine][calls]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 5;\nmov.u32 %r1, 9;\n{\n.param .b32 a0;\n.param .b32 r0;\n"
            "st.param.b32 [a0], %lane;\nst.param.b32 [r0], 50;\n@%p1 call (r0), f, (a0);\n"
            "ld.param.b32 %r1, [r0];\n}\nactivemask.b32 %r2;\nst.global.u32 [%mine], %r1;\n"
            "st.global.u32 [%mine+128], %r2;",
            {},
            function("f", "add.u32 %b, %a, 100;"));
    CHECK(lab.words() == each([](uint32_t i) { return i < 5 ? i + 100 : 50; }));
    CHECK(lab.got(32) == kAllLanes);
    CHECK(lab.seen.executed_threads("call") == 5);
}

TEST_CASE("ret: lanes that return one by one meet after the call", "[machine][calls]") {
    Lab lab;
    lab.run(call("f", "%r1", "%lane") + "activemask.b32 %r2;\nst.global.u32 [%mine], %r1;\n"
                                        "st.global.u32 [%mine+128], %r2;",
            {},
            function("f",
                     "mov.u32 %b, 0;\nLOOP:\nst.param.b32 [r], %b;\nsetp.eq.u32 %q1, %b, %a;\n"
                     "@%q1 ret;\nadd.u32 %b, %b, 1;\nbra LOOP;\n"));
    CHECK(lab.words() == each([](uint32_t i) { return i; }));
    for (uint32_t i = 0; i < 32; ++i) CHECK(lab.got(32 + i) == kAllLanes);
}

TEST_CASE("ret: from inside a branch of the function", "[machine][calls]") {
    Lab lab;
    lab.run(call("f", "%r1", "%lane") + "activemask.b32 %r2;\nst.global.u32 [%mine], %r1;\n"
                                        "st.global.u32 [%mine+128], %r2;",
            {},
            function("f",
                     "setp.lt.u32 %q1, %a, 16;\n@%q1 bra LOW;\nsetp.ge.u32 %q2, %a, 24;\n"
                     "@%q2 bra EARLY;\nmov.u32 %b, 2;\nbra JOIN;\nEARLY:\n"
                     "st.param.b32 [r], 3;\nret;\nLOW:\nmov.u32 %b, 1;\nJOIN:\n"));
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? 1 : i < 24 ? 2 : 3; }));
    for (uint32_t i = 0; i < 32; ++i) CHECK(lab.got(32 + i) == kAllLanes);
}

TEST_CASE("exit: inside a function ends the lane, not the function", "[machine][calls]") {
    Lab lab;
    const LaunchSummary s =
        lab.run(call("f", "%r1", "%lane") + "activemask.b32 %r2;\nst.global.u32 [%mine], %r2;",
                {},
                function("f", "setp.gt.u32 %q1, %a, 9;\n@%q1 exit;\nmov.u32 %b, %a;"));
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return i <= 9 ? 0x3ff : kOldWord; }));
}

TEST_CASE("recursion: every lane its own depth", "[machine][calls]") {
    // f(n) = n < 2 ? n : f(n - 1) + f(n - 2), the argument kept in local memory across the calls.
    const std::string fib =
        ".func (.param .b32 r) f(.param .b32 p)\n{\n.local .align 4 .b8 l[16];\n.reg .b32 %a, %b, "
        "%c;\n"
        ".reg .pred %q1;\nld.param.u32 %a, [p];\nsetp.lt.u32 %q1, %a, 2;\n@%q1 bra SMALL;\n"
        "st.local.u32 [l+4], %a;\nsub.u32 %a, %a, 1;\n" +
        call("f", "%b", "%a") +
        "st.local.u32 [l+8], %b;\nld.local.u32 %a, [l+4];\nsub.u32 %a, %a, 2;\n" +
        call("f", "%c", "%a") +
        "ld.local.u32 %b, [l+8];\nadd.u32 %a, %b, %c;\nSMALL:\n"
        "st.param.b32 [r], %a;\nret;\n}\n";
    Lab lab;
    const LaunchSummary s = lab.run("rem.u32 %r1, %lane, 11;\n" + call("f", "%r2", "%r1") +
                                        "st.global.u32 [%mine], %r2;\nactivemask.b32 %r3;\n"
                                        "st.global.u32 [%mine+128], %r3;",
                                    {},
                                    fib);
    CHECK(s.status == LaunchStatus::kOk);
    const uint32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    CHECK(lab.words() == each([&](uint32_t i) { return numbers[i % 11]; }));
    CHECK(lab.got(40) == kAllLanes);
}

TEST_CASE("local: a callee may use the caller's array through a pointer", "[machine][calls]") {
    Lab lab;
    lab.run(".local .align 4 .b8 l[128];\nmov.u64 %rd1, l;\ncvta.local.u64 %rd1, %rd1;\n"
            "st.local.u32 [l+20], 1;\n{\n.param .b64 a0;\nst.param.b64 [a0], %rd1;\n"
            "call.uni f, (a0);\n}\nld.local.u32 %r1, [l+20];\nld.local.u32 %r2, [l+24];\n"
            "mad.lo.u32 %r1, %r1, 1000, %r2;\nst.global.u32 [%mine], %r1;",
            {},
            ".func f(.param .b64 p)\n{\n.local .align 4 .b8 mine[64];\n.reg .b64 %p0;\n.reg .b32 "
            "%t, %x;\n"
            "ld.param.u64 %p0, [p];\nmov.u32 %t, %laneid;\nst.local.u32 [mine+20], 77;\n"
            "ld.u32 %x, [%p0+20];\nadd.u32 %x, %x, %t;\nst.u32 [%p0+24], %x;\nret;\n}\n");
    CHECK(lab.words() == each([](uint32_t i) { return 1000 + i + 1; }));
    for (const SeenAccess& a : lab.seen.accesses) CHECK(a.bad == 0);
}

TEST_CASE("local: an overrun of the caller's array does not reach the callee's",
          "[machine][calls]") {
    Lab lab;
    lab.run(
        ".local .align 4 .b8 l[16];\nmov.u64 %rd1, l;\n{\n.param .b64 a0;\n"
        "st.param.b64 [a0], %rd1;\ncall.uni f, (a0);\n}\n",
        {},
        ".func f(.param .b64 p)\n{\n.local .align 4 .b8 mine[64];\n.reg .b64 %p0;\n.reg .b32 %x;\n"
        "ld.param.u64 %p0, [p];\nst.local.u32 [mine], 3;\nst.local.u32 [%p0+16], 9;\n"
        "ld.local.u32 %x, [mine];\nret;\n}\n");
    REQUIRE(lab.seen.accesses.size() == 3);
    CHECK(lab.seen.accesses[1].bad == kAllLanes);
    CHECK(lab.seen.accesses[2].before[0] == 3);
}

TEST_CASE("stack overflow: endless recursion is a fault", "[machine][calls]") {
    Lab lab;
    const LaunchSummary s = lab.run(
        call("f", "%r1", "%lane") + "st.global.u32 [%mine], %r1;",
        {},
        ".func (.param .b32 r) f(.param .b32 p)\n{\n.local .align 4 .b8 l[64];\n.reg .b32 %a;\n"
        "ld.param.u32 %a, [p];\nst.local.u32 [l], %a;\n" +
            call("f", "%a", "%a") + "st.param.b32 [r], %a;\nret;\n}\n");
    CHECK(s.status == LaunchStatus::kStackOverflow);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == FaultKind::kStackOverflow);
    CHECK(lab.seen.faults[0].mask == kAllLanes);
    CHECK(lab.got(0) == kOldWord);
}

TEST_CASE("stack: a larger limit allows a deeper recursion", "[machine][calls]") {
    const std::string depth =
        function("f",
                 "setp.eq.u32 %q1, %a, 0;\nmov.u32 %b, 0;\n@%q1 bra END;\nsub.u32 %a, %a, 1;\n" +
                     call("f", "%b", "%a") + "add.u32 %b, %b, 1;\nEND:\n");
    const std::string body =
        "mov.u32 %r1, 2000;\n" + call("f", "%r2", "%r1") + "st.global.u32 [%mine], %r2;";
    Lab lab;
    CHECK(lab.run(body, {}, depth).status == LaunchStatus::kStackOverflow);
    lab.machine->set_stack_bytes(64 << 10);
    CHECK(lab.run(body, {}, depth).status == LaunchStatus::kOk);
    CHECK(lab.got(31) == 2000);
}

TEST_CASE("indirect call: lanes with different targets, which meet afterwards",
          "[machine][calls]") {
    const std::string functions = function("f", "add.u32 %b, %a, 100;") +
                                  function("g", "mul.lo.u32 %b, %a, 2;") +
                                  function("h", "mov.u32 %b, 7;");
    Lab lab;
    const LaunchSummary s = lab.run(
        "mov.u64 %rd1, f;\nmov.u64 %rd2, g;\nmov.u64 %rd3, h;\nrem.u32 %r1, %lane, 3;\n"
        "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 1;\nselp.b64 %rd4, %rd2, %rd3, %p2;\n"
        "selp.b64 %rd4, %rd1, %rd4, %p1;\n" +
            call_pointer("%rd4", "%r2", "%lane") +
            "activemask.b32 %r3;\nst.global.u32 [%mine], %r2;\n"
            "st.global.u32 [%mine+128], %r3;",
        {},
        functions);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) {
              return i % 3 == 0 ? i + 100 : i % 3 == 1 ? 2 * i : 7;
          }));
    for (uint32_t i = 0; i < 32; ++i) CHECK(lab.got(32 + i) == kAllLanes);
    CHECK(lab.seen.executed("ld.param.u32") == 3);  // once per target
}

TEST_CASE("indirect call: through a table of functions in memory", "[machine][calls]") {
    Lab lab;
    lab.run("and.b32 %r1, %lane, 1;\nmov.u64 %rd1, table;\nmad.wide.u32 %rd1, %r1, 8, %rd1;\n"
            "ld.global.u64 %rd2, [%rd1];\n" +
                call_pointer("%rd2", "%r2", "%lane") + "st.global.u32 [%mine], %r2;",
            {},
            function("f", "add.u32 %b, %a, 1;") + function("g", "add.u32 %b, %a, 2;") +
                ".global .align 8 .u64 table[2] = {f, g};\n");
    CHECK(lab.words() == each([](uint32_t i) { return i + 1 + i % 2; }));
}

TEST_CASE("indirect call: a pointer that is no function's is a fault", "[machine][calls]") {
    for (const char* pointer : {"0", "0x0400000000012340", "0x1234"}) {
        Lab lab;
        const LaunchSummary s =
            lab.run(std::string("setp.eq.u32 %p1, %lane, 6;\nmov.u64 %rd1, f;\nselp.b64 %rd2, ") +
                        pointer + ", %rd1, %p1;\n" + call_pointer("%rd2", "%r1", "%lane"),
                    {},
                    function("f", "mov.u32 %b, %a;"));
        INFO(pointer);
        CHECK(s.status == LaunchStatus::kIllegalAddress);
        REQUIRE(lab.seen.faults.size() == 1);
        CHECK(lab.seen.faults[0].kind == FaultKind::kBadCall);
        CHECK(lab.seen.faults[0].mask == 1u << 6);
    }
}

TEST_CASE("call: a barrier inside a function is a barrier of the block", "[machine][calls]") {
    Lab lab;
    CHECK(lab.run("st.shared.u32 [s], %tid;\ncall.uni f;\nld.shared.u32 %r1, [s];\n"
                  "st.global.u32 [%mine], %r1;",
                  {.block = {96, 1, 1}},
                  ".shared .align 4 .b8 s[4];\n.func f()\n{\nbar.sync 0;\nret;\n}\n")
              .status == LaunchStatus::kOk);
    CHECK(lab.words(96) == each([](uint32_t) { return 95; }, 96));
}

TEST_CASE("call: a function that is declared but not defined stops the launch",
          "[machine][calls]") {
    Lab lab;
    const LaunchSummary s = lab.run("call.uni nobody;", {}, ".extern .func nobody();\n");
    CHECK(s.status == LaunchStatus::kUnsupported);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].message.find("nobody") != std::string::npos);
}
