// SPDX-License-Identifier: MIT
// Undefined values: where they come from, what carries them on, and what counts as a use.
#include "machine_lab.h"

using namespace machine_lab;

namespace {

using How = UndefinedUse::How;
using Kind = UndefinedOrigin::Kind;

struct Use {
    How how;
    Kind kind;
    uint32_t lanes;
    std::string opcode;  // of the use
};

class Uses final : public Observer {
public:
    std::vector<Use> all;
    uint32_t unwritten = 0;  // lanes of every load of global memory that found nothing
    void on_undefined_use(const UndefinedUse& use) override {
        all.push_back(
            {use.how, use.origin->kind, use.lanes, std::string(code_site(use.site).opcode)});
    }
    UndefinedLoad undefined_lanes(const AccessEvent& event) override {
        return {.lanes = unwritten & event.mask, .by = this};
    }
};

std::vector<Use> uses_of(const std::string& body, const std::string& declarations = {},
                         uint32_t unwritten = 0) {
    Lab lab(0);
    Uses uses;
    uses.unwritten = unwritten;
    lab.observers.add(&uses, kUndefinedValues | kGlobalAccess);
    CHECK(lab.run(body, {}, declarations).status == LaunchStatus::kOk);
    return uses.all;
}

// One use, by all lanes unless said otherwise.
void one_use(const std::vector<Use>& uses, How how, Kind kind, uint32_t lanes = kAllLanes) {
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].how == how);
    CHECK(uses[0].kind == kind);
    CHECK(uses[0].lanes == lanes);
}

const std::string kDepot = ".local .align 8 .b8 l[32];\n";

}  // namespace

TEST_CASE("undefined: a register that nothing has written, stored after a sum",
          "[machine][undefined]") {
    one_use(uses_of("add.u32 %r1, %r1, 1;\nst.global.u32 [%mine], %r1;"),
            How::kStored,
            Kind::kRegister);
}

TEST_CASE("undefined: only the lanes that have not written it", "[machine][undefined]") {
    const std::string write = "setp.gt.u32 %p1, %lane, 15;\n@%p1 mov.u32 %r1, 1;\n";
    one_use(uses_of(write + "st.global.u32 [%mine], %r1;"), How::kStored, Kind::kRegister, 0xffff);
    CHECK(uses_of(write + "mov.u32 %r1, 2;\nst.global.u32 [%mine], %r1;").empty());
    // Nor those that do not come here.
    CHECK(uses_of(write + "@!%p1 bra $out;\nst.global.u32 [%mine], %r1;\n$out:").empty());
}

TEST_CASE("undefined: it decides a branch", "[machine][undefined]") {
    one_use(uses_of("setp.gt.u32 %p1, %r1, 15;\n@%p1 bra $out;\nst.global.u32 [%mine], 1;\n$out:"),
            How::kBranch,
            Kind::kRegister);
}

TEST_CASE("undefined: it is an address", "[machine][undefined]") {
    one_use(uses_of("and.b32 %r2, %r1, 4;\ncvt.u64.u32 %rd1, %r2;\nadd.u64 %rd2, %out, %rd1;\n"
                    "ld.global.u32 %r3, [%rd2];"),
            How::kAddress,
            Kind::kRegister);
}

TEST_CASE("undefined: an atomic adds it", "[machine][undefined]") {
    one_use(uses_of("red.global.add.u32 [%out], %r1;"), How::kStored, Kind::kRegister);
}

TEST_CASE("undefined: a copy, and a value that is never read, is no use", "[machine][undefined]") {
    CHECK(
        uses_of("mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;\nst.global.u32 [%mine], %lane;").empty());
}

TEST_CASE("undefined: selp takes the other one", "[machine][undefined]") {
    const std::string choose = "setp.lt.u32 %p1, %lane, 8;\nselp.u32 %r2, %lane, %r1, %p1;\n";
    one_use(
        uses_of(choose + "st.global.u32 [%mine], %r2;"), How::kStored, Kind::kRegister, 0xffffff00);
    CHECK(uses_of(choose + "@%p1 st.global.u32 [%mine], %r2;").empty());
    // Not so when it is the condition.
    one_use(uses_of("setp.lt.u32 %p1, %r1, 8;\nselp.u32 %r2, 1, 2, %p1;\n"
                    "st.global.u32 [%mine], %r2;"),
            How::kStored,
            Kind::kRegister);
}

