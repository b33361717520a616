// SPDX-License-Identifier: MIT
// Lanes and blocks that wait for others: they make progress, and what never ends is stopped.
#include "machine_lab.h"

using namespace machine_lab;

TEST_CASE("spin lock: taken by every lane of a warp in turn", "[machine][divergence]") {
    // The holder leaves the loop and must run although the others still spin in it.
    Lab lab;
    const LaunchSummary s =
        lab.run("SPIN:\natom.global.cas.b32 %r1, [%in], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                "@%p1 bra SPIN;\nld.volatile.global.u32 %r2, [%in+4];\nadd.u32 %r2, %r2, 1;\n"
                "st.volatile.global.u32 [%in+4], %r2;\nmembar.gl;\n"
                "atom.global.exch.b32 %r3, [%in], 0;\nst.global.u32 [%mine], %r2;",
                {.grid = {3, 1, 1}, .block = {64, 1, 1}});
    CHECK(s.status == LaunchStatus::kOk);
    uint32_t count;
    std::memcpy(&count, lab.in().host + 4, 4);
    CHECK(count == 192);
    std::vector<bool> had(193, false);
    for (const uint32_t ticket : lab.words(192)) {
        REQUIRE((ticket >= 1 && ticket <= 192));
        CHECK_FALSE(had[ticket]);
        had[ticket] = true;
    }
}

TEST_CASE("spin: a lane waits for another lane of its warp", "[machine][divergence]") {
    for (const bool reader_first : {false, true}) {
        Lab lab;
        const LaunchSummary s = lab.run(
            std::string("setp.") + (reader_first ? "eq" : "ne") +
            ".u32 %p1, %lane, 0;\n"
            "@%p1 bra WAIT;\nst.volatile.global.u32 [%in], 7;\nbra END;\n"
            "WAIT:\nld.volatile.global.u32 %r1, [%in];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;\n"
            "END:\nst.global.u32 [%mine], 1;");
        CHECK(s.status == LaunchStatus::kOk);
        CHECK(lab.words() == each([](uint32_t) { return 1; }));
    }
}

TEST_CASE("spin: an earlier block waits for a later one", "[machine][divergence]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 bra SET;\n"
                "WAIT:\nld.acquire.gpu.global.u32 %r2, [%in];\nsetp.eq.u32 %p2, %r2, 0;\n"
                "@%p2 bra WAIT;\nst.global.u32 [%mine], %r2;\nbra END;\nSET:\n"
                "st.release.gpu.global.u32 [%in], 5;\nEND:\n",
                {.grid = {4, 1, 1}});
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 5);
    CHECK(lab.got(63) == 5);
    CHECK(lab.got(64) == kOldWord);
    CHECK(lab.got(127) == 5);
}

TEST_CASE("spin: a block whose lanes part and meet while they poll waits for a later one",
          "[machine][divergence]") {
    Lab lab;
    lab.machine->set_budget(100'000'000);
    const LaunchSummary s =
        lab.run("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra SET;\n"
                "and.b32 %r3, %lane, 1;\nsetp.eq.u32 %p3, %r3, 0;\n"
                "WAIT:\nmov.u32 %r2, 0;\n@%p3 bra EVEN;\n"
                "ld.volatile.global.u32 %r2, [%in];\nbra.uni MEET;\n"
                "EVEN:\nld.volatile.global.u32 %r2, [%in+4];\nMEET:\n"
                "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nst.global.u32 [%mine], %r2;\n"
                "bra END;\nSET:\nst.volatile.global.u32 [%in], 5;\n"
                "st.volatile.global.u32 [%in+4], 6;\nEND:\n",
                {.grid = {2, 1, 1}});
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 6);
    CHECK(lab.got(31) == 5);
}

TEST_CASE("spin: a block that polls between barriers waits for a later one",
          "[machine][divergence]") {
    Lab lab;
    lab.machine->set_budget(100'000'000);
    const LaunchSummary s = lab.run(
        "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra SET;\n"
        "WAIT:\nld.volatile.global.u32 %r2, [%in];\nsetp.ne.u32 %p2, %r2, 0;\n"
        "barrier.cta.red.or.pred.aligned %p3, 0, %p2;\n@!%p3 bra WAIT;\n"
        "st.global.u32 [%mine], 7;\nbra END;\nSET:\nst.volatile.global.u32 [%in], 5;\nEND:\n",
        {.grid = {2, 1, 1}, .block = {64, 1, 1}});
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 7);
    CHECK(lab.got(63) == 7);
}

