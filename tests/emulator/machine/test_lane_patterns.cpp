// SPDX-License-Identifier: MIT
// Accesses whose pattern of addresses recurs, and those that follow it with another one.
#include <functional>

#include "machine/program/lane_pattern.h"
#include "machine_lab.h"

using namespace machine_lab;

namespace {

// Byte offsets by lane, one row for each execution of the same load.
using Rows = std::vector<std::function<int(int lane)>>;

const Rows kShapes = {
    [](int) { return 64; },                                // all at one address
    [](int) { return 128; },                               // again, elsewhere
    [](int i) { return i / 16 * 256 + i % 16 * 4; },       // rows of a tile
    [](int i) { return i / 16 * 256 + i % 16 * 4 + 64; },  // the next ones
    [](int i) { return i / 16 * 64 + 8; },                 // a value for each row
    [](int i) { return i / 16 * 64 + 12; },
    [](int i) { return i / 8 * 100 + i % 8 * 4; },  // shorter rows
    [](int i) { return i / 8 * 100 + i % 8 * 4 + 20; },
    [](int i) { return 480 - i / 8 * 64; },  // backwards
    [](int i) { return 484 - i / 8 * 64; },
    [](int i) { return 400 - i * 4; },  // each alone, backwards
    [](int i) { return 300 - i * 4; },
    [](int i) { return i * 12; },
    [](int i) { return i * 12 + 4; },
    [](int i) { return i == 31 ? 0 : i * 12 + 4; },  // only the last lane differs
    [](int i) { return i * 4; },                     // side by side
    [](int i) { return i * 12 + 8; },
    [](int i) { return (i * 7 + 3) % 32 * 4; },
    [](int i) { return (i * 7 + 3) % 32 * 4 + 40; },
    [](int i) { return i % 16 * 4; },  // a row, read twice
    [](int i) { return i % 16 * 4 + 4; },
};

// Loads a word of `space` at each row's offsets from `array`, 512 bytes that hold 1000, 1001, ...
LaunchSummary load_rows(Lab& lab, const std::string& space, const Rows& rows) {
    for (size_t k = 0; k < rows.size(); ++k)
        for (int i = 0; i < 32; ++i) lab.give<int32_t>(k * 32 + i, rows[k](i));
    const std::string count = std::to_string(rows.size());
    return lab.run(".shared .align 16 .b8 s[512];\n.reg .b32 %at;\n"
                   "mov.u32 %at, s;\nmad.lo.u32 %r20, %lane, 16, %at;\nmul.lo.u32 %r21, %lane, 4;\n"
                   "add.u32 %r21, %r21, 1000;\nadd.u32 %r22, %r21, 1;\nadd.u32 %r23, %r21, 2;\n"
                   "add.u32 %r24, %r21, 3;\nst.shared.v4.u32 [%r20], {%r21, %r22, %r23, %r24};\n"
                   "add.u64 %rd20, %out, 32768;\nmad.wide.u32 %rd21, %lane, 16, %rd20;\n"
                   "st.global.v4.u32 [%rd21], {%r21, %r22, %r23, %r24};\n"
                   "mov.u32 %r1, 0;\n"
                   "LOOP:\nmad.lo.u32 %r2, %r1, 32, %lane;\nmad.wide.u32 %rd1, %r2, 4, %in;\n"
                   "ld.global.s32 %r3, [%rd1];\n" +
                   (space == "shared"
                        ? std::string("add.u32 %r4, %at, %r3;\nld.shared.u32 %r5, [%r4];\n")
                        : std::string("cvt.s64.s32 %rd2, %r3;\nadd.s64 %rd3, %rd20, %rd2;\n"
                                      "ld.global.u32 %r5, [%rd3];\n")) +
                   "mad.wide.u32 %rd4, %r2, 4, %out;\nst.global.u32 [%rd4], %r5;\n"
                   "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, " +
                   count + ";\n@%p1 bra LOOP;");
}

// The events of the load in the loop: those that follow the one that loads its offset.
std::vector<SeenAccess> loads(const Lab& lab) {
    std::vector<SeenAccess> found;
    for (size_t k = 1; k < lab.seen.accesses.size(); ++k)
        if (lab.seen.accesses[k - 1].opcode == "ld.global.s32")
            found.push_back(lab.seen.accesses[k]);
    return found;
}

}  // namespace

