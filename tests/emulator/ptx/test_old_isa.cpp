// SPDX-License-Identifier: MIT
// Text of PTX ISA 1 and for sm_1x: what it leaves unsaid, as ptxas 13.0 completes it (the machine
// code that it makes of each line is that of the line with the modifiers that are named here).
#include <string>

#include "ptx_text.h"

using ptx::Mod;

namespace {

std::string header(const std::string& version, const std::string& target) {
    return ".version " + version + "\n.target " + target + "\n";
}

const std::string kRegisters =
    ".reg .f32 f; .reg .f64 d; .reg .f16 h; .reg .u32 u; .reg .s32 s; .reg .pred p;\n";

// The modifiers of the first instruction of a kernel for that version and target.
std::string modifiers(const std::string& line, const std::string& version,
                      const std::string& target) {
    const auto module = ptx::Module::open(
        header(version, target) + ".entry k {\n" + kRegisters + line + "\nexit;\n}\n", "test.ptx");
    const ptx::Instruction& in = module->function("k")->body.at(0);
    std::string out;
    for (const auto& [mod, name] : {std::pair{Mod::k_approx, "approx "},
                                    {Mod::k_full, "full "},
                                    {Mod::k_rn, "rn "},
                                    {Mod::k_rni, "rni "},
                                    {Mod::k_ftz, "ftz "}})
        if (in.has(mod)) out += name;
    return out;
}

}  // namespace

TEST_CASE("old text: kernels before 1.4 declare their parameters in the body", "[ptx][old]") {
    const auto module = ptx::Module::open(header("1.3", "sm_10, map_f64_to_f32") + R"(
.reg .u32 %ra<17>;
.entry k
{
    .reg .u64 %rd<2>;
    .reg .u16 %h;
    .param .u32 n;
    .param .u64 first, second;
    .loc 15 13 0
    .param .align 8 .b8 box[12];
    ld.param.u64 %rd1, [second];
    ld.param.u16 %h, [box+4];
    exit;
})",
                                          "test.ptx");
    const auto& parameters = module->functions().at(0).parameters;
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[0].name == "n");
    CHECK(parameters[2].name == "second");
    CHECK(parameters[2].offset == 16);
    CHECK(parameters[3].offset == 24);
    CHECK(parameters[3].bytes == 12);
    const ptx::Function& k = *module->function("k");
    CHECK(k.variables.empty());
    const ptx::Operand& address = k.body.at(0).operands.at(1).elements.at(0);
    CHECK(address.target == ptx::Operand::Target::kParameter);
    CHECK(address.index == 2);
    CHECK(k.body.at(1).operands.at(1).elements.at(0).index == 3);
}

TEST_CASE("old text: from 1.4 on, .param in a body is for calls", "[ptx][old]") {
    const auto module = ptx::Module::open(
        header("1.4", "sm_13") + ".entry k {\n.param .u32 n;\nst.param.u32 [n], 1;\nexit;\n}\n",
        "test.ptx");
    CHECK(module->functions().at(0).parameters.empty());
    CHECK(module->function("k")->variables.size() == 1);
}

TEST_CASE("old text: a parameter in the body needs its name and its end", "[ptx][old]") {
    CHECK(contains(error_of(header("1.3", "sm_10") + ".entry k {\n.param .u32;\nexit;\n}\n"),
                   "expected the name of a parameter"));
    CHECK(contains(error_of(header("1.3", "sm_10") + ".entry k {\n.param .u32 a exit;\n}\n"),
                   "after a parameter"));
    CHECK(contains(
        error_of(header("1.3", "sm_10") + ".entry k {\n.param .u32 a; .param .u64 a;\nexit;\n}\n"),
        "each parameter's name once"));
}