TEST_CASE("grid barrier: a cooperative launch has a workspace, and every block passes",
          "[machine][divergence]") {
    // As cooperative_groups does: count arrivals at base + 4, wait for the sign bit to flip.
    const std::string body =
        "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\ncvt.u64.u32 %rd1, %r1;\n"
        "shl.b64 %rd1, %rd1, 32;\ncvt.u64.u32 %rd2, %r2;\nor.b64 %rd1, %rd1, %rd2;\n"
        "setp.eq.u64 %p1, %rd1, 0;\n@%p1 trap;\n"
        "st.global.u32 [%mine], %g;\nbarrier.sync 0;\nsetp.ne.u32 %p2, %tid, 0;\n@%p2 bra JOIN;\n"
        "mov.u32 %r3, %nctaid.x;\nsub.u32 %r4, 0x80000000, %r3;\nadd.u32 %r4, %r4, 1;\n"
        "mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p3, %r5, 0;\nselp.u32 %r4, %r4, 1, %p3;\nmembar.gl;\n"
        "atom.add.release.gpu.u32 %r6, [%rd1+4], %r4;\n"
        "WAIT:\nld.acquire.gpu.u32 %r7, [%rd1+4];\nxor.b32 %r8, %r7, %r6;\n"
        "setp.ge.s32 %p4, %r8, 0;\n@%p4 bra WAIT;\nJOIN:\nbarrier.sync 0;\n"
        // The value of the thread at the mirrored place of the grid.
        "mov.u32 %r9, %nctaid.x;\nmov.u32 %r10, %ntid.x;\nmul.lo.u32 %r9, %r9, %r10;\n"
        "sub.u32 %r9, %r9, %g;\nsub.u32 %r9, %r9, 1;\nmad.wide.u32 %rd3, %r9, 4, %out;\n"
        "ld.global.u32 %r11, [%rd3];\nst.global.u32 [%mine+8192], %r11;";
    Lab lab;
    LoadedModule& module = lab.load(kernel_text(body));
    for (int round = 0; round < 2; ++round) {
        const LaunchSummary s =
            lab.launch(module, "k", {.grid = {8, 1, 1}, .block = {64, 1, 1}, .cooperative = true});
        CHECK(s.status == LaunchStatus::kOk);
        for (uint32_t t : {0u, 1u, 100u, 511u}) CHECK(lab.got(2048 + t) == 511 - t);
    }
    // Without `cooperative` there is no workspace.
    CHECK(lab.launch(module, "k", {.grid = {8, 1, 1}, .block = {64, 1, 1}}).status ==
          LaunchStatus::kTrap);
}

