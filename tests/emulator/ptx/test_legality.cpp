// SPDX-License-Identifier: MIT
// Instructions of known words that ptxas 13.0 refuses, with the word and the cause that the message
// must name, beside near relatives that it takes. Every line was given to ptxas (sm_90).
#include "ptx_text.h"

namespace {

const std::string kDeclarations =
    R"(.reg .pred p, q; .reg .b16 h; .reg .u16 u16; .reg .b32 r; .reg .u32 u; .reg .s32 s;
.global .u32 x; .reg .b64 b; .reg .u64 w; .reg .f32 f; .reg .f64 d; .reg .f16 e;
)";

std::string error(const std::string& line) {
    return body_error(kDeclarations + line);
}

struct Refused {
    const char* line;
    const char* names;
};

void check(std::initializer_list<Refused> lines) {
    for (const Refused& each : lines) {
        const std::string message = error(each.line);
        CAPTURE(each.line, message);
        CHECK(contains(message, "PTX line 7"));
        CHECK(contains(message, each.names));
    }
}

void check_accepted(std::initializer_list<const char*> lines) {
    for (const char* line : lines) {
        CAPTURE(line);
        CHECK(error(line).empty());
    }
}

}  // namespace

TEST_CASE("legality: modifiers that a type does not take", "[ptx][legality]") {
    check({
        {"add.sat.u32 u, u, u;", ".sat"},
        {"add.ftz.f64 d, d, d;", ".ftz"},
        {"add.cc.f32 f, f, f;", ".cc"},
        {"min.relu.u32 u, u, u;", ".relu"},
        {"min.NaN.f64 d, d, d;", ".NaN"},
        {"max.ftz.s32 s, s, s;", ".ftz"},
        {"mul.rn.u32 u, u, u;", ".rn"},
        {"abs.ftz.s32 s, s;", ".ftz"},
        {"setp.ltu.s32 p, s, s;", ".ltu"},
        {"setp.lo.s32 p, s, s;", ".lo"},
        {"setp.lt.b32 p, r, r;", ".lt"},
        {"setp.lt.ftz.f64 p, d, d;", ".ftz"},
        {"set.lt.u32.b32 u, r, r;", ".lt"},
        {"mad.hi.sat.u32 u, u, u, u;", ".sat"},
        {"bfe.shiftamt.u32 u, u, u, u;", ".shiftamt"},
    });
    check_accepted({
        "add.sat.s32 s, s, s;",
        "add.ftz.f32 f, f, f;",
        "add.cc.u32 u, u, u;",
        "min.relu.s32 s, s, s;",
        "min.ftz.NaN.f32 f, f, f;",
        "setp.lo.u32 p, u, u;",
        "setp.ltu.f32 p, f, f;",
        "set.ne.u32.b32 u, r, r;",
        "mad.hi.sat.s32 s, s, s, s;",
        "bfind.shiftamt.u32 u, u;",
    });
}

TEST_CASE("legality: modifiers that must stand, and types that do not exist", "[ptx][legality]") {
    check({
        {"mul.u32 u, u, u;", ".lo .hi .wide"},
        {"mad.s64 w, w, w, w;", "one of"},
        {"div.f32 f, f, f;", ".approx .full"},
        {"fma.f64 d, d, d, d;", ".rn"},
        {"sqrt.f64 d, d;", ".rn"},
        {"sin.f32 f, f;", ".approx"},
        {"setp.u32 p, u, u;", ".eq .ne"},
        {"add.rn.rz.f32 f, f, f;", "not all of them"},
        {"add.u32.lo u, u, u;", ".lo"},
        {"and.u32 u, u, u;", "does not exist for .u32"},
        {"shl.u32 u, u, u;", "does not exist for .u32"},
        {"neg.u32 u, u;", "does not exist for .u32"},
        {"add.b16 h, h, h;", "does not exist for .b16"},
        {"add.b32 r, r, r;", "does not exist for .b32"},
        {"addc.cc.b64 b, b, b;", "does not exist for .b64"},
        {"shf.l.b32 r, r, r, u;", ".clamp .wrap"},
        {"shf.wrap.b32 r, r, r, u;", ".l .r"},
        {"shf.l.wrap.u32 u, u, u, u;", "does not exist for .u32"},
        {"prmt.u32 u, u, u, u;", "does not exist for .u32"},
        {"bmsk.b32 r, u, u;", ".clamp .wrap"},
        {"lop3.s32 s, s, s, s, 1;", "does not exist for .s32"},
        {"dp2a.s32.u32 s, s, u, s;", ".lo .hi"},
        {"mov.f16 h, h;", "does not exist for .f16"},
        {"mov.bf16x2 r, r;", "does not exist for .bf16x2"},
        {"vote.sync.popc.pred p, q, -1;", ".popc"},
        {"match.any.b32 r, r, -1;", ".sync"},
        {"redux.sync.and.u32 u, u, -1;", ".and"},
        {"sin.approx.f64 d, d;", "does not exist for .f64"},
        {"popc.u32 u, u;", "does not exist for .u32"},
        {"add u, u, u;", "expected a type"},
    });
    check_accepted({"mul.lo.u32 u, u, u;",
                    "div.full.f32 f, f, f;",
                    "fma.rn.f64 d, d, d, d;",
                    "and.b32 u, u, u;",
                    "shl.b32 u, u, u;",
                    "neg.s32 u, u;",
                    "popc.b32 u, r;"});
}

