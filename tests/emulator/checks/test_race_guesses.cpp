// SPDX-License-Identifier: MIT
// Plain loads whose value the same thread then checks with an atomic.
#include "../ptx/ptx_text.h"
#include "machine/program/sites.h"
#include "race_players.h"

using namespace player;

namespace {

How atomic_of(const char* opcode) {
    How how = kAtomic;
    how.opcode = opcode;
    return how;
}

ArrayOf zero(Global& p) {
    const ArrayOf word = p.global(1);
    std::memset(word.allocation->host, 0, 4);
    return word;
}

// Two threads of two blocks: a plain load of `word`, then an atomic there with `operand`.
void load_then_update(Global& p, const Addresses& word, const char* opcode, uint64_t operand) {
    for (uint32_t block = 0; block < 2; ++block) {
        p.thread(block, 0).load(10, word);
        p.thread(block, 0).access(
            11, atomic_of(opcode), word, 4, [=](uint32_t) { return operand; });
    }
}

}  // namespace

TEST_CASE("race-global: a load that starts a compare-and-swap loop is no race", "[checks][race]") {
    Global p;
    const auto sum = zero(p);
    p.launch(2, 32);
    SECTION("against what was read") {
        load_then_update(p, sum.all(0), "atom.global.cas.b32", 0);
        CHECK(p.races() == Lines{});
    }
    SECTION("also beside another atomic") {
        p.thread(1, 1).access(12, atomic_of("atom.global.add.u32"), sum[0]);
        load_then_update(p, sum.all(0), "atom.global.cas.b32", 0);
        CHECK(p.races() == Lines{});
    }
    SECTION("against something else, the load was for another purpose") {
        load_then_update(p, sum.all(0), "atom.global.cas.b32", 7);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("what was read is not what the exchange expects") {
        const auto kernel = open_kernel(".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
                                        "ld.global.u32 %r1, [%rd1];\n"
                                        "atom.global.cas.b32 %r2, [%rd1], %r3, 7;");
        const uint32_t before = machine::site_count();
        How load = kLoad;
        load.instruction = machine::register_site(*kernel, *kernel->function("k"), 0);
        for (uint32_t block = 0; block < 2; ++block) {
            p.thread(block, 0).access(10, load, sum.all(0), 4);
            p.thread(block, 0).access(
                11, atomic_of("atom.global.cas.b32"), sum.all(0), 4, [](uint32_t) { return 0; });
        }
        CHECK(p.races() == Lines{"11 after 10"});
        machine::forget_sites(before);
    }
    SECTION("a plain store in place of the loop stays a race") {
        load_then_update(p, sum.all(0), "atom.global.cas.b32", 0);
        p.thread(0, 1).store(13, sum[0]);
        CHECK(!p.races().empty());
    }
    SECTION("a sum does not check what was read") {
        load_then_update(p, sum.all(0), "atom.global.add.u32", 0);
        CHECK(p.races() == Lines{"11 after 10"});
    }
}

TEST_CASE("race-global: a compare-and-swap that finds something else is a load", "[checks][race]") {
    Global p;
    const auto word = zero(p);
    How swap = atomic_of("atom.global.cas.b32");
    swap.only_if_equal = true;
    p.launch(2, 32);
    SECTION("beside a load") {
        p.thread(0, 0).load(10, word[0]);
        p.thread(1, 0).access(11, swap, word.all(0), 4, [](uint32_t) { return 7; });
        p.thread(0, 1).load(12, word[0]);
        CHECK(p.races() == Lines{});
    }
    SECTION("one that finds what it expects is not") {
        p.thread(0, 0).load(10, word[0]);
        p.thread(1, 0).access(11, swap, word.all(0), 4, [](uint32_t) { return 0; });
        CHECK(p.races() == Lines{"10 after 11"});
    }
    SECTION("nor one after a lane of the same instruction that may have changed the word") {
        p.warp(1, 0, 6).access(11, swap, word.all(0), 4, [](uint32_t lane) { return lane - 1; });
        p.thread(0, 1).load(12, word[0]);
        CHECK(p.races() == Lines{"12 after 11"});
    }
    SECTION("beside a store") {
        p.thread(1, 0).access(11, swap, word.all(0), 4, [](uint32_t) { return 7; });
        p.thread(1, 1).store(12, word[0]);
        CHECK(p.races() == Lines{"12 after 11"});
    }
}

TEST_CASE("race-global: updates in two steps get lost", "[checks][race]") {
    const auto kernel = open_kernel(".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
                                    "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\n"
                                    "st.volatile.global.u32 [%rd1], %r2;\n"
                                    "st.volatile.global.u32 [%rd1], 5;");
    const uint32_t before = machine::site_count();
    const auto at = [&](How how, uint32_t instruction) {
        how.instruction = machine::register_site(*kernel, *kernel->function("k"), instruction);
        return how;
    };
    const How read = at(kVolatileLoad, 0), write = at(kVolatileStore, 2),
              set = at(kVolatileStore, 3);
    Global p;
    const auto word = zero(p);
    p.launch(2, 32);
    SECTION("of two blocks") {
        for (uint32_t block = 0; block < 2; ++block) {
            p.thread(block, 0).access(10, read, word[0]);
            p.thread(block, 0).access(11, write, word[0]);
        }
        CHECK(p.races() == Lines{"11 after 11"});
        CHECK(p.report.findings()[0].message.find("written back") != std::string::npos);
    }
    SECTION("of the lanes of a warp") {
        p.warp(0, 0).access(10, read, word.all(0));
        p.warp(0, 0).access(11, write, word.all(0));
        CHECK(p.races() == Lines{"11 after 11"});
    }
    SECTION("not behind a lock") {
        const auto lock = p.global(1);
        for (uint32_t block = 0; block < 2; ++block) {
            p.thread(block, 0).access(9, kAcquireLoad, lock[0]);
            p.thread(block, 0).access(10, read, word[0]);
            p.thread(block, 0).access(11, write, word[0]);
            p.thread(block, 0).access(12, kReleaseStore, lock[0]);
        }
        CHECK(p.races() == Lines{});
    }
    SECTION("not by one thread, beside those that look or set it anew") {
        p.thread(0, 0).access(10, read, word[0]);
        p.thread(0, 0).access(11, write, word[0]);
        p.thread(1, 0).access(10, read, word[0]);
        p.thread(1, 0).access(12, set, word[0]);
        CHECK(p.races() == Lines{});
    }
    machine::forget_sites(before);
}

TEST_CASE("race-global: a test before an update that can only improve is no race",
          "[checks][race]") {
    Global p;
    const auto best = zero(p);
    p.launch(2, 32);
    const auto minus_one = 0xffffffffull;
    SECTION("a smaller number for a minimum") {
        load_then_update(p, best.all(0), "atom.global.min.s32", minus_one);
        CHECK(p.races() == Lines{});
    }
    SECTION("unsigned, it is not smaller") {
        load_then_update(p, best.all(0), "atom.global.min.u32", minus_one);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("a larger number for a maximum") {
        load_then_update(p, best.all(0), "atom.global.max.u32", minus_one);
        CHECK(p.races() == Lines{});
    }
    SECTION("a bit that was not set") {
        load_then_update(p, best.all(0), "atom.global.or.b32", 4);
        CHECK(p.races() == Lines{});
    }
    SECTION("one that was") {
        load_then_update(p, best.all(0), "atom.global.or.b32", 0);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("beside a sum it is one all the same") {
        p.thread(1, 1).access(12, atomic_of("atom.global.add.u32"), best[0]);
        load_then_update(p, best.all(0), "atom.global.max.u32", 5);
        CHECK(p.races() == Lines{"12 after 10"});
    }
}

TEST_CASE("race-global: another thread's check does not make a load a guess", "[checks][race]") {
    Global p;
    const auto word = zero(p);
    p.launch(2, 32);
    p.thread(0, 0).load(10, word.all(0));
    const auto [block, lane] = GENERATE(table<uint32_t, uint32_t>({{1, 0}, {0, 1}}));
    CAPTURE(block, lane);
    p.thread(block, lane)
        .access(11, atomic_of("atom.global.cas.b32"), word.all(0), 4, [](uint32_t) { return 0; });
    CHECK(p.races().size() == 1);
}

TEST_CASE("race-global: a race with a guess waits for the end of the launch, no longer",
          "[checks][race]") {
    Global p;
    const auto word = zero(p);
    p.launch(2, 32);
    p.thread(0, 0).load(10, word.all(0));
    p.thread(1, 0).access(11, atomic_of("atom.global.add.u32"), word[0]);
    CHECK(p.report.errors() == 0);
    p.launch(1, 32);
    CHECK(p.report.errors() == 1);
}
