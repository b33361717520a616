// SPDX-License-Identifier: MIT
#include "ptx_text.h"

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

const std::string kDeclarations =
    R"(.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
.shared .align 4 .b32 tile[64];
)";

struct Parsed {
    std::unique_ptr<ptx::Module> module;
    const ptx::Instruction* instruction;
    const Operand& operand(size_t i) const { return instruction->operands.at(i); }
    std::string name(const Operand& reg) const {
        return std::string(module->function("k")->registers.at(reg.index).name);
    }
};

// The first instruction of a kernel with kDeclarations.
Parsed parse(const std::string& text) {
    CAPTURE(text);
    Parsed out{open_kernel(kDeclarations + text, ".global .u32 table[4]; "), nullptr};
    out.instruction = &out.module->function("k")->body.at(0);
    CHECK(out.module->unsupported("k").empty());
    return out;
}

}  // namespace

TEST_CASE("instruction: modifiers may come in any order", "[ptx][instruction]") {
    const auto a = parse("vote.ballot.sync.b32 %r1, %p1, 0xffffffff;");
    const auto b = parse("vote.sync.ballot.b32 %r1, %p1, -1;");
    CHECK(a.instruction->mods == b.instruction->mods);
    CHECK(a.instruction->type() == Type::kB32);
    CHECK(a.instruction->text == "vote.ballot.sync.b32");
    CHECK(a.operand(2).bits == 0xffffffff);
    CHECK(b.operand(2).bits == UINT64_MAX);
}

TEST_CASE("instruction: types, spaces, widths and modifiers are distinguished",
          "[ptx][instruction]") {
    const auto load = parse("ld.volatile.shared::cta.v2.b32 {%r1, %r2}, [tile+8];");
    CHECK(load.instruction->space == Space::kShared);
    CHECK(load.instruction->vector == 2);
    CHECK(load.instruction->has(Mod::k_volatile));
    const auto cached = parse("ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%rd1];");
    CHECK(cached.instruction->has(Mod::k_nc));
    CHECK(cached.instruction->has(Mod::k_L2_128B));
    CHECK(cached.instruction->has(Mod::k_L1_no_allocate));
    CHECK(parse("ld.u32 %r1, [%rd1];").instruction->space == Space::kGeneric);
    CHECK(parse("atom.add.u32 %r1, [%rd1], 1;").instruction->space == Space::kGeneric);
    CHECK(parse("add.u32 %r1, %r2, %r3;").instruction->space == Space::kNone);
    CHECK(parse("ld.param::entry.u64 %rd1, [p];").instruction->space == Space::kParam);
    const auto cvt = parse("cvt.rni.sat.u64.f32 %rd1, %f1;");
    CHECK(cvt.instruction->types == std::vector<Type>{Type::kU64, Type::kF32});
    const auto to = parse("cvta.to.global.u64 %rd1, %rd2;");
    CHECK(to.instruction->space == Space::kGlobal);
    CHECK(to.instruction->has(Mod::k_to));
    const auto copy = parse("cp.async.ca.shared.global [%r1], [%rd1], 16;");
    CHECK(copy.instruction->space == Space::kShared);
    CHECK(copy.instruction->space2 == Space::kGlobal);
    const auto atom = parse("atom.global.cas.acq_rel.gpu.b32 %r1, [%rd1], %r2, %r3;");
    CHECK(atom.instruction->opcode == Opcode::k_atom);
    CHECK(atom.instruction->has(Mod::k_cas));
    const auto spaced = parse("ld .global .u32 %r1, [%rd1];");
    CHECK(spaced.instruction->space == Space::kGlobal);
    CHECK(parse("bar.warp.sync 0xffffffff;").instruction->has(Mod::k_warp));
    CHECK(parse("mov.b128 {%rd1, %rd2}, {%rd3, %rd4};").instruction->type() == Type::kB128);
}

