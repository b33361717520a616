// SPDX-License-Identifier: MIT
// What the device runtime supplies: printf, assert, trap, malloc and free.
#include <algorithm>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

std::string printed;
void keep(const char* text, size_t length) {
    printed.append(text, length);
}

const std::string kExterns =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, "
    ".param .b64 c) .noreturn;\n";

std::string text(const std::string& name, const std::string& value) {
    std::string out =
        ".global .align 1 .b8 " + name + "[" + std::to_string(value.size() + 1) + "] = {";
    for (unsigned char c : value) out += std::to_string(int(c)) + ", ";
    return out + "0};\n";
}

// printf(format, arguments that `stores` puts at [%rd40...]) by the first lane; what came out.
std::string print(const std::string& format, const std::string& stores,
                  const std::string& more = {}) {
    printed.clear();
    Lab lab;
    lab.machine->set_printf_sink(keep);
    lab.run(
        "setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\n.local .align 16 .b8 buffer[128];\n"
        "mov.u64 %rd40, buffer;\ncvta.local.u64 %rd41, %rd40;\n" +
            stores +
            "\nmov.u64 %rd42, fmt;\ncvta.global.u64 %rd42, %rd42;\n{\n.param .b64 a;\n.param .b64 "
            "b;\n"
            ".param .b32 r;\nst.param.b64 [a], %rd42;\nst.param.b64 [b], %rd41;\n"
            "call.uni (r), vprintf, (a, b);\nld.param.b32 %r1, [r];\n}\nst.global.u32 [%out], %r1;",
        {},
        kExterns + text("fmt", format) + more);
    CHECK(lab.seen.faults.empty());
    return printed + "|" + std::to_string(lab.got(0));
}

std::string call_malloc(const std::string& to, const std::string& bytes) {
    return "{\n.param .b64 n;\n.param .b64 r;\nst.param.b64 [n], " + bytes +
           ";\ncall.uni (r), malloc, (n);\nld.param.b64 " + to + ", [r];\n}\n";
}
std::string call_free(const std::string& pointer) {
    return "{\n.param .b64 p;\nst.param.b64 [p], " + pointer + ";\ncall.uni free, (p);\n}\n";
}

}  // namespace

TEST_CASE("printf: text alone, and the percent sign", "[machine][builtins]") {
    CHECK(print("100%% sure\n", "") == "100% sure\n|0");
    CHECK(print("", "") == "|0");
}

TEST_CASE("printf: integers, signs, widths and bases", "[machine][builtins]") {
    CHECK(print("%d %u %i",
                "st.local.u32 [%rd40], -5;\nst.local.u32 [%rd40+4], -5;\n"
                "st.local.u32 [%rd40+8], 7;") == "-5 4294967291 7|3");
    CHECK(
        print(
            "[%5d|%-5d|%05d|%+d]",
            "st.local.u32 [%rd40], 42;\nst.local.u32 [%rd40+4], 42;\nst.local.u32 [%rd40+8], 42;\n"
            "st.local.u32 [%rd40+12], 42;") == "[   42|42   |00042|+42]|4");
    CHECK(print("%x %X %#o %08x",
                "st.local.u32 [%rd40], 48879;\nst.local.u32 [%rd40+4], 48879;\n"
                "st.local.u32 [%rd40+8], 8;\nst.local.u32 [%rd40+12], -1;") ==
          "beef BEEF 010 ffffffff|4");
    CHECK(print("%c%c", "st.local.u32 [%rd40], 72;\nst.local.u32 [%rd40+4], 105;") == "Hi|2");
}

TEST_CASE("printf: 64-bit integers stand at multiples of eight", "[machine][builtins]") {
    CHECK(print("%d %lld %lu %llx",
                "st.local.u32 [%rd40], 1;\nst.local.u64 [%rd40+8], -5000000000;\n"
                "st.local.u64 [%rd40+16], 5000000000;\n"
                "st.local.u64 [%rd40+24], -1;") == "1 -5000000000 5000000000 ffffffffffffffff|4");
    CHECK(print("%zu %d", "st.local.u64 [%rd40], 9;\nst.local.u32 [%rd40+8], 8;") == "9 8|2");
}

TEST_CASE("printf: floating point", "[machine][builtins]") {
    CHECK(print("%f %.2f %8.3f %e %g",
                "st.local.f64 [%rd40], 0d3FF8000000000000;\n"
                "st.local.f64 [%rd40+8], 0d3FF8000000000000;\n"
                "st.local.f64 [%rd40+16], 0dC000000000000000;\n"
                "st.local.f64 [%rd40+24], 0d40C3880000000000;\n"
                "st.local.f64 [%rd40+32], 0d3FB999999999999A;") ==
          "1.500000 1.50   -2.000 1.000000e+04 0.1|5");
    CHECK(print("%f %F",
                "st.local.f64 [%rd40], 0d7FF0000000000000;\n"
                "st.local.f64 [%rd40+8], 0d7FF8000000000000;") == "inf NAN|2");
}