TEST_CASE("undefined: one side of a condition decides alone", "[machine][undefined]") {
    const std::string both = "setp.lt.u32 %p1, %r1, 8;\nsetp.lt.u32 %p2, %lane, 4;\n";
    const std::string branch = "@%p3 bra $out;\nst.global.u32 [%mine], 1;\n$out:";
    one_use(
        uses_of(both + "and.pred %p3, %p1, %p2;\n" + branch), How::kBranch, Kind::kRegister, 0xf);
    one_use(uses_of(both + "or.pred %p3, %p2, %p1;\n" + branch),
            How::kBranch,
            Kind::kRegister,
            0xfffffff0);
    one_use(uses_of("setp.lt.u32 %p2, %lane, 4;\nsetp.lt.and.u32 %p3, %r1, 8, %p2;\n" + branch),
            How::kBranch,
            Kind::kRegister,
            0xf);
    // Conditions kept as numbers.
    one_use(uses_of(both +
                    "selp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, 1, 0, %p2;\n"
                    "or.b32 %r4, %r2, %r3;\nsetp.ne.u32 %p3, %r4, 0;\n" +
                    branch),
            How::kBranch,
            Kind::kRegister,
            0xfffffff0);
}

TEST_CASE("undefined: halves of a 64-bit register", "[machine][undefined]") {
    const std::string pack = "mov.u32 %r2, 7;\nmov.b64 %rd1, {%r1, %r2};\n";
    CHECK(uses_of(pack + "mov.b64 {%r3, %r4}, %rd1;\nst.global.u32 [%mine], %r4;").empty());
    CHECK(uses_of(pack + "shr.u64 %rd2, %rd1, 32;\nst.global.u64 [%mine8], %rd2;").empty());
    one_use(uses_of(pack + "mov.b64 {%r3, %r4}, %rd1;\nst.global.u32 [%mine], %r3;"),
            How::kStored,
            Kind::kRegister);
    one_use(uses_of(pack + "cvt.u32.u64 %r5, %rd1;\nst.global.u32 [%mine], %r5;"),
            How::kStored,
            Kind::kRegister);
}

TEST_CASE("undefined: local memory that was not written", "[machine][undefined]") {
    one_use(uses_of(kDepot + "st.local.u32 [l], 1;\nld.local.u32 %r1, [l+4];\n"
                             "st.global.u32 [%mine], %r1;"),
            How::kStored,
            Kind::kLocal);
    CHECK(uses_of(kDepot + "st.local.u32 [l+4], 1;\nld.local.u32 %r1, [l+4];\n"
                           "st.global.u32 [%mine], %r1;")
              .empty());
    // By lanes, through a generic address.
    one_use(uses_of(kDepot + "mov.u64 %rd1, l;\ncvta.local.u64 %rd2, %rd1;\n"
                             "setp.lt.u32 %p1, %lane, 4;\n@%p1 st.u32 [%rd2], 1;\n"
                             "ld.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;"),
            How::kStored,
            Kind::kLocal,
            0xfffffff0);
    // Each lane another element.
    one_use(uses_of(kDepot + "mov.u64 %rd1, l;\nst.local.v2.u32 [l], {1, 2};\n"
                             "and.b32 %r2, %lane, 3;\nmad.wide.u32 %rd3, %r2, 4, %rd1;\n"
                             "ld.local.u32 %r1, [%rd3];\nst.global.u32 [%mine], %r1;"),
            How::kStored,
            Kind::kLocal,
            0xcccccccc);
}

TEST_CASE("undefined: copies in local memory stay undefined, until they are written",
          "[machine][undefined]") {
    const std::string copy = kDepot + "ld.local.u32 %r1, [l];\nst.local.u32 [l+8], %r1;\n";
    CHECK(uses_of(copy).empty());
    one_use(uses_of(copy + "ld.local.u32 %r2, [l+8];\nst.global.u32 [%mine], %r2;"),
            How::kStored,
            Kind::kLocal);
    CHECK(uses_of(copy + "st.local.u32 [l+8], 3;\nld.local.u32 %r2, [l+8];\n"
                         "st.global.u32 [%mine], %r2;")
              .empty());
}

TEST_CASE("undefined: a struct that is stored member by member is a copy", "[machine][undefined]") {
    CHECK(uses_of(kDepot +
                  "st.local.u32 [l], 1;\nld.local.u32 %r1, [l];\nld.local.u32 %r2, [l+4];\n"
                  "st.global.u32 [%mine8], %r1;\nst.global.u32 [%mine8+4], %r2;")
              .empty());
    // Also when each member has an address of its own.
    CHECK(uses_of(kDepot +
                  "st.local.u32 [l], 1;\nld.local.u32 %r1, [l];\nld.local.u32 %r2, [l+4];\n"
                  "add.u64 %rd1, %mine8, 4;\nst.global.u32 [%mine8], %r1;\n"
                  "st.global.u32 [%rd1], %r2;")
              .empty());
    CHECK(uses_of("st.global.v2.u32 [%mine8], {%lane, %r1};").empty());
}