TEST_CASE("patterns: each lane loads its own word, whatever came before",
          "[machine][lane_patterns]") {
    for (const bool observed : {true, false})
        for (const std::string space : {"shared", "global"}) {
            Lab lab(observed ? uint32_t(kAllEvents) : 0);
            CHECK(load_rows(lab, space, kShapes).status == LaunchStatus::kOk);
            const std::vector<SeenAccess> seen = loads(lab);
            if (observed) REQUIRE(seen.size() == kShapes.size());
            for (size_t k = 0; k < kShapes.size(); ++k)
                for (int i = 0; i < 32; ++i) {
                    CAPTURE(observed, space, k, i);
                    REQUIRE(lab.got(k * 32 + size_t(i)) == uint32_t(1000 + kShapes[k](i) / 4));
                    if (!observed) continue;
                    REQUIRE(seen[k].address[size_t(i)] - seen[k].address[0] ==
                            uint64_t(kShapes[k](i) - kShapes[k](0)));
                    REQUIRE(seen[k].bad == 0);
                }
        }
}

TEST_CASE("patterns: a recurring one leaves its array at either end", "[machine][lane_patterns]") {
    const Rows rows = {
        [](int i) { return 256 + (i % 2 ? i : -i) * 4; },
        [](int i) { return 400 + (i % 2 ? i : -i) * 4; },  // lanes 29 and 31 are beyond the end
        [](int i) { return 100 + (i % 2 ? i : -i) * 4; },  // lanes 26, 28 and 30 before the start
        [](int i) { return 256 + (i % 2 ? i : -i) * 4; },
    };
    Lab lab;
    load_rows(lab, "shared", rows);
    const std::vector<SeenAccess> seen = loads(lab);
    REQUIRE(seen.size() == rows.size());
    CHECK(seen[0].bad == 0);
    CHECK(seen[1].bad == 0xa0000000u);
    CHECK(seen[2].bad == 0x54000000u);
    CHECK(seen[3].bad == 0);
    CHECK(lab.got(32 + 27) == 1000 + 100 + 27);
    CHECK(lab.got(32 + 29) == 0xffffffffu);
}

TEST_CASE("patterns: a recurring one is misaligned in some lanes", "[machine][lane_patterns]") {
    const Rows rows = {[](int i) { return i * 6; },
                       [](int i) { return i * 6 + 12; },
                       [](int i) { return i * 12; },
                       [](int i) { return i * 12 + 2; }};
    for (const std::string space : {"shared", "global"}) {
        Lab lab;
        CHECK(load_rows(lab, space, rows).status == LaunchStatus::kMisaligned);
        const std::vector<SeenAccess> seen = loads(lab);
        REQUIRE(seen.size() == rows.size());
        CHECK(seen[0].misaligned == 0xaaaaaaaa);
        CHECK(seen[1].misaligned == 0xaaaaaaaa);
        CHECK(seen[2].misaligned == 0);
        CHECK(seen[3].misaligned == kAllLanes);
    }
}

TEST_CASE("patterns: distances beyond 32 bits are not learned", "[machine][lane_patterns]") {
    // Lanes 0 to 30 load from `in`, lane 31 4 GiB and some bytes after the others.
    Lab lab;
    lab.run("mad.wide.u32 %rd1, %lane, 8, %in;\nsetp.eq.u32 %p1, %lane, 31;\n"
            "add.u64 %rd2, %rd1, 4294967296;\nselp.b64 %rd3, %rd2, %rd1, %p1;\n"
            "ld.global.u32 %r1, [%rd3];\nst.global.u32 [%mine], %r1;");
    CHECK(lab.seen.accesses[0].bad == 0x80000000u);
    CHECK(lab.words() == each([](uint32_t i) { return i == 31 ? 0xffffffffu : 0u; }));
}

TEST_CASE("patterns: what is learned about one", "[machine][lane_patterns]") {
    LanePattern p;
    const auto learn = [&](const std::function<int(int)>& distance) {
        for (int i = 0; i < 32; ++i) p.distance[i] = distance(i);
        p.learn(4);
    };
    learn([](int i) { return i / 16 * -100 + i % 16 * 4; });
    const uint64_t first = p.serial;
    CHECK(p.least == -100);
    CHECK(p.greatest == 60);
    CHECK(p.group == 16);
    CHECK_FALSE(p.same);
    learn([](int i) { return i / 8 * 64; });
    CHECK(p.serial != first);
    CHECK(p.group == 8);
    CHECK(p.same);
    learn([](int i) { return i * i; });
    CHECK(p.group == 0);
    CHECK(p.bits % 4 == 1);
}

TEST_CASE("patterns: an instruction whose addresses never recur stops learning",
          "[machine][lane_patterns]") {
    LanePattern p;
    int learned = 0;
    for (int k = 0; k < 64 * 10; ++k) learned += p.wants_another();
    CHECK(learned == LanePattern::kPatience + 9);
    p.missed = 0;  // one has recurred
    CHECK(p.wants_another());
}