TEST_CASE("operand: immediates", "[ptx][operand]") {
    CHECK(parse("mov.u32 %r1, -5;").operand(1).bits == uint64_t(-5));
    CHECK(parse("mov.u32 %r1, (1<<4)+1;").operand(1).bits == 17);
    CHECK(parse("mov.u32 %r1, WARP_SZ;").operand(1).bits == 32);
    CHECK(parse("mov.u32 %r1, !0;").operand(1).bits == 1);
    const auto single = parse("mov.f32 %f1, 0fBF800000;");
    CHECK(single.operand(1).literal == Operand::Literal::kFloat32);
    CHECK(single.operand(1).bits == 0xbf800000u);
    const auto decimal = parse("mov.f32 %f1, -1.5;");
    CHECK(decimal.operand(1).literal == Operand::Literal::kFloat64);
    CHECK(decimal.operand(1).bits == 0xbff8000000000000u);
}

TEST_CASE("operand: addresses", "[ptx][operand]") {
    struct Case {
        const char* text;
        int64_t offset;
        Operand::Kind base;
    };
    for (const Case& each : {Case{"[%rd1]", 0, Operand::Kind::kRegister},
                             Case{"[%rd1+16]", 16, Operand::Kind::kRegister},
                             Case{"[%rd1+-4]", -4, Operand::Kind::kRegister},
                             Case{"[%rd1 - 4]", -4, Operand::Kind::kRegister},
                             Case{"[%rd1+(1<<4)]", 16, Operand::Kind::kRegister},
                             Case{"[table+8]", 8, Operand::Kind::kSymbol},
                             Case{"[table[3]]", 12, Operand::Kind::kSymbol},
                             Case{"table[2]", 8, Operand::Kind::kSymbol},
                             Case{"table", 0, Operand::Kind::kSymbol},
                             Case{"[0x20]", 0, Operand::Kind::kImmediate}}) {
        CAPTURE(each.text);
        const auto parsed = parse(std::string("ld.global.u32 %r1, ") + each.text + ";");
        const Operand& address = parsed.operand(1);
        REQUIRE(address.kind == Operand::Kind::kAddress);
        REQUIRE(address.elements.size() == 1);
        CHECK(address.elements[0].kind == each.base);
        CHECK(address.offset == each.offset);
        CHECK(address.elements[0].offset == 0);
    }
    const auto shared = parse("ld.shared.u32 %r1, [tile+4];");
    CHECK(shared.operand(1).elements[0].target == Operand::Target::kVariable);
    const auto parameter = parse("ld.param.u32 %r1, [n];");
    CHECK(parameter.operand(1).elements[0].target == Operand::Target::kParameter);
    CHECK(parameter.operand(1).elements[0].index == 1);
}

TEST_CASE("operand: the address of a symbol", "[ptx][operand]") {
    const auto plain = parse("mov.u64 %rd1, table;");
    CHECK(plain.operand(1).kind == Operand::Kind::kSymbol);
    CHECK(plain.operand(1).target == Operand::Target::kModule);
    CHECK(plain.operand(1).name == "table");
    CHECK(parse("mov.u64 %rd1, table+8;").operand(1).offset == 8);
    CHECK(parse("mov.u64 %rd1, table-8;").operand(1).offset == -8);
    CHECK(parse("mov.u64 %rd1, table[2];").operand(1).offset == 8);
    CHECK(parse("mov.u32 %r1, tile;").operand(1).target == Operand::Target::kVariable);
}

TEST_CASE("operand: vectors, pairs, sinks and negated predicates", "[ptx][operand]") {
    const auto pack = parse("mov.b64 %rd1, {%r1, %r2};");
    CHECK(pack.operand(1).kind == Operand::Kind::kVector);
    const auto unpack = parse("mov.b64 {%r1, _}, %rd1;");
    CHECK(unpack.operand(0).elements[1].kind == Operand::Kind::kSink);
    const auto pair = parse("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;");
    CHECK(pair.operand(0).kind == Operand::Kind::kPair);
    CHECK(pair.name(pair.operand(0).elements[1]) == "%p2");
    CHECK(pair.operand(3).negated);
    CHECK(parse("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;").operand(0).kind ==
          Operand::Kind::kPair);
    CHECK(parse("setp.eq.u32 _|%p1, %r1, 5;").operand(0).elements[0].kind == Operand::Kind::kSink);
    CHECK(parse("atom.global.add.u32 _, [%rd1], 5;").operand(0).kind == Operand::Kind::kSink);
}

