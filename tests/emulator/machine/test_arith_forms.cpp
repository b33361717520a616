// SPDX-License-Identifier: MIT
// Which forms the tables know, which they must refuse, and that they agree with each other.
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {
struct Form {
    const char* mnemonic;
    unsigned sources;
};
// What nvcc emits for the programs that the emulator was measured with, and more.
const Form kForms[] = {
    {"abs.f16", 1},
    {"abs.f32", 1},
    {"abs.f64", 1},
    {"abs.ftz.f32", 1},
    {"abs.s32", 1},
    {"add.cc.u32", 2},
    {"add.f16", 2},
    {"add.f32", 2},
    {"add.f64", 2},
    {"add.ftz.f32", 2},
    {"add.rn.f32", 2},
    {"add.rn.f64", 2},
    {"add.rz.f32", 2},
    {"add.rz.f64", 2},
    {"add.rz.ftz.f32", 2},
    {"add.s16", 2},
    {"add.s32", 2},
    {"add.s64", 2},
    {"add.u32", 2},
    {"add.u64", 2},
    {"addc.cc.u32", 2},
    {"addc.u32", 2},
    {"and.b16", 2},
    {"and.b32", 2},
    {"and.b64", 2},
    {"and.pred", 2},
    {"bfi.b64", 4},
    {"bfind.shiftamt.u32", 1},
    {"bmsk.clamp.b32", 2},
    {"brev.b32", 1},
    {"clz.b32", 1},
    {"clz.b64", 1},
    {"copysign.f32", 2},
    {"copysign.f64", 2},
    {"cos.approx.f32", 1},
    {"cos.approx.ftz.f32", 1},
    {"cvt.f32.f16", 1},
    {"cvt.f64.f32", 1},
    {"cvt.ftz.f64.f32", 1},
    {"cvt.ftz.sat.f32.f32", 1},
    {"cvt.rmi.f32.f32", 1},
    {"cvt.rmi.f64.f64", 1},
    {"cvt.rmi.ftz.f32.f32", 1},
    {"cvt.rn.bf16.f32", 1},
    {"cvt.rn.f16.f32", 1},
    {"cvt.rn.f16.s32", 1},
    {"cvt.rn.f32.f64", 1},
    {"cvt.rn.f32.s16", 1},
    {"cvt.rn.f32.s32", 1},
    {"cvt.rn.f32.s64", 1},
    {"cvt.rn.f32.u16", 1},
    {"cvt.rn.f32.u32", 1},
    {"cvt.rn.f32.u64", 1},
    {"cvt.rn.f64.s32", 1},
    {"cvt.rn.f64.s64", 1},
    {"cvt.rn.f64.u64", 1},
    {"cvt.rn.ftz.f32.f64", 1},
    {"cvt.rni.f32.f32", 1},
    {"cvt.rni.f64.f64", 1},
    {"cvt.rni.ftz.s32.f32", 1},
    {"cvt.rni.s32.f32", 1},
    {"cvt.rni.s32.f64", 1},
    {"cvt.rpi.f32.f32", 1},
    {"cvt.rpi.ftz.f32.f32", 1},
    {"cvt.rzi.f32.f32", 1},
    {"cvt.rzi.f64.f64", 1},
    {"cvt.rzi.ftz.s32.f32", 1},
    {"cvt.rzi.ftz.u32.f32", 1},
    {"cvt.rzi.s32.f32", 1},
    {"cvt.rzi.s32.f64", 1},
    {"cvt.rzi.s64.f64", 1},
    {"cvt.rzi.u32.f32", 1},
    {"cvt.s16.s8", 1},
    {"cvt.s32.s16", 1},
    {"cvt.s32.s8", 1},
    {"cvt.s64.s32", 1},
    {"cvt.sat.f32.f32", 1},
    {"cvt.u16.u32", 1},
    {"cvt.u32.u16", 1},
    {"cvt.u32.u64", 1},
    {"cvt.u64.u16", 1},
    {"cvt.u64.u32", 1},
    {"div.approx.f32", 2},
    {"div.approx.ftz.f32", 2},
    {"div.rn.f32", 2},
    {"div.rn.f64", 2},
    {"div.rn.ftz.f32", 2},
    {"div.s32", 2},
    {"div.s64", 2},
    {"div.u32", 2},
    {"div.u64", 2},
    {"dp4a.s32.s32", 3},
    {"ex2.approx.f32", 1},
    {"ex2.approx.ftz.f32", 1},
    {"fma.rm.f32", 3},
    {"fma.rn.bf16", 3},
    {"fma.rn.f16", 3},
    {"fma.rn.f16x2", 3},
    {"fma.rn.f32", 3},
    {"fma.rn.f64", 3},
    {"fma.rn.ftz.f32", 3},
    {"fma.rz.f32", 3},
    {"fma.rz.ftz.f32", 3},
    {"lg2.approx.f32", 1},
    {"lg2.approx.ftz.f32", 1},
    {"mad.lo.cc.u32", 3},
    {"mad.lo.s32", 3},
    {"mad.wide.u32", 3},
    {"madc.hi.cc.u32", 3},
    {"madc.hi.u32", 3},
    {"madc.lo.cc.u32", 3},
    {"max.f16", 2},
    {"max.f32", 2},
    {"max.f64", 2},
    {"max.ftz.f32", 2},
    {"max.s32", 2},
    {"max.u32", 2},
    {"max.u64", 2},
    {"min.f32", 2},
    {"min.s32", 2},
    {"min.s64", 2},
    {"min.u32", 2},
    {"min.u64", 2},
    {"mov.b16", 1},
    {"mov.b32", 1},
    {"mov.b64", 1},
    {"mov.b128", 1},
    {"mov.f32", 1},
    {"mov.f64", 1},
    {"mov.pred", 1},
    {"mov.s32", 1},
    {"mov.u16", 1},
    {"mov.u32", 1},
    {"mov.u64", 1},
    {"mul.f16", 2},
    {"mul.f16x2", 2},
    {"mul.f32", 2},
    {"mul.f64", 2},
    {"mul.ftz.f32", 2},
    {"mul.hi.s32", 2},
    {"mul.hi.s64", 2},
    {"mul.hi.u32", 2},
    {"mul.hi.u64", 2},
    {"mul.lo.s16", 2},
    {"mul.lo.s32", 2},
    {"mul.lo.s64", 2},
    {"mul.lo.u32", 2},
    {"mul.rn.f32", 2},
    {"mul.rn.f64", 2},
    {"mul.rn.ftz.f32", 2},
    {"mul.wide.s32", 2},
    {"mul.wide.u16", 2},
    {"mul.wide.u32", 2},
    {"neg.f32", 1},
    {"neg.f64", 1},
    {"neg.ftz.f32", 1},
    {"neg.s32", 1},
    {"neg.s64", 1},
    {"not.b32", 1},
    {"not.b64", 1},
    {"not.pred", 1},
    {"or.b16", 2},
    {"or.b32", 2},
    {"or.b64", 2},
    {"or.pred", 2},
    {"popc.b32", 1},
    {"popc.b64", 1},
    {"prmt.b32", 3},
    {"rcp.approx.ftz.f32", 1},
    {"rcp.approx.ftz.f64", 1},
    {"rcp.rn.f32", 1},
    {"rcp.rn.f64", 1},
    {"rcp.rn.ftz.f32", 1},
    {"rem.s32", 2},
    {"rem.u32", 2},
    {"rem.u64", 2},
    {"rsqrt.approx.f32", 1},
    {"rsqrt.approx.f64", 1},
    {"rsqrt.approx.ftz.f32", 1},
    {"sad.s32", 3},
    {"selp.b16", 3},
    {"selp.b32", 3},
    {"selp.b64", 3},
    {"selp.f32", 3},
    {"selp.f64", 3},
    {"selp.u16", 3},
    {"selp.u32", 3},
    {"selp.u64", 3},
    {"set.eq.f16.f16", 2},
    {"setp.eq.b16", 2},
    {"setp.eq.b32", 2},
    {"setp.eq.b64", 2},
    {"setp.eq.f32", 2},
    {"setp.eq.f64", 2},
    {"setp.eq.ftz.f32", 2},
    {"setp.eq.s16", 2},
    {"setp.eq.s32", 2},
    {"setp.eq.s64", 2},
    {"setp.ge.f64", 2},
    {"setp.geu.ftz.f32", 2},
    {"setp.gt.f16", 2},
    {"setp.gtu.f64", 2},
    {"setp.lt.f16", 2},
    {"setp.lt.u16", 2},
    {"setp.lt.u64", 2},
    {"setp.neu.f64", 2},
    {"shf.l.wrap.b32", 3},
    {"shl.b16", 2},
    {"shl.b32", 2},
    {"shl.b64", 2},
    {"shr.b32", 2},
    {"shr.s32", 2},
    {"shr.s64", 2},
    {"shr.u16", 2},
    {"shr.u32", 2},
    {"shr.u64", 2},
    {"sin.approx.f32", 1},
    {"sin.approx.ftz.f32", 1},
    {"sqrt.approx.ftz.f32", 1},
    {"sqrt.rn.f32", 1},
    {"sqrt.rn.f64", 1},
    {"sqrt.rn.ftz.f32", 1},
    {"sub.cc.u32", 2},
    {"sub.f32", 2},
    {"sub.f64", 2},
    {"sub.ftz.f32", 2},
    {"sub.s32", 2},
    {"sub.s64", 2},
    {"subc.cc.u32", 2},
    {"subc.u32", 2},
    {"tanh.approx.f32", 1},
    {"xor.b16", 2},
    {"xor.b32", 2},
    {"xor.b64", 2},
    {"xor.pred", 2},
    {"lop3.b32", 3},
    {"testp.normal.f64", 1},
    {"div.full.ftz.f32", 2},
    {"mul24.lo.s32", 2},
    {"mad24.hi.u32", 3},
    {"slct.f32.s32", 3},
    {"cvt.rn.bf16x2.f32", 2},
    {"cvt.rna.tf32.f32", 1},
    {"max.NaN.f32", 2},
    {"add.f16x2", 2},
};

Setup setup_of(const Form& form) {
    Setup setup{.mnemonic = form.mnemonic,
                .sources = std::vector<std::vector<uint64_t>>(form.sources, {1})};
    if (setup.mnemonic.rfind("lop3", 0) == 0) setup.table = 0x96;
    return setup;
}
}  // namespace