TEST_CASE("printf: width and precision from the arguments", "[machine][builtins]") {
    CHECK(print("[%*d|%.*f]",
                "st.local.u32 [%rd40], 6;\nst.local.u32 [%rd40+4], 42;\n"
                "st.local.u32 [%rd40+8], 1;\nst.local.f64 [%rd40+16], "
                "0d3FF4000000000000;") == "[    42|1.2]|2");
}

TEST_CASE("printf: strings in device memory, and pointers", "[machine][builtins]") {
    CHECK(print("<%s|%6s|%.2s>",
                "mov.u64 %rd1, word;\ncvta.global.u64 %rd1, %rd1;\n"
                "st.local.u64 [%rd40], %rd1;\nst.local.u64 [%rd40+8], %rd1;\n"
                "st.local.u64 [%rd40+16], %rd1;",
                text("word", "warp")) == "<warp|  warp|wa>|3");
    CHECK(print("%p", "st.local.u64 [%rd40], 4096;") == "0x1000|1");
}

TEST_CASE("printf: a stray percent sign is printed as it is", "[machine][builtins]") {
    CHECK(print("50% ", "") == "50% |0");
    CHECK(print("%", "") == "%|0");
    CHECK(print("%y %d", "st.local.u32 [%rd40], 3;") == "%y 3|1");
}

TEST_CASE("printf: a field of absurd width does not exhaust memory", "[machine][builtins]") {
    CHECK(print("%999999999d", "st.local.u32 [%rd40], 3;").size() < 20000);
}

TEST_CASE("printf: lanes in order, warps and blocks in order", "[machine][builtins]") {
    printed.clear();
    Lab lab;
    lab.machine->set_printf_sink(keep);
    lab.run(".local .align 8 .b8 b[8];\nst.local.u32 [b], %g;\nmov.u64 %rd40, b;\n"
            "cvta.local.u64 %rd41, %rd40;\nmov.u64 %rd42, fmt;\ncvta.global.u64 %rd42, %rd42;\n"
            "{\n.param .b64 a;\n.param .b64 b0;\n.param .b32 r;\nst.param.b64 [a], %rd42;\n"
            "st.param.b64 [b0], %rd41;\ncall.uni (r), vprintf, (a, b0);\n}\n",
            {.grid = {2, 1, 1}, .block = {40, 1, 1}},
            kExterns + text("fmt", "%d "));
    std::string want;
    for (int i = 0; i < 80; ++i) want += std::to_string(i) + " ";
    CHECK(printed == want);
}

TEST_CASE("printf: a null format prints nothing", "[machine][builtins]") {
    printed.clear();
    Lab lab;
    lab.machine->set_printf_sink(keep);
    lab.run("{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\nst.param.b64 [a], 0;\n"
            "st.param.b64 [b], 0;\ncall.uni (r), vprintf, (a, b);\n}\n",
            {},
            kExterns);
    CHECK(printed.empty());
}

TEST_CASE("assert: condition, place and lanes are reported, and the launch fails",
          "[machine][builtins]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %lane, 30;\n@%p1 bra END;\nmov.u64 %rd1, m;\n"
                "cvta.global.u64 %rd1, %rd1;\nmov.u64 %rd2, f;\ncvta.global.u64 %rd2, %rd2;\n"
                "mov.u64 %rd3, n;\ncvta.global.u64 %rd3, %rd3;\n{\n.param .b64 a;\n.param .b64 b;\n"
                ".param .b32 c;\n.param .b64 d;\n.param .b64 e;\nst.param.b64 [a], %rd1;\n"
                "st.param.b64 [b], %rd2;\nst.param.b32 [c], 12;\nst.param.b64 [d], %rd3;\n"
                "st.param.b64 [e], 1;\ncall.uni __assertfail, (a, b, c, d, e);\n}\nEND:\n",
                {},
                kExterns + text("m", "i < n") + text("f", "a.cu") + text("n", "kernel(int)"));
    CHECK(s.status == LaunchStatus::kAssert);
    REQUIRE(lab.seen.faults.size() == 1);
    const SeenFault& fault = lab.seen.faults[0];
    CHECK(fault.kind == FaultKind::kAssert);
    CHECK(fault.mask == 0xc0000000u);
    CHECK(fault.message == "i < n");
    CHECK(fault.file == "a.cu");
    CHECK(fault.line == 12);
    CHECK(fault.function == "kernel(int)");
}

