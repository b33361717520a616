// SPDX-License-Identifier: MIT
// Lanes that part and meet: branches, loops, tables and guards.
#include "machine_lab.h"

using namespace machine_lab;

namespace {
// Kernel text that stores the active mask at word `slot` of the thread's row of 8 words.
std::string note_mask(int slot) {
    return "activemask.b32 %r50;\nst.global.u32 [%rd50+" + std::to_string(4 * slot) + "], %r50;\n";
}
const std::string kRow = "mad.wide.u32 %rd50, %g, 32, %out;\n";
uint32_t noted(const Lab& lab, uint32_t thread, int slot) {
    return lab.got(8 * thread + uint32_t(slot));
}
}  // namespace

TEST_CASE("branch: if and else each have their lanes, which meet afterwards",
          "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "setp.lt.u32 %p1, %lane, 10;\n@%p1 bra THEN;\n" + note_mask(0) +
            "bra.uni DONE;\nTHEN:\n" + note_mask(1) + "DONE:\n" + note_mask(2));
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CHECK(noted(lab, lane, 0) == (lane < 10 ? kOldWord : 0xfffffc00u));
        CHECK(noted(lab, lane, 1) == (lane < 10 ? 0x3ffu : kOldWord));
        CHECK(noted(lab, lane, 2) == kAllLanes);
    }
}

TEST_CASE("branch: a negated guard takes the other lanes", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "setp.lt.u32 %p1, %lane, 10;\n@!%p1 bra SKIP;\n" + note_mask(0) + "SKIP:\n" +
            note_mask(1));
    CHECK(noted(lab, 3, 0) == 0x3ff);
    CHECK(noted(lab, 12, 0) == kOldWord);
    CHECK(noted(lab, 12, 1) == kAllLanes);
}

TEST_CASE("branch: nested divergence meets level by level", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "and.b32 %r1, %lane, 1;\nsetp.eq.u32 %p1, %r1, 0;\nand.b32 %r2, %lane, 2;\n" +
            "setp.eq.u32 %p2, %r2, 0;\n@%p1 bra OUTER_END;\n@%p2 bra INNER_END;\n" + note_mask(0) +
            "INNER_END:\n" + note_mask(1) + "OUTER_END:\n" + note_mask(2));
    CHECK(noted(lab, 3, 0) == 0x88888888u);
    CHECK(noted(lab, 1, 0) == kOldWord);
    CHECK(noted(lab, 1, 1) == 0xaaaaaaaau);
    CHECK(noted(lab, 3, 1) == 0xaaaaaaaau);
    CHECK(noted(lab, 0, 1) == kOldWord);
    CHECK(noted(lab, 0, 2) == kAllLanes);
}

TEST_CASE("loop: every lane has its own trip count, and all meet after it",
          "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP:\nadd.u32 %r2, %r2, %r1;\n" +
            "add.u32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, %lane;\n" + note_mask(0) +
            "@%p1 bra LOOP;\n" + note_mask(1) + "st.global.u32 [%rd50+8], %r2;");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CHECK(noted(lab, lane, 0) == kAllLanes << lane);  // of its last round
        CHECK(noted(lab, lane, 1) == kAllLanes);
        CHECK(noted(lab, lane, 2) == lane * (lane + 1) / 2);
    }
}

TEST_CASE("loop: lanes of an inner loop meet before the outer one continues",
          "[machine][divergence]") {
    // Outer: three rounds for all; inner: lane % 4 + 1 rounds.
    Lab lab;
    lab.run(
        kRow + "mov.u32 %r1, 0;\nmov.u32 %r9, 0;\nOUTER:\nand.b32 %r2, %lane, 3;\nINNER:\n" +
        "add.u32 %r9, %r9, 1;\nsub.u32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r2, 0;\n@%p1 bra INNER;\n" +
        "activemask.b32 %r3;\nsetp.ne.u32 %p3, %r3, 0xffffffff;\n@%p3 trap;\n" +
        "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 3;\n@%p2 bra OUTER;\n" +
        "st.global.u32 [%mine], %r9;");
    CHECK(lab.words() == each([](uint32_t i) { return 3 * (i % 4 + 1); }));
    CHECK(lab.seen.faults.empty());
}