TEST_CASE("forms: all are known, and random operands give the same in every table",
          "[machine][arith][slow]") {
    std::mt19937_64 random(41);
    const uint64_t special[] = {0,
                                1,
                                0x80000000,
                                0x7fffffff,
                                0xffffffff,
                                0x7f800000,
                                0xff800000,
                                0x7fc00000,
                                0x3f800000,
                                0x00800000,
                                0x807fffff,
                                31,
                                32,
                                33,
                                ~uint64_t(0),
                                uint64_t(1) << 63};
    for (const Form& form : kForms) {
        CAPTURE(form.mnemonic);
        Setup setup = setup_of(form);
        REQUIRE(known(setup));
        for (int round = 0; round < 6; ++round) {
            for (auto& source : setup.sources) {
                source.clear();
                for (unsigned i = 0; i < kWarpSize; ++i)
                    source.push_back(random() % 3 ? random() >> (random() % 64)
                                                  : special[random() % 16]);
            }
            setup.carry = uint32_t(random());
            run(setup);  // compares the tables and the kinds of masks
        }
    }
}

TEST_CASE("forms: what is not arithmetic or not PTX is refused", "[machine][arith]") {
    for (const Form& form :
         {Form{"ld.u32", 1},         Form{"bra", 1},          Form{"shfl.sync.b32", 3},
          Form{"add.pred", 2},       Form{"add.b128", 2},     Form{"and.f32", 2},
          Form{"fma.rn.s32", 3},     Form{"add.sat.u32", 2},  Form{"add.ftz.f64", 2},
          Form{"sqrt.sat.f32", 1},   Form{"mul.wide.u64", 2}, Form{"setp.lt.pred", 2},
          Form{"setp.s32", 2},       Form{"setp.ltu.s32", 2}, Form{"setp.lo.f32", 2},
          Form{"add.u8", 2},         Form{"cvt.u32", 1},      Form{"cvt.u32.pred", 1},
          Form{"add.s32", 3},        Form{"add.s32", 1},      Form{"fma.rn.f32", 2},
          Form{"add.s32.s32", 2},    Form{"add.f32.f16", 2},  Form{"add.volatile.s32", 2},
          Form{"selp.pred", 3},      Form{"popc.b16", 1},     Form{"lg2.approx.f64", 1},
          Form{"rcp.approx.f64", 1}, Form{"bfe.u16", 3},      Form{"mad.sat.s32", 3}}) {
        CAPTURE(form.mnemonic, form.sources);
        CHECK_FALSE(known(setup_of(form)));
    }
}