TEST_CASE("hang: polling memory that is never written ends, with the place of the polls",
          "[machine][divergence][slow]") {
    Lab lab;
    const LaunchSummary s = lab.run(
        "setp.ne.u32 %p1, %lane, 3;\n@%p1 exit;\nWAIT:\nld.volatile.global.u32 %r1, [%in];\n"
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;");
    CHECK(s.status == LaunchStatus::kBudget);
    REQUIRE(lab.seen.stalls.size() == 1);
    const SeenStall& stall = lab.seen.stalls[0];
    CHECK(stall.kind == StallEvent::Kind::kBudget);
    CHECK(stall.exited_threads == 31);
    REQUIRE(stall.waiters.size() == 1);
    CHECK(stall.waiters[0].mask == 1u << 3);
    CHECK(stall.waiters[0].reason == WaitReason::kRunning);
    REQUIRE(stall.polled);
    CHECK(stall.polled->live);
}

TEST_CASE("hang: polling that only watches the clock ends long before the budget",
          "[machine][divergence][slow]") {
    Lab lab;
    lab.machine->set_budget(2'000'000'000);
    const LaunchSummary s =
        lab.run("WAIT:\nmov.u64 %rd3, %globaltimer;\nld.volatile.global.u32 %r1, [%in];\n"
                "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;");
    CHECK(s.status == LaunchStatus::kBudget);
    CHECK(s.thread_instructions < 1'900'000'000);
}

TEST_CASE("hang: polling that gives up after some time is none", "[machine][divergence][slow]") {
    Lab lab;
    const LaunchSummary s = lab.run(
        "mov.u64 %rd3, %globaltimer;\nadd.u64 %rd3, %rd3, 20000000;\n"
        "WAIT:\nmov.u64 %rd4, %globaltimer;\nsetp.gt.u64 %p1, %rd4, %rd3;\n@%p1 bra OUT;\n"
        "ld.volatile.global.u32 %r1, [%in];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;\nOUT:\n"
        "st.global.u32 [%mine], 7;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(3) == 7);
}

TEST_CASE("hang: many polls in a loop that counts them are none", "[machine][divergence][slow]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("mov.u32 %r1, 0;\nLOOP:\nld.volatile.global.u32 %r2, [%in];\n"
                "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 500000;\n@%p1 bra LOOP;\n"
                "st.global.u32 [%mine], %r1;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(3) == 500000);
}

TEST_CASE("waiting: a loop of plain loads lets other blocks run soon", "[machine][divergence]") {
    Lab lab;
    const LaunchSummary s = lab.run(
        "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WRITE;\n"
        "WAIT:\nld.global.u32 %r2, [%out];\nsetp.ne.u32 %p2, %r2, 7;\n@%p2 bra WAIT;\nexit;\n"
        "WRITE:\nst.global.u32 [%out], 7;",
        {{2, 1, 1}, {32, 1, 1}});
    CHECK(s.status == LaunchStatus::kOk);
    // Twice 2^13 iterations of three instructions, and not 2^20.
    CHECK(s.warp_instructions < 100'000);
}

TEST_CASE("hang: an endless loop uses up the budget", "[machine][divergence][slow]") {
    Lab lab;
    lab.machine->set_budget(300'000'000);
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %lane, 4;\n@!%p1 bra END;\nLOOP:\nadd.u32 %r1, %r1, 1;\n"
                "bra LOOP;\nEND:\nst.global.u32 [%mine], 1;");
    CHECK(s.status == LaunchStatus::kBudget);
    REQUIRE(lab.seen.stalls.size() == 1);
    bool loops = false;
    for (size_t i = 0; i < lab.seen.stalls[0].waiters.size(); ++i)
        if (lab.seen.stalls[0].waiters[i].mask == 0xf)
            loops = lab.seen.stalls[0].opcodes[i] == "bra" ||
                    lab.seen.stalls[0].opcodes[i] == "add.u32";
    CHECK(loops);
    // No lane waits for lanes that never arrive.
    CHECK(lab.got(10) == 1);
}

TEST_CASE("hang: the same program within its budget finishes", "[machine][divergence][slow]") {
    const char* body = "mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000;\n"
                       "@%p1 bra LOOP;\nst.global.u32 [%mine], %r1;";
    Lab lab;
    lab.machine->set_budget(32 * 3100);
    CHECK(lab.run(body).status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 1000);
    lab.machine->set_budget(32 * 2900);
    CHECK(lab.run(body).status == LaunchStatus::kBudget);
}

TEST_CASE("hang: without a budget a launch may go on while it makes progress",
          "[machine][divergence]") {
    Lab lab;
    Limits limits;
    limits.quiet_instructions = 32 * 5000;
    lab.machine = Machine::create(lab.memory, lab.observers, limits);
    const std::string loop = "mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\n";
    const std::string end = "setp.lt.u32 %p1, %r1, 4000;\n@%p1 bra LOOP;\n";
    SECTION("one block is too long") {
        CHECK(lab.run(loop + end).status == LaunchStatus::kBudget);
        REQUIRE(lab.seen.stalls.size() == 1);
    }
    SECTION("many blocks are not, together") {
        const std::string half = "setp.lt.u32 %p1, %r1, 1000;\n@%p1 bra LOOP;\n";
        CHECK(lab.run(loop + half, {{20, 1, 1}, {32, 1, 1}}).status == LaunchStatus::kOk);
    }
    SECTION("a block that stores is not") {
        CHECK(lab.run(loop + "st.global.u32 [%mine], %r1;\n" + end).status == LaunchStatus::kOk);
        CHECK(lab.got(3) == 4000);
    }
    SECTION("reading a clock is no progress") {
        const std::string read = "mov.u64 %rd3, %clock64;\n";
        CHECK(lab.run(loop + read + "bra LOOP;\n").status == LaunchStatus::kBudget);
    }
}

TEST_CASE("clock: a loop that waits for it ends soon, and never early", "[machine][divergence]") {
    Lab lab;
    const uint64_t wait = GENERATE(as<uint64_t>{}, 100, 100'000, 3'000'000'000);
    const LaunchSummary s =
        lab.run("mov.u64 %rd3, %clock64;\nWAIT:\nmov.u64 %rd4, %clock64;\n"
                "sub.u64 %rd5, %rd4, %rd3;\nsetp.lt.u64 %p1, %rd5, " +
                std::to_string(wait) + ";\n@%p1 bra WAIT;\nst.global.u64 [%in], %rd5;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(s.warp_instructions < 1'000'000);
    uint64_t waited = 0;
    std::memcpy(&waited, lab.in().host, sizeof waited);
    CHECK(waited >= wait);
    CHECK(waited < wait + wait / 7 + 100);
}
