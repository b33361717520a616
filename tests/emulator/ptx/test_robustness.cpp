// SPDX-License-Identifier: MIT
// Text that is damaged in every way must give a ParseError or a module, in bounded time.
#include <chrono>
#include <random>
#include <vector>

#include "ptx_text.h"

namespace {

const std::string kSample =
    kHeader + R"(.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 8 .u64 table[2] = {f, generic(g)+8};
.global .u32 g = 4;
.const .align 4 .f32 c[3] = {0f3F800000, 1.5, -2.0};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x];
  st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 p, .param .align 8 .b8 s[24]) .maxntid 8, 4, 1 {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .v2 .u32 v;
  .shared .align 4 .b8 tile[64];
  .loc 1 4 2
  ld.param.u64 %rd1, [p];
  .loc 2 5 6, function_name $L__info_string0, inlined_at 1 4 2
  mov.b64 {%r1, _}, %rd1; setp.lt.s32 %p1|%p2, %r1, %tid.x;
  @!%p1 bra $L1;
  { .param .b32 a; .param .b32 q; st.param.b32 [a+0], 7; call.uni (q), f, (a); ld.param.b32 %r2, [q]; }
  pr : .callprototype (.param .b32 _) _ (.param .b32 _);
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
  ts: .branchtargets $L1, $L2; brx.idx %r1, ts;
  $L1: atom.global.add.u32 %r1, [%rd1+-4], (1<<4); bar.sync 0;
  $L2: shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; mov.u32 %r1, v.x; ret;
}
.file 1 "a.cu"
.file 2 "b.h"
.section .debug_str { $L__info_string0: .b8 95,90,51,102,111,111,118,0 }
)";

// Everything that can be asked of a module.
void exercise(const std::string& text) {
    try {
        const auto module = ptx::Module::open(text, "damaged");
        for (const auto& header : module->functions()) {
            try {
                const auto* function = module->function(header.name);
                module->unsupported(header.name);
                for (const auto& instruction : function->body)
                    module->user_line(instruction.location);
            } catch (const ptx::ParseError&) {
            }
        }
    } catch (const ptx::ParseError&) {
    }
}

}  // namespace

TEST_CASE("robustness: the sample itself is fine", "[ptx][robustness]") {
    CHECK(error_of(kSample).empty());
}

TEST_CASE("robustness: the sample cut off anywhere", "[ptx][robustness]") {
    for (size_t size = 0; size < kSample.size(); ++size) exercise(kSample.substr(0, size));
    SUCCEED();
}

TEST_CASE("robustness: bytes and words changed, doubled, moved", "[ptx][robustness][slow]") {
    std::mt19937 random(7);
    const std::string alphabet = "{}[]()<>,;:.%$_\"/\\*+-|!@0x9fu \n\x01\xff";
    for (int round = 0; round < 4000; ++round) {
        std::string text = kSample;
        for (unsigned i = 0; i < 1 + random() % 4; ++i) {
            const size_t at = random() % text.size(), length = random() % 30;
            switch (random() % 4) {
            case 0:
                text[at] = alphabet[random() % alphabet.size()];
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(random() % text.size(), length));
                break;
            default:
                text.insert(at, 1, alphabet[random() % alphabet.size()]);
                break;
            }
        }
        exercise(text);
    }
    SUCCEED();
}

TEST_CASE("robustness: depth, counts and sizes are limited", "[ptx][robustness][slow]") {
    const auto repeat = [](const std::string& what, size_t n) {
        std::string out;
        for (size_t i = 0; i < n; ++i) out += what;
        return out;
    };
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& body :
         std::vector<std::string>{repeat("{", 100000),
                                  repeat("{", 100000) + repeat("}", 100000),
                                  "mov.u32 a, " + repeat("{", 100000),
                                  "mov.u32 a, " + repeat("[", 100000),
                                  "mov.u32 a, " + repeat("(", 100000),
                                  "mov.u32 a, " + repeat("!", 100000),
                                  repeat("@", 100000),
                                  "call (" + repeat("(", 100000),
                                  ".reg .b32 %r<16777216>; mov.u32 %r16777215, %r0;",
                                  ".attribute" + repeat("(", 100000),
                                  repeat("L:", 100000),
                                  repeat(".loc 1 1 1, inlined_at 1 1 1\n", 50000),
                                  repeat("bra X;", 50000),
                                  repeat(".reg .b32 %r<4000>; {", 200)}) {
        exercise(kHeader + ".entry k() {\n" + body + "\n}\n");
    }
    for (const std::string& text : std::vector<std::string>{
             ".global .u32 x = " + repeat("{", 100000),
             ".global .u32 x" + repeat("[1]", 100000) + ";",
             ".global .u32 x[1] = {" + repeat("(", 100000),
             repeat(".visible ", 100000),
             ".func f(" + repeat(".param .u32 a,", 100000),
             repeat(".section .s {", 100000),
             std::string(".global .u64 x[281474976710656] = {1};"),
             repeat(".alias a, b;", 50000),
             std::string(".entry k() .maxntid 4294967295, 4294967295, 4294967295 { ret; }")}) {
        exercise(kHeader + text);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    CHECK(time.count() < 20);
}

TEST_CASE("robustness: a megabyte is indexed quickly", "[ptx][robustness]") {
    std::string text = kHeader;
    for (int i = 0; text.size() < (1u << 20); ++i) {
        text += ".visible .entry k" + std::to_string(i) + "(.param .u64 p) {\n.reg .b32 %r<9>;\n";
        for (int j = 0; j < 100; ++j) text += "\tadd.s32 \t%r1, %r2, 17;\n";
        text += "\tret;\n}\n";
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto module = ptx::Module::open(text, "large");
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    CHECK(module->functions().size() > 300);
    CHECK(time.count() < 0.5);  // 2 ms optimised; the bound only catches a quadratic reader
}