TEST_CASE("operand: special registers", "[ptx][operand]") {
    const auto tid = parse("mov.u32 %r1, %tid.x;");
    CHECK(tid.operand(1).kind == Operand::Kind::kSpecial);
    CHECK(tid.operand(1).special == ptx::Special::k_tid_x);
    CHECK(parse("mov.u64 %rd1, %clock64;").operand(1).special == ptx::Special::k_clock64);
    CHECK(parse("mov.u32 %r1, %envreg2;").operand(1).special == ptx::Special::k_envreg2);
    CHECK(parse("mov.u32 %r1, %lanemask_lt;").operand(1).special == ptx::Special::k_lanemask_lt);
    // A vector becomes one move for each element.
    CHECK(parse("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;").operand(1).special ==
          ptx::Special::k_ntid_x);
}

TEST_CASE("operand: texture references carry their coordinates second", "[ptx][operand]") {
    const auto texture = parse("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
    const Operand& reference = texture.operand(1);
    REQUIRE(reference.elements.size() == 2);
    CHECK(reference.elements[0].kind == Operand::Kind::kRegister);
    CHECK(reference.elements[1].kind == Operand::Kind::kVector);
    CHECK(texture.instruction->has(Mod::k_2d));
    const auto sampled = parse("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5}];");
    REQUIRE(sampled.operand(1).elements.size() == 3);
    CHECK(sampled.operand(1).elements[1].kind == Operand::Kind::kVector);
    CHECK(sampled.operand(1).elements[2].kind == Operand::Kind::kRegister);
    const auto store = parse("sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};");
    CHECK(store.instruction->opcode == Opcode::k_sust);
    CHECK(store.instruction->has(Mod::k_trap));
}

TEST_CASE("operand: a register and a constant are added before the instruction", "[ptx][operand]") {
    const auto module = open_kernel(kDeclarations + R"(.reg .u16 %h; .reg .f64 %d;
@!%p1 mad.lo.u32 %r1, %r2+2*3, %r3, %r4+-1;
st.shared.u16 [tile], %h + 1 - 4;)");
    const auto& k = *module->function("k");
    REQUIRE(k.body.size() == 6);  // with the ret that is added
    const auto& first = k.body[0];
    CHECK(first.opcode == Opcode::k_add);
    CHECK(first.guarded);
    CHECK(first.guard_negated);
    CHECK(k.registers[first.operands[1].index].name == "%r2");
    CHECK(first.operands[2].bits == 6);
    CHECK(k.body[1].operands[2].bits == UINT64_MAX);
    CHECK(k.body[2].opcode == Opcode::k_mad);
    CHECK(k.body[2].operands[1].index == first.operands[0].index);
    CHECK(k.body[2].operands[3].index == k.body[1].operands[0].index);
    CHECK(k.body[3].type() == Type::kU16);
    CHECK(int64_t(k.body[3].operands[2].bits) == -3);
}

TEST_CASE("operand: sums that are none", "[ptx][operand]") {
    for (const auto& [line, names] : {std::pair{"add.u32 %r1+1, %r2, %r3;", "as the result"},
                                      {"ld.shared.u32 %r1+1, [tile];", "as the result"},
                                      {"add.f32 %f1, %f2+1, %f3;", "an integer register"},
                                      {"and.pred %p1, %p2+1, %p3;", "an integer register"},
                                      {"add.u32 %r1, %r2+%r3, 1;", "a constant"},
                                      {"add.u32 %r1, %r2-1, 1;", "';'"},
                                      {"add.u32 %r1, %r2*2, 1;", "';'"},
                                      {"mov.b64 %rd1, {%r1+1, %r2};", "after a list"}}) {
        CAPTURE(line);
        const std::string message = body_error(kDeclarations + line);
        CAPTURE(message);
        CHECK(contains(message, names));
        CHECK(contains(message, "PTX line 7"));
    }
}