TEST_CASE("loop: break out of the middle meets at the end", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "mov.u32 %r1, 0;\nLOOP:\nsetp.eq.u32 %p1, %r1, %lane;\n@%p1 bra OUT;\n" +
            "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 8;\n@%p2 bra LOOP;\nmov.u32 %r1, 99;\n" +
            "OUT:\n" + note_mask(0) + "st.global.u32 [%rd50+4], %r1;");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CHECK(noted(lab, lane, 0) == kAllLanes);
        CHECK(noted(lab, lane, 1) == (lane < 8 ? lane : 99));
    }
}

TEST_CASE("brx.idx: each lane its own target, then all meet", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "and.b32 %r1, %lane, 3;\nTABLE: .branchtargets A, B, A, C;\n" +
            "brx.idx %r1, TABLE;\nA:\nmov.u32 %r2, 10;\n" + note_mask(0) + "bra END;\nB:\n" +
            "mov.u32 %r2, 20;\n" + note_mask(0) + "bra END;\nC:\nmov.u32 %r2, 30;\n" +
            note_mask(0) + "END:\n" + note_mask(1) + "st.global.u32 [%rd50+8], %r2;");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t k = lane % 4;
        CHECK(noted(lab, lane, 2) == (k == 1 ? 20u : k == 3 ? 30u : 10u));
        CHECK(noted(lab, lane, 1) == kAllLanes);
        // Indexes 0 and 2 lead to the same place but come one after the other.
        CHECK(noted(lab, lane, 0) == 0x11111111u << k);
    }
}

TEST_CASE("brx.idx: a uniform index needs no divergence", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "mov.u32 %r1, 1;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\ntrap;\nB:\n" +
            note_mask(0));
    CHECK(noted(lab, 7, 0) == kAllLanes);
    CHECK(lab.seen.faults.empty());
}

TEST_CASE("brx.idx: an index past the table is a fault, not a wild jump", "[machine][divergence]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.eq.u32 %p1, %lane, 4;\nselp.u32 %r1, 2, 0, %p1;\nT: .branchtargets A, B;\n"
                "brx.idx %r1, T;\nA:\nB:\nst.global.u32 [%mine], 1;");
    CHECK(s.status == LaunchStatus::kTrap);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].mask == 1u << 4);
}

TEST_CASE("guard: straight instructions change only their lanes", "[machine][divergence]") {
    Lab lab;
    lab.run("setp.gt.u32 %p1, %lane, 20;\nmov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\n"
            "@!%p1 add.u32 %r1, %r1, 10;\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i > 20 ? 2 : 11; }));
}

TEST_CASE("exit: guarded lanes leave, the others continue together", "[machine][divergence]") {
    for (const char* how : {"exit", "ret"}) {
        Lab lab;
        lab.run(kRow + "setp.lt.u32 %p1, %lane, 5;\nst.global.u32 [%rd50+4], 1;\n@%p1 " + how +
                ";\n" + note_mask(0));
        INFO(how);
        CHECK(noted(lab, 4, 0) == kOldWord);
        CHECK(noted(lab, 4, 1) == 1);
        CHECK(noted(lab, 5, 0) == 0xffffffe0u);
        REQUIRE(lab.seen.exits.size() == 2);
        CHECK(lab.seen.exits[0] == 0x1f);
        CHECK(lab.seen.exits[1] == 0xffffffe0u);
    }
}

TEST_CASE("exit: inside a branch, the others do not wait for lanes that left",
          "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + "setp.lt.u32 %p1, %lane, 16;\n@%p1 bra THEN;\nsetp.lt.u32 %p2, %lane, 20;\n" +
            "@%p2 bra JOIN;\nexit;\nTHEN:\nadd.u32 %r1, %r1, 1;\nJOIN:\n" + note_mask(0));
    CHECK(noted(lab, 0, 0) == 0xfffffu);
    CHECK(noted(lab, 17, 0) == 0xfffffu);
    CHECK(noted(lab, 25, 0) == kOldWord);
}

TEST_CASE("exit: lanes that branch to the end do not keep the others apart",
          "[machine][divergence]") {
    // How nvcc writes `if (c) { ... } else { ...; if (d) return; ... } rest`.
    Lab lab;
    lab.run(kRow + "setp.lt.u32 %p1, %lane, 16;\n@%p1 bra THEN;\nsetp.ge.u32 %p2, %lane, 20;\n" +
            "@%p2 bra RETURN;\n" + note_mask(0) + "bra JOIN;\nTHEN:\n" + note_mask(0) + "JOIN:\n" +
            note_mask(1) + "RETURN:\nret;");
    CHECK(noted(lab, 0, 0) == 0xffffu);
    CHECK(noted(lab, 17, 0) == 0xf0000u);
    CHECK(noted(lab, 0, 1) == 0xfffffu);
    CHECK(noted(lab, 17, 1) == 0xfffffu);
    CHECK(noted(lab, 25, 1) == kOldWord);
}