TEST_CASE("legality: rounding and saturation of conversions", "[ptx][legality]") {
    check({
        {"cvt.s32.f32 s, f;", ".rni .rzi .rmi .rpi"},
        {"cvt.rn.s32.f32 s, f;", ".rn"},
        {"cvt.f32.s32 f, s;", ".rn .rz .rm .rp"},
        {"cvt.rni.f32.s32 f, s;", ".rni"},
        {"cvt.f32.f64 f, d;", ".rn .rz .rm .rp"},
        {"cvt.rn.f64.f32 d, f;", ".rn"},
        {"cvt.rn.u32.u16 u, u16;", ".rn"},
        {"cvt.sat.u64.u32 w, u;", ".sat"},
        {"cvt.rzi.ftz.s32.f64 s, d;", ".ftz"},
        {"cvt.rn.relu.f32.f64 f, d;", ".relu"},
        {"cvt.rn.satfinite.f16.f64 h, d;", ".satfinite"},
    });
    check_accepted({"cvt.rzi.ftz.sat.s32.f32 s, f;",
                    "cvt.rn.f32.s32 f, s;",
                    "cvt.rn.f32.f64 f, d;",
                    "cvt.f64.f32 d, f;",
                    "cvt.sat.u8.s32 u, s;",
                    "cvt.rn.relu.f16.f32 h, f;",
                    "cvt.rpi.f64.f64 d, d;",
                    "cvt.rna.tf32.f32 r, f;"});
}

TEST_CASE("legality: operations, types and spaces of memory instructions", "[ptx][legality]") {
    check({
        {"atom.global.add.u64.b32 r, [w], r;", "add"},
        {"atom.global.add.s64 w, [w], w;", "`atom.global.add.s64`"},
        {"atom.global.inc.u64 w, [w], w;", ".u64"},
        {"atom.global.min.f32 f, [w], f;", ".f32"},
        {"atom.global.and.u32 u, [w], u;", ".u32"},
        {"atom.global.exch.u32 u, [w], u;", ".u32"},
        {"atom.global.add.f16 h, [w], h;", ".noftz"},
        {"atom.global.u32 u, [w], u;", "operation"},
        {"red.global.exch.b32 [w], r;", "atom"},
        {"red.acquire.gpu.global.add.u32 [w], u;", ".release"},
        {"st.const.u32 [w], u;", "constant memory"},
        {"ld.release.gpu.global.u32 u, [w];", ".acquire"},
        {"st.acquire.gpu.global.u32 [w], u;", ".release"},
        {"ld.volatile.const.u32 u, [w];", "state space"},
        {"ld.relaxed.gpu.local.u32 u, [w];", "state space"},
        {"ld.shared.nc.u32 u, [w];", ".global with .nc"},
        {"ld.shared.L1::evict_last.u32 u, [w];", "cache hints"},
        {"ldu.shared.u32 u, [w];", ".global"},
    });
    check_accepted({"atom.global.add.u64 w, [w], w;",
                    "atom.global.min.s64 w, [w], w;",
                    "atom.global.exch.b32 f, [w], f;",
                    "atom.global.add.noftz.f16 h, [w], h;",
                    "red.release.gpu.global.add.u32 [w], u;",
                    "ld.acquire.sys.shared.u32 u, [w];",
                    "ld.global.nc.L1::evict_last.u32 u, [w];"});
}

