// SPDX-License-Identifier: MIT
// Plain loads whose value a compare-and-swap checks.
#include "../ptx/ptx_text.h"
#include "checks/race/optimistic_read.h"
#include "machine/program/sites.h"

namespace {

// Whether the first instruction of a kernel with this body is such a load.
bool first_feeds(const std::string& body, const std::string& before = "") {
    const auto kernel = open_kernel(".reg .b32 %r<8>; .reg .b64 %rd<4>;\n" + body, before);
    const uint32_t sites = machine::site_count();
    const bool may =
        checks::may_be_expected(machine::register_site(*kernel, *kernel->function("k"), 0));
    machine::forget_sites(sites);
    return may;
}

const std::string kPlainLoad = "ld.global.u32 %r1, [%rd1];\n";

}  // namespace

TEST_CASE("optimistic read: its value is what the exchange expects", "[checks][race]") {
    CHECK(first_feeds(kPlainLoad + "atom.global.cas.b32 %r2, [%rd1], %r1, 7;"));
    // Round a loop, where the copy is written before the first is read.
    CHECK(first_feeds(kPlainLoad + "bra $in;\n$top:\natom.global.cas.b32 %r3, [%rd1], %r2, 7;\n"
                                   "$in:\nmov.b32 %r2, %r1;\nbra $top;"));
}

TEST_CASE("optimistic read: unoptimised code calls a function", "[checks][race]") {
    const auto call = [](const std::string& name, const std::string& expected) {
        return first_feeds(kPlainLoad +
                               "{ .param .b64 a; .param .b32 b; .param .b32 c; .param .b32 r;\n"
                               "st.param.b64 [a], %rd1;\nst.param.b32 [b], " +
                               expected + ";\nst.param.b32 [c], %r4;\ncall (r), " + name +
                               ", (a, b, c); }",
                           ".func (.param .b32 r) " + name +
                               "(.param .b64 a, .param .b32 b, .param .b32 c) { ret; }\n");
    };
    CHECK(call("_ZN9atomicCASEPiii", "%r1"));
    CHECK_FALSE(call("_ZN9atomicCASEPiii", "%r2"));
    CHECK_FALSE(call("_ZN9atomicAddEPiii", "%r1"));
}

TEST_CASE("optimistic read: other uses of the value are none", "[checks][race]") {
    CHECK_FALSE(first_feeds(kPlainLoad + "atom.global.cas.b32 %r2, [%rd1], %r3, %r1;"));
    CHECK_FALSE(first_feeds(kPlainLoad + "add.u32 %r2, %r1, 1;\n"
                                         "atom.global.cas.b32 %r3, [%rd1], %r2, 7;"));
    CHECK_FALSE(first_feeds(kPlainLoad + "atom.global.max.u32 %r2, [%rd1], %r1;"));
}