TEST_CASE("exit: when the last lanes of a branch leave, those that wait continue at once",
          "[machine][divergence]") {
    // Lanes 24 to 31 return where 16 to 23 wait for them; 0 to 15 wait for all further down.
    Lab lab;
    lab.run(kRow + "setp.lt.u32 %p1, %lane, 16;\nsetp.ge.u32 %p2, %lane, 24;\n@%p1 bra JOIN;\n" +
            "@%p2 bra B;\nadd.u32 %r1, %r1, 1;\nbra M;\nB:\n@%p2 exit;\nadd.u32 %r1, %r1, 1;\n" +
            "M:\n" + note_mask(0) + "JOIN:\n" + note_mask(1));
    CHECK(noted(lab, 16, 0) == 0xff0000u);
    CHECK(noted(lab, 16, 1) == 0xffffffu);
    CHECK(noted(lab, 0, 1) == 0xffffffu);
    CHECK(noted(lab, 24, 1) == kOldWord);
}

TEST_CASE("exit: an endless loop with a way out still meets inside", "[machine][divergence]") {
    Lab lab;
    lab.run(
        kRow + "mov.u32 %r1, 0;\nLOOP:\nand.b32 %r2, %lane, 1;\nsetp.eq.u32 %p1, %r2, 0;\n" +
        "@%p1 bra EVEN;\nadd.u32 %r1, %r1, 1;\nbra MEET;\nEVEN:\nadd.u32 %r1, %r1, 2;\nMEET:\n" +
        note_mask(0) + "setp.ge.u32 %p2, %r1, 6;\n@%p2 bra RETURN;\nbra LOOP;\nRETURN:\nret;");
    CHECK(noted(lab, 0, 0) == kAllLanes);    // third round: all there
    CHECK(noted(lab, 1, 0) == 0xaaaaaaaau);  // sixth
}

TEST_CASE("exit: in a loop, one lane a round", "[machine][divergence]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("mov.u32 %r1, 0;\nLOOP:\nsetp.eq.u32 %p1, %r1, %lane;\n"
                "@%p1 st.global.u32 [%mine], %r1;\n@%p1 exit;\nadd.u32 %r1, %r1, 1;\nbra LOOP;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return i; }));
}

TEST_CASE("last warp: lanes that do not exist never run", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow + note_mask(0), {.block = {40, 1, 1}});
    CHECK(noted(lab, 31, 0) == kAllLanes);
    CHECK(noted(lab, 39, 0) == 0xff);
    CHECK(noted(lab, 40, 0) == kOldWord);
}

TEST_CASE("waiting: a long loop that counts keeps its lanes together", "[machine][divergence]") {
    Lab lab;
    lab.run(kRow +
            "mov.u32 %r1, 0;\nsetp.ge.u32 %p1, %lane, 16;\n@%p1 bra MEET;\n"
            "LOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 100000;\n@%p2 bra LOOP;\n"
            "MEET:\n" +
            note_mask(0));
    CHECK(noted(lab, 3, 0) == kAllLanes);
    CHECK(noted(lab, 20, 0) == kAllLanes);
}

TEST_CASE("divergence: the counters say how often and which lanes", "[machine][divergence]") {
    Lab lab;
    lab.run("and.b32 %r1, %lane, 7;\nLOOP:\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra OUT;\n"
            "sub.u32 %r1, %r1, 1;\nbra.uni LOOP;\nOUT:\nst.global.u32 [%mine], 1;");
    uint64_t divergent = 0, conditional = 0;
    for (const SiteCount& c : lab.seen.sites) {
        divergent += c.divergent;
        conditional += c.divergent_branch;
    }
    CHECK(divergent == 7);  // the last lanes leave together
    CHECK(conditional == 1);
    CHECK(lab.seen.executed("sub.u32") == 7);
    CHECK(lab.seen.executed_threads("sub.u32") == 4 * (1 + 2 + 3 + 4 + 5 + 6 + 7));
    CHECK(lab.seen.executed("st.global.u32") == 1);
    CHECK(lab.seen.executed_threads("st.global.u32") == 32);
}