TEST_CASE("undefined: a member that is updated where it lies is a use", "[machine][undefined]") {
    const std::string sum = "add.u32 %r2, %r2, 1;\nadd.u32 %r3, %r3, %r1;\n";
    const std::string stores = "st.global.u32 [%mine8], %r2;\nst.global.u32 [%mine8+4], %r3;";
    one_use(
        uses_of("ld.global.u32 %r2, [%mine8];\nld.global.u32 %r3, [%mine8+4];\n" + sum + stores),
        How::kStored,
        Kind::kRegister);
    CHECK(uses_of("mov.u32 %r2, 1;\nmov.u32 %r3, 1;\n" + sum + stores).empty());
}

TEST_CASE("undefined: an argument and a result of a call", "[machine][undefined]") {
    const std::string function =
        ".func (.param .b32 res) f(.param .b32 a) {\n.reg .b32 %x;\nld.param.u32 %x, [a];\n"
        "st.param.b32 [res], %x;\nret;\n}\n";
    const std::string call =
        "{ .param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall (q), f, (p);\n"
        "ld.param.b32 %r2, [q]; }\n";
    one_use(uses_of(call + "add.u32 %r3, %r2, 1;\nst.global.u32 [%mine], %r3;", function),
            How::kStored,
            Kind::kRegister);
    CHECK(uses_of("mov.u32 %r1, 5;\n" + call + "st.global.u32 [%mine], %r2;", function).empty());
}

TEST_CASE("undefined: every activation has local memory of its own", "[machine][undefined]") {
    const std::string function =
        ".func (.param .b32 res) f(.param .b32 first) {\n.local .align 4 .b8 m[4];\n"
        ".reg .b32 %x;\n.reg .pred %q;\nld.param.u32 %x, [first];\nsetp.ne.u32 %q, %x, 0;\n"
        "@%q st.local.u32 [m], 7;\nld.local.u32 %x, [m];\nst.param.b32 [res], %x;\nret;\n}\n";
    const std::string call =
        "{ .param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall (q), f, (p);\n"
        "ld.param.b32 %r2, [q]; }\n";
    const std::string twice = "mov.u32 %r1, 1;\n" + call + "mov.u32 %r1, 0;\n" + call;
    one_use(uses_of(twice + "st.global.u32 [%mine], %r2;", function), How::kStored, Kind::kLocal);
    CHECK(uses_of("mov.u32 %r1, 1;\n" + call + "st.global.u32 [%mine], %r2;", function).empty());
}

TEST_CASE("undefined: a shuffle passes it on, and makes it of lanes that are not there",
          "[machine][undefined]") {
    const std::string store = "st.global.u32 [%mine], %r2;";
    one_use(uses_of("setp.lt.u32 %p1, %lane, 1;\n@!%p1 mov.u32 %r1, 5;\n"
                    "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n" +
                    store),
            How::kStored,
            Kind::kRegister);
    one_use(uses_of("setp.gt.u32 %p1, %lane, 15;\n@%p1 bra $out;\n"
                    "shfl.sync.down.b32 %r2, %lane, 8, 31, 0xffff;\n" +
                    store + "\n$out:"),
            How::kStored,
            Kind::kShuffle,
            0xff00);
    CHECK(uses_of("shfl.sync.down.b32 %r2, %lane, 8, 31, -1;\n" + store).empty());
}

TEST_CASE("undefined: what an observer reports of a load", "[machine][undefined]") {
    const std::string load = "ld.global.u32 %r1, [%in];\n";
    one_use(uses_of(load + "add.u32 %r1, %r1, 1;\nst.global.u32 [%mine], %r1;", {}, 0xf0),
            How::kStored,
            Kind::kLoad,
            0xf0);
    CHECK(uses_of(load, {}, 0xf0).empty());
}

TEST_CASE("undefined: a loop that writes before it reads", "[machine][undefined]") {
    const std::string loop =
        "mov.u32 %r2, 0;\n$loop:\n@%p9 bra $skip;\nmov.u32 %r1, %r2;\n$skip:\n"
        "add.u32 %r3, %r1, 1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra $loop;\n"
        "st.global.u32 [%mine], %r3;";
    CHECK(uses_of("setp.eq.u32 %p9, %lane, 99;\n" + loop).empty());
    one_use(uses_of("setp.eq.u32 %p9, %lane, 3;\n" + loop), How::kStored, Kind::kRegister, 1u << 3);
}

TEST_CASE("undefined: each use is reported once", "[machine][undefined]") {
    const auto uses = uses_of("add.u32 %r1, %r1, 1;\nst.global.u32 [%mine], %r1;\n"
                              "add.u32 %r1, %r1, 1;\nred.global.add.u32 [%mine], %r1;");
    CHECK(uses.size() == 1);
}