TEST_CASE("old text: the rounding that 1.0 to 1.3 take for granted", "[ptx][old]") {
    struct Default {
        const char* line;
        const char* modifiers;
    };
    for (const auto& [line, want] : {Default{"div.f32 f, f, f;", "approx ftz "},
                                     {"rcp.f32 f, f;", "approx ftz "},
                                     {"sqrt.f32 f, f;", "approx ftz "},
                                     {"rsqrt.f32 f, f;", "approx ftz "},
                                     {"sin.f32 f, f;", "approx ftz "},
                                     {"cos.f32 f, f;", "approx ftz "},
                                     {"lg2.f32 f, f;", "approx ftz "},
                                     {"ex2.f32 f, f;", "approx ftz "},
                                     {"mad.f32 f, f, f, f;", "rn ftz "},
                                     {"div.full.f32 f, f, f;", "full ftz "},
                                     {"mad.f64 d, d, d, d;", "rn "},
                                     {"div.f64 d, d, d;", "rn "},
                                     {"sqrt.f64 d, d;", "rn "},
                                     {"rsqrt.f64 d, d;", "approx "}}) {
        CAPTURE(line);
        CHECK(modifiers(line, "1.3", "sm_13") == want);
    }
    const std::string kernel = ".entry k() {\n" + kRegisters;
    for (const char* line : {"div.f32 f, f, f;",
                             "sin.f32 f, f;",
                             "ex2.f32 f, f;",
                             "sqrt.f64 d, d;",
                             "mad.f64 d, d, d, d;"}) {
        CAPTURE(line);
        CHECK(contains(error_of(header("1.4", "sm_13") + kernel + line + "\n}\n"), "expected one"));
    }
}

TEST_CASE("old text: single precision of sm_1x knows no subnormal numbers", "[ptx][old]") {
    for (const char* version : {"1.3", "1.4", "3.0"}) {
        CAPTURE(version);
        for (const char* line : {"add.f32 f, f, f;",
                                 "mul.sat.f32 f, f, f;",
                                 "mad.f32 f, f, f, f;",
                                 "min.f32 f, f, f;",
                                 "abs.f32 f, f;",
                                 "neg.f32 f, f;",
                                 "sin.approx.f32 f, f;",
                                 "set.lt.f32.f32 f, f, f;",
                                 "setp.lt.f32 p, f, f;",
                                 "slct.u32.f32 u, u, u, f;",
                                 "cvt.f32.f32 f, f;",
                                 "cvt.rni.f32.f32 f, f;",
                                 "cvt.rni.s32.f32 s, f;"}) {
            CAPTURE(line);
            CHECK(contains(modifiers(line, version, "sm_13"), "ftz"));
        }
        for (const char* line : {"mov.f32 f, f;",
                                 "selp.f32 f, f, f, p;",
                                 "add.f64 d, d, d;",
                                 "add.u32 u, u, u;",
                                 "slct.f32.s32 f, f, f, s;",
                                 "cvt.rni.s32.f64 s, d;"}) {
            CAPTURE(line);
            CHECK_FALSE(contains(modifiers(line, version, "sm_13"), "ftz"));
        }
    }
    CHECK(modifiers("add.f32 f, f, f;", "2.0", "sm_20").empty());
}

TEST_CASE("old text: mad.f32 names its rounding since 3.2, for targets that round", "[ptx][old]") {
    const std::string line = "mad.f32 f, f, f, f;";
    CHECK(modifiers(line, "3.1", "sm_30") == "rn ");
    CHECK(modifiers(line, "2.0", "sm_20") == "rn ");
    CHECK(modifiers(line, "8.0", "sm_13") == "rn ftz ");
    CHECK(
        contains(error_of(header("3.2", "sm_30") + ".entry k() {\n" + kRegisters + line + "\n}\n"),
                 "expected one of .rn"));
}

TEST_CASE("old text: conversions with .f64 flush from 1.5 on", "[ptx][old]") {
    for (const char* line : {"cvt.f64.f32 d, f;", "cvt.rn.f32.f64 f, d;"}) {
        CAPTURE(line);
        CHECK_FALSE(contains(modifiers(line, "1.4", "sm_13"), "ftz"));
        CHECK(contains(modifiers(line, "1.5", "sm_13"), "ftz"));
        CHECK_FALSE(contains(modifiers(line, "2.0", "sm_20"), "ftz"));
    }
}

TEST_CASE("old text: constants in numbered banks", "[ptx][old]") {
    const auto module = ptx::Module::open(header("2.1", "sm_20") + R"(
.const[2] .align 8 .b32 table[4] = {1, 2, 3, 4};
.const[0] .f32 one = 1.0;
.entry k() { .reg .u32 u; ld.const[2].u32 u, [table+8]; exit; }
)",
                                          "test.ptx");
    REQUIRE(module->variables().size() == 2);
    CHECK(module->variables()[0].space == ptx::Space::kConst);
    CHECK(module->variables()[0].bytes == 16);
    const ptx::Instruction& load = module->function("k")->body.at(0);
    CHECK(load.space == ptx::Space::kConst);
    CHECK(load.type() == ptx::Type::kU32);
    CHECK(load.text == "ld.const[2].u32");
    CHECK(contains(error_of(header("2.1", "sm_20") + ".const[11] .u32 c;"), "from 0 to 10"));
}
