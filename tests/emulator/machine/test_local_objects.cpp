// SPDX-License-Identifier: MIT
// Which local variable an address was made from, and what leaves it.
#include "machine_lab.h"

using namespace machine_lab;

namespace {

// Lanes that leave their variable, of the last access to local memory.
uint32_t bad_lanes(const std::string& body) {
    Lab lab(kLocalAccess);
    lab.run(".local .align 8 .b8 depot[32];\n.reg .b64 %SP, %SPL;\nmov.u64 %SPL, depot;\n"
            "cvta.local.u64 %SP, %SPL;\nadd.u64 %rd1, %SPL, 0;\nadd.u64 %rd2, %SPL, 16;\n" +
            body);
    REQUIRE(!lab.seen.accesses.empty());
    return lab.seen.accesses.back().bad;
}

}  // namespace

TEST_CASE("local objects: one variable ends where the next begins", "[machine][local]") {
    CHECK(bad_lanes("st.local.u32 [%rd1+12], 1;") == 0);
    CHECK(bad_lanes("st.local.u32 [%rd1+16], 1;") == kAllLanes);
    CHECK(bad_lanes("st.local.u64 [%rd1+12], 1;") == kAllLanes);
    CHECK(bad_lanes("st.local.u32 [%rd2], 1;") == 0);
    CHECK(bad_lanes("st.local.u32 [%rd2+-4], 1;") == kAllLanes);
    CHECK(bad_lanes("st.local.u32 [%rd2+16], 1;") == kAllLanes);
}

TEST_CASE("local objects: by lanes, with an index", "[machine][local]") {
    CHECK(bad_lanes("mad.wide.u32 %rd3, %lane, 4, %rd1;\nst.local.u32 [%rd1], 1;") == 0);
    CHECK(bad_lanes("mul.wide.u32 %rd3, %lane, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                    "setp.gt.u32 %p1, %lane, 7;\n@%p1 bra $out;\nst.local.u32 [%rd4], 1;\n$out:") ==
          0xf0);
}

TEST_CASE("local objects: through a generic pointer, a copy and a choice", "[machine][local]") {
    CHECK(bad_lanes("add.u64 %rd5, %SP, 0;\nmov.u64 %rd6, %rd5;\nst.u32 [%rd6+16], 1;") ==
          kAllLanes);
    // It may be either.
    CHECK(bad_lanes("setp.lt.u32 %p1, %lane, 4;\nselp.u64 %rd7, %rd1, %rd2, %p1;\n"
                    "st.local.u32 [%rd7+8], 1;") == 0);
    CHECK(bad_lanes("mov.u64 %rd7, %rd1;\nsetp.lt.u32 %p1, %lane, 4;\n@%p1 mov.u64 %rd7, %rd2;\n"
                    "st.local.u32 [%rd7+12], 1;") == 0);
}

TEST_CASE("local objects: the store writes where hardware writes", "[machine][local]") {
    Lab lab(0);
    lab.run(".local .align 8 .b8 depot[32];\n.reg .b64 %SPL;\nmov.u64 %SPL, depot;\n"
            "add.u64 %rd1, %SPL, 0;\nadd.u64 %rd2, %SPL, 16;\nst.local.u32 [%rd2], 1;\n"
            "st.local.u32 [%rd1+16], 77;\nld.local.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;");
    CHECK(lab.got(0) == 77);
}

TEST_CASE("local objects: a single variable has the whole depot", "[machine][local]") {
    Lab lab(kLocalAccess);
    lab.run(".local .align 8 .b8 depot[32];\n.reg .b64 %SPL;\nmov.u64 %SPL, depot;\n"
            "add.u64 %rd1, %SPL, 16;\nst.local.u32 [%rd1+-16], 1;");
    CHECK(lab.seen.accesses.back().bad == 0);
}