TEST_CASE("forms: a vector, a special register and a second destination are refused",
          "[machine][arith]") {
    using Kind = ptx::Operand::Kind;
    ptx::Instruction instruction;
    ptx::Function function;
    build(setup_of({"mov.u32", 1}), instruction, function);
    CHECK(machine::select_arithmetic(instruction, function));
    for (const Kind kind : {Kind::kVector, Kind::kSpecial, Kind::kAddress, Kind::kLabel}) {
        instruction.operands[1].kind = kind;
        CHECK_FALSE(machine::select_arithmetic(instruction, function));
    }
    Setup pair = setup_of({"add.s32", 2});
    pair.pair = true;
    CHECK_FALSE(known(pair));
}

TEST_CASE("forms: sources say with which width they are read", "[machine][arith]") {
    const auto selected = [](const Setup& setup) {
        ptx::Instruction instruction;
        ptx::Function function;
        build(setup, instruction, function);
        const auto found = machine::select_arithmetic(instruction, function);
        REQUIRE(found);
        return *found;
    };
    auto found = selected(setup_of({"shl.b64", 2}));
    CHECK(ptx::byte_size(found.src[0]) == 8);
    CHECK(ptx::byte_size(found.src[1]) == 4);  // amounts are 32 bits
    found = selected(setup_of({"mul.wide.s32", 2}));
    CHECK(ptx::byte_size(found.src[1]) == 4);
    CHECK(ptx::byte_size(found.dst) == 8);
    found = selected(setup_of({"mad.wide.u16", 3}));
    CHECK(ptx::byte_size(found.src[0]) == 2);
    CHECK(ptx::byte_size(found.src[2]) == 4);
    found = selected(setup_of({"selp.f64", 3}));
    CHECK(found.src[2] == Type::kPred);
    CHECK(found.src[0] == Type::kF64);
    found = selected(setup_of({"popc.b64", 1}));
    CHECK(ptx::byte_size(found.dst) == 4);
    found = selected(setup_of({"setp.lt.and.f64", 3}));
    CHECK(found.dst == Type::kPred);
    CHECK(found.src[2] == Type::kPred);
    CHECK_FALSE(found.has_dst2);
    Setup wide = setup_of({"cvt.s32.s8", 1});
    wide.src_register = Type::kB32;
    found = selected(wide);
    CHECK(ptx::byte_size(found.src[0]) == 4);
    wide.src_register = Type::kB8;  // lives in 16 bits
    found = selected(wide);
    CHECK(ptx::byte_size(found.src[0]) == 2);
}
