// SPDX-License-Identifier: MIT
// Stores of what the same function has loaded, changed.
#include "../ptx/ptx_text.h"
#include "checks/race/lost_update.h"
#include "machine/program/sites.h"

namespace {

// Whether the last instruction of a kernel with this body stores what the first one has loaded.
bool last_stores(const std::string& between, const std::string& store) {
    const auto kernel = open_kernel(".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n"
                                    "ld.volatile.global.u32 %r1, [%rd1];\n" +
                                    between + store);
    const ptx::Function& function = *kernel->function("k");
    uint32_t last = 0;
    for (uint32_t i = 0; i < function.body.size(); ++i)
        if (function.body[i].opcode == ptx::Opcode::k_st) last = i;
    const uint32_t sites = machine::site_count();
    const machine::SiteId load = machine::register_site(*kernel, function, 0);
    const bool back = checks::is_lost_update(load, machine::register_site(*kernel, function, last));
    machine::forget_sites(sites);
    return back;
}

const std::string kStoreText = "st.volatile.global.u32 [%rd1], %r2;\n";

}  // namespace

TEST_CASE("stored back: a sum with what was loaded", "[checks][race]") {
    CHECK(last_stores("add.u32 %r2, %r1, 1;\n", kStoreText));
    CHECK(last_stores("mov.u32 %r3, %r1;\nmad.lo.u32 %r4, %r5, %r6, %r3;\nmov.u32 %r2, %r4;\n",
                      kStoreText));
    // Round a loop, where the sum is written below its use.
    CHECK(last_stores("bra $in;\n$top:\nmov.u32 %r2, %r3;\n" + kStoreText +
                          "$in:\nadd.u32 %r3, %r1, 1;\nbra $top;\n",
                      ""));
}

TEST_CASE("stored back: a sum that is masked afterwards", "[checks][race]") {
    CHECK(last_stores("add.u32 %r3, %r1, 1;\nand.b32 %r2, %r3, 7;\n", kStoreText));
}

TEST_CASE("stored back: what may be done twice is no update", "[checks][race]") {
    CHECK_FALSE(last_stores("mov.u32 %r2, %r1;\n", kStoreText));
    CHECK_FALSE(last_stores("or.b32 %r2, %r1, 4;\n", kStoreText));
    CHECK_FALSE(last_stores("max.u32 %r2, %r1, %r3;\n", kStoreText));
}

TEST_CASE("stored back: what only decides is not stored", "[checks][race]") {
    CHECK_FALSE(last_stores("setp.eq.u32 %p1, %r1, 0;\nselp.u32 %r2, 1, 2, %p1;\n", kStoreText));
    CHECK_FALSE(last_stores("add.u32 %r3, %r1, 1;\nld.global.u32 %r2, [%rd2];\n", kStoreText));
    CHECK_FALSE(last_stores("add.u32 %r3, %r1, 1;\n", kStoreText));
}