TEST_CASE("assert: nothing runs after it", "[machine][builtins]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("st.global.u32 [%mine], 1;\nmov.u64 %rd1, m;\ncvta.global.u64 %rd1, %rd1;\n{\n"
                ".param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param .b64 e;\n"
                "st.param.b64 [a], %rd1;\nst.param.b64 [b], %rd1;\nst.param.b32 [c], 12;\n"
                "st.param.b64 [d], %rd1;\nst.param.b64 [e], 1;\n"
                "call.uni __assertfail, (a, b, c, d, e);\n}\nst.global.u32 [%mine], 2;\n",
                {},
                kExterns + text("m", "i < n"));
    CHECK(s.status == LaunchStatus::kAssert);
    CHECK(lab.got(0) == 1);
}

TEST_CASE("trap: ends the launch at once", "[machine][builtins]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("st.global.u32 [%mine], 1;\nsetp.eq.u32 %p1, %lane, 3;\n@%p1 trap;\n"
                "st.global.u32 [%mine], 2;",
                {.grid = {2, 1, 1}});
    CHECK(s.status == LaunchStatus::kTrap);
    CHECK(lab.got(0) == 1);
    CHECK(lab.got(32) == kOldWord);  // the second block never ran
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == FaultKind::kTrap);
    CHECK(lab.seen.faults[0].mask == 1u << 3);
}

TEST_CASE("malloc: every lane its own memory, and free gives it back", "[machine][builtins]") {
    Lab lab;
    const LaunchSummary s = lab.run(call_malloc("%rd1", "64") +
                                        "st.u32 [%rd1+60], %lane;\nld.u32 %r1, [%rd1+60];\n"
                                        "st.global.u32 [%mine], %r1;\n" +
                                        call_free("%rd1"),
                                    {},
                                    kExterns);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return i; }));
    CHECK(lab.seen.freed.size() == 32);
    CHECK(lab.seen.faults.empty());
}

TEST_CASE("malloc: lives on into the next launch", "[machine][builtins]") {
    Lab lab;
    lab.run("setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\n" + call_malloc("%rd1", "8") +
                "st.global.u64 [%in], %rd1;\nst.u64 [%rd1], 12345;",
            {},
            kExterns);
    CHECK(lab.run("setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\nld.global.u64 %rd1, [%in];\n"
                  "ld.u64 %rd2, [%rd1];\nst.global.u64 [%out], %rd2;\n" +
                      call_free("%rd1"),
                  {},
                  kExterns)
              .status == LaunchStatus::kOk);
    CHECK(lab.got<uint64_t>(0) == 12345);
}

TEST_CASE("malloc: null when the heap is used up, and again memory after free",
          "[machine][builtins]") {
    Lab lab;
    lab.machine->set_heap_bytes(1000);
    lab.run("setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\n" + call_malloc("%rd1", "600") +
                call_malloc("%rd2", "600") + call_free("%rd1") + call_malloc("%rd3", "600") +
                call_malloc("%rd4", "0") +
                "setp.ne.u64 %p2, %rd1, 0;\nsetp.ne.u64 %p3, %rd2, 0;\nsetp.ne.u64 %p4, %rd3, 0;\n"
                "setp.ne.u64 %p5, %rd4, 0;\nselp.u32 %r1, 1, 0, %p2;\nselp.u32 %r2, 2, 0, %p3;\n"
                "selp.u32 %r3, 4, 0, %p4;\nselp.u32 %r4, 8, 0, %p5;\nadd.u32 %r1, %r1, %r2;\n"
                "add.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nst.global.u32 [%out], %r1;",
            {},
            kExterns);
    CHECK(lab.got(0) == 5);
}

TEST_CASE("malloc: an overrun is out of range", "[machine][builtins]") {
    Lab lab;
    lab.run("setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\n" + call_malloc("%rd1", "10") +
                "st.u32 [%rd1+8], 1;\nst.u16 [%rd1+8], 1;",
            {},
            kExterns);
    REQUIRE(lab.seen.accesses.size() == 2);
    CHECK(lab.seen.accesses[0].bad == 1);
    CHECK(lab.seen.accesses[1].bad == 0);
}

TEST_CASE("free: null is fine; twice, or what malloc did not give, is a fault",
          "[machine][builtins]") {
    const auto lone = [](const std::string& body) {
        return "setp.ne.u32 %p1, %tid, 0;\n@%p1 exit;\n" + body;
    };
    Lab lab;
    CHECK(lab.run(lone(call_free("0")), {}, kExterns).status == LaunchStatus::kOk);
    CHECK(lab.run(lone(call_malloc("%rd1", "8") + call_free("%rd1") + call_free("%rd1")),
                  {},
                  kExterns)
              .status == LaunchStatus::kIllegalAddress);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == FaultKind::kBadFree);
    CHECK(lab.run(lone(call_free("%in")), {}, kExterns).status == LaunchStatus::kIllegalAddress);
    CHECK(lab.run(lone(call_malloc("%rd1", "8") + "add.u64 %rd1, %rd1, 4;\n" + call_free("%rd1")),
                  {},
                  kExterns)
              .status == LaunchStatus::kIllegalAddress);
    CHECK(lab.in().live);
}