TEST_CASE("legality: registers and constants of another type", "[ptx][legality]") {
    check({
        {"add.f32 f, f, u;", "'u'"},
        {"add.u32 u, u, f;", "declared .f32"},
        {"add.u32 u, u, w;", "declared .u64"},
        {"add.f32 f, f, d;", "declared .f64"},
        {"add.f16 h, h, u16;", "declared .u16"},
        {"and.b32 r, r, p;", "declared .pred"},
        {"and.pred p, p, r;", "declared .b32"},
        {"mov.u32 u, f;", "declared .f32"},
        {"mov.f32 f, u;", "declared .u32"},
        {"mov.u64 w, u;", "declared .u32"},
        {"selp.u32 u, u, u, u;", "expects a .pred"},
        {"setp.eq.f32 p, f, r, r;", "expects a .pred"},
        {"setp.eq.u32 u, u, u;", "expects a .pred"},
        {"shl.b64 b, b, w;", "expects a .u32"},
        {"popc.b64 w, w;", "expects a .u32"},
        {"ld.global.u32 u16, [w];", "declared .u16"},
        {"ld.global.f32 d, [w];", "declared .f64"},
        {"ld.global.u32 f, [w];", "declared .f32"},
        {"st.global.f32 [w], u;", "declared .u32"},
        {"st.global.v2.f32 [w], {f, s};", "declared .s32"},
        {"cvt.u64.u32 u, u;", "expects a .u64"},
        {"cvt.rn.f32.s32 f, f;", "expects a .s32"},
        {"atom.global.add.f32 f, [w], u;", "expects a .f32"},
        {"add.f32 f, f, 1;", "the constant is an integer"},
        {"add.u32 u, u, 1.0;", "the constant is a float"},
        {"mov.b32 r, 1.0;", "the constant is a float"},
        {"add.f16 e, e, 1.0;", "the constant is a float"},
        {"st.global.u32 [w], 0f3F800000;", "the constant is a float"},
    });
    check_accepted({"add.f32 f, f, r;",
                    "add.u32 s, r, u;",
                    "and.b32 f, u, r;",
                    "mov.b32 f, s;",
                    "add.f16 h, e, h;",
                    "ld.global.u8 w, [w];",
                    "ld.global.b16 d, [w];",
                    "ld.global.f32 b, [w];",
                    "st.global.u16 [w], b;",
                    "cvt.u64.u16 w, u;",
                    "shl.b64 w, w, s;",
                    "mov.b32 r, 0f3F800000;",
                    "mov.b64 b, 1.0;",
                    "add.f64 d, d, 0f3F800000;",
                    "atom.global.exch.b32 r, [w], 0f3F800000;"});
}

TEST_CASE("legality: results of set, and what setp compares", "[ptx][legality]") {
    check({
        {"set.lt.u16.f32 u16, f, f;", ".u16"},
        {"set.eq.b32.u32 r, u, u;", ".b32"},
        {"set.eq.f32.f16x2 f, r, r;", ".f32"},
        {"setp.lt.f16 p|q, h, h;", "p|q"},
    });
    check_accepted({"set.lt.u16.f16 u16, h, h;",
                    "set.eq.u32.u32 u, u, u;",
                    "set.eq.f16x2.f16x2 r, r, r;",
                    "set.lt.f16.f32 h, f, f;",
                    "setp.lt.f16x2 p|q, r, r;",
                    "setp.lt.f16 p, h, h;"});
}

TEST_CASE("legality: conversions that ptxas does not have", "[ptx][legality]") {
    check({
        {"cvt.u32.b8 u, h;", ".b8"},
        {"cvt.rn.bf16.u8 h, u16;", "8 bits"},
        {"cvt.rm.relu.f16.f32 h, f;", ".rm"},
        {"cvt.rn.ftz.satfinite.bf16.f32 h, f;", ".ftz"},
        {"cvt.rz.satfinite.tf32.f32 r, f;", ".satfinite"},
        {"cvt.rna.relu.tf32.f32 r, f;", ".relu"},
        {"cvt.pack.sat.s8.u32.b32 r, u, u, r;", ".s32"},
        {"cvt.pack.sat.u4.s32.u32 r, s, s, u;", ".b32"},
    });
    check_accepted({"cvt.rz.relu.bf16.f32 h, f;",
                    "cvt.rna.satfinite.tf32.f32 r, f;",
                    "cvt.rn.relu.tf32.f32 r, f;",
                    "cvt.pack.sat.s16.s32 r, s, s;",
                    "cvt.pack.sat.u8.s32.b32 r, s, s, r;"});
}

TEST_CASE("legality: parts of a register, and special registers", "[ptx][legality]") {
    check({
        {"mov.u32 u, {h, h};", "several registers"},
        {"mov.b64 b, {h, h};", "2 registers of 16 bits"},
        {"mov.b32 {h, h, h, h}, r;", "4 registers of 16 bits"},
        {"mov.f32 f, %tid.x;", "a special register is not a float"},
        {"mov.u16 u16, %laneid;", "32 bits"},
    });
    check_accepted({"mov.b32 r, {h, h};",
                    "mov.b64 {h, h, h, h}, b;",
                    "mov.u16 u16, %nctaid.y;",
                    "mov.u32 u, %tid.w;",
                    "mov.u32 u, %ctaid.g;"});
}

