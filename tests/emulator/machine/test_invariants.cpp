// SPDX-License-Identifier: MIT
// Instructions that are the same for a whole launch run once, with the same values and counts as if
// every warp ran them.
#include "machine_lab.h"

using namespace machine_lab;

TEST_CASE("invariant: sizes of grid and block reach every warp", "[machine][invariants]") {
    Lab lab;
    lab.run("mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %nctaid.x;\nmad.lo.u32 %r3, %r1, 1000, %r2;\n"
            "st.global.u32 [%mine], %r3;",
            {.grid = {3, 1, 1}, .block = {64, 1, 1}});
    CHECK(lab.words(192) == each([](uint32_t) { return 64003u; }, 192));
}

TEST_CASE("invariant: each launch has its own values", "[machine][invariants]") {
    Lab lab;
    LoadedModule& m = lab.load(kernel_text("mov.u32 %r1, %ntid.x;\nst.global.u32 [%mine], %r1;"));
    for (const uint32_t threads : {32u, 64u, 32u}) {
        lab.launch(m, "k", {.block = {threads, 1, 1}});
        CHECK(lab.got(0) == threads);
    }
}

TEST_CASE("invariant: at the end of a block that others join, used by one further on",
          "[machine][invariants]") {
    // The first mov stands alone before a label: no instruction of its block can count for it.
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 16;\n@%p1 bra OTHER;\nmov.u32 %r1, %ntid.x;\nOTHER:\n"
            "setp.ge.u32 %p2, %lane, 16;\n@%p2 bra USE;\nst.global.u32 [%mine], 1;\nbra.uni END;\n"
            "USE:\nadd.u32 %r2, %r1, 7;\nst.global.u32 [%mine], %r2;\nEND:\n");
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? 1u : 39u; }));
}

TEST_CASE("invariant: a register with two writers is none", "[machine][invariants]") {
    Lab lab;
    lab.run("mov.u32 %r1, %ntid.x;\nsetp.lt.u32 %p1, %lane, 8;\n@%p1 mov.u32 %r1, 5;\n"
            "st.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 8 ? 5u : 32u; }));
}

TEST_CASE("invariant: counted for the lanes that execute it, and only for them",
          "[machine][invariants]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %tid, 40;\n@!%p1 bra END;\nxor.b32 %r1, 5, 6;\n"
            "not.b32 %r2, %lane;\nEND:\n",
            {.grid = {2, 1, 1}, .block = {96, 1, 1}});
    for (const char* opcode : {"xor.b32", "not.b32"}) {
        CHECK(lab.seen.executed(opcode) == 2 * 2);
        CHECK(lab.seen.executed_threads(opcode) == 2 * 40);
    }
}