TEST_CASE("legality: loads, stores and atomics", "[ptx][legality]") {
    check({
        {"ld.f16 h, [b];", ".b16"},
        {"st.global.bf16x2 [b], r;", ".b32"},
        {"ld.relaxed.u32 u, [b];", "a scope"},
        {"st.release.u32 [b], u;", "a scope"},
        {"ld.volatile.local.u32 u, [b];", ".volatile"},
        {"ld.wt.u32 u, [b];", ".wt"},
        {"st.ca.u32 [b], u;", ".ca"},
        {"st.nc.global.u32 [b], u;", ".nc"},
        {"st.global.L2::128B.u32 [b], u;", ".L2::128B"},
        {"ld.mmio.sys.u32 u, [b];", ".mmio.relaxed.sys"},
        {"ld.global.v4.b64 {b, b, b, b}, [b];", "sm_100"},
        {"atom.weak.add.u32 u, [b], u;", ".weak"},
        {"red.relaxed.gpu.inc.ftz.u32 [b], u;", ".ftz"},
        {"prefetch.shared.L1 [b];", ".global, .local"},
        {"prefetch [b];", ".L1 .L2"},
        {"discard.global.L2 [b], 64;", "128"},
        {"cvta.global.b64 b, b;", ".u64"},
        {"add.f32x2 b, b, b;", "sm_100"},
        {"min.f32 f, f, f, f;", "sm_100"},
    });
    check_accepted({"ld.b16 h, [b];",
                    "ld.relaxed.gpu.u32 u, [b];",
                    "st.wt.u32 [b], u;",
                    "ld.mmio.relaxed.sys.u32 u, [b];",
                    "prefetch.local.L2 [b];",
                    "discard.global.L2 [b], 128;",
                    "cvta.global.u64 w, w;"});
}

TEST_CASE("legality: barriers and fences", "[ptx][legality]") {
    check({
        {"bar.sync 16;", "0 to 15"},
        {"bar.sync 0, 33;", "multiple of 32"},
        {"bar.arrive 0;", "number of threads"},
        {"bar.sync.aligned 0;", ".aligned"},
        {"bar.red.xor.pred p, 0, q;", ".red.popc.u32"},
        {"barrier.red.and.u32 u, 0, q;", ".red.and.pred"},
        {"fence;", "one of the scopes"},
        {"fence.relaxed.gpu;", ".acq_rel"},
        {"membar.gpu;", "membar.gl"},
        {"mbarrier.arrive.release.gpu.b64 b, [b];", ".cta .cluster"},
        {"mbarrier.arrive.acquire.cta.b64 b, [b];", ".release"},
        {"mbarrier.test_wait.b64 p, [b], b, 100;", ".try_wait"},
    });
    check_accepted({"bar.sync 15;",
                    "bar.sync 0, 64;",
                    "bar.arrive 1, 64;",
                    "barrier.sync.aligned 0;",
                    "bar.red.popc.u32 u, 0, q;",
                    "barrier.red.or.aligned.pred p, 0, 64, !q;",
                    "fence.gpu;",
                    "membar.gl;",
                    "mbarrier.try_wait.b64 p, [b], b, 100;"});
}

TEST_CASE("legality: results, addresses and operands of the wrong kind", "[ptx][legality]") {
    check({
        {"setp.eq.u32 !p, u, u;", "cannot be negated"},
        {"and.pred !p, p, q;", "cannot be negated"},
        {"ld.global.u32 u, [f];", "integer register in an address"},
        {"ld.global.u32 u, [u];", "this is 32-bit PTX"},
        {"ld.u32 u, [r];", "this is 32-bit PTX"},
        {"st.global.u32 [u+4], u;", "this is 32-bit PTX"},
        {"atom.global.add.u32 u, [u], u;", "this is 32-bit PTX"},
        {"red.add.u32 [u], u;", "this is 32-bit PTX"},
        {"prefetch.global.L1 [u];", "this is 32-bit PTX"},
        {"add.u64 w, x, 8;", "expected mov"},
        {"exit 0;", "no operands"},
    });
    check_accepted({"ld.const.u32 u, [u];",
                    "ld.local.u32 u, [u];",
                    "st.shared.u32 [u], u;",
                    "atom.shared.add.u32 u, [u], u;",
                    "setp.eq.and.u32 p, u, u, !q;",
                    "and.pred p, !p, q;",
                    "mov.u64 w, x;",
                    "cvta.global.u64 w, x;",
                    "ret;"});
}
