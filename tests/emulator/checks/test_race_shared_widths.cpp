// SPDX-License-Identifier: MIT
// Races in shared memory: bytes, vectors, members of structs, and rows that begin anywhere.
#include "race_players.h"

using namespace player;

TEST_CASE("race-shared: lanes of one store to one place", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    SECTION("of different values") {
        p.warp(0, 0).store(10, tile.all(0));
        REQUIRE(p.races() == Lines{"10 after 10"});
        CHECK(p.report.findings()[0].message.find(
                  "several threads at once, with different values") != std::string::npos);
    }
    SECTION("of one value") {
        p.warp(0, 0).store_value(10, tile.all(0), 1);
        CHECK(p.races().empty());
        p.thread(0, 5).load(12, tile[0]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("of one value, read by one of them") {
        p.warp(0, 0, 3).store_value(10, tile.all(0), 1);
        p.thread(0, 0).load(12, tile[0]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("of one value, then in order") {
        p.warp(0, 0).store_value(10, tile.all(0), 1);
        p.warp(0, 0).sync();
        p.thread(0, 5).load(12, tile[0]);
        CHECK(p.races().empty());
    }
    SECTION("of different values to neighbouring bytes") {
        p.warp(0, 0).store(
            10, [&](uint32_t lane) { return tile[0] + lane; }, 1);
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: neighbouring bytes are neighbours, not one word", "[checks][race]") {
    Shared p;
    const auto text = p.shared(256, 1);
    p.launch(1, 64);
    const bool half = GENERATE(false, true);
    const uint32_t width = half ? 2 : 1;
    // Even elements by warp 0, odd ones by warp 1.
    const auto even = [&](uint32_t lane) { return text[2 * lane * width]; };
    const auto odd = [&](uint32_t lane) { return text[(2 * lane + 1) * width]; };
    p.warp(0, 0).store(10, even, width);
    p.warp(0, 1).store(11, odd, width);
    p.warp(0, 0).load(12, even, width);
    p.warp(0, 1).load(13, odd, width);
    CHECK(p.races().empty());
    SECTION("a word over them") {
        p.thread(0, 0).load(14, text[0], 4);
        // Of the bytes, one more is thread 1's.
        CHECK(p.races() == (half ? Lines{"14 after 11"} : Lines{"14 after 11", "14 after 10"}));
    }
    SECTION("the wrong byte") {
        p.thread(0, 0).load(14, odd(0), width);
        CHECK(p.races() == Lines{"14 after 11"});
    }
    SECTION("after a barrier all is fine") {
        p.barrier(0);
        p.thread(0, 0).load(14, text[0], 4);
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: bytes of whole warps in order, then one byte of another",
          "[checks][race]") {
    Shared p;
    const auto text = p.shared(64, 1);
    p.launch(1, 64);
    p.warp(0, 0).store(10, text.from(0), 1);
    p.warp(0, 1).store(10, text.from(32), 1);
    p.thread(0, 7).load(11, text[7], 1);
    CHECK(p.races().empty());
    p.thread(0, 6).load(12, text[7], 1);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: wide accesses cover all of their words", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(256);
    p.launch(1, 64);
    const uint32_t bytes = GENERATE(8u, 16u);
    const uint32_t words = bytes / 4;
    CAPTURE(bytes);
    p.warp(0, 0).store(10, tile.from(0, words), bytes);
    p.thread(0, 2).load(11, tile[2 * words + words - 1]);
    CHECK(p.races().empty());
    p.thread(0, 3).load(12, tile[2 * words + words - 1]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: members of structs", "[checks][race]") {
    // Structs of four elements of `size` bytes; each warp uses one member of all of them.
    const uint32_t size = GENERATE(1u, 4u);
    CAPTURE(size);
    Shared p;
    const auto x = p.shared(32 * 4, size);
    p.launch(1, 128);
    for (uint32_t w = 0; w < 4; ++w) p.warp(0, w).store(10 + w, x.from(w, 4), size);
    for (uint32_t w = 0; w < 4; ++w) p.warp(0, w).load(20 + w, x.from(w, 4), size);
    CHECK(p.races().empty());
    SECTION("another's member") {
        p.warp(0, 1).load(31, x.from(2, 4), size);
        REQUIRE(p.races() == Lines{"31 after 12"});
        CHECK(p.report.findings()[0].count == 32);
    }
    SECTION("whole structs") {
        p.thread(0, 5).load(32, x[4 * 5], 4 * size);
        CHECK(p.races() == Lines{"32 after 11", "32 after 12", "32 after 13"});
    }
    SECTION("stored over readers") {
        p.warp(0, 2).load(33, x.from(3, 4), size);  // races with line 13
        p.warp(0, 3).store(34, x.from(3, 4), size);
        CHECK(p.races() == Lines{"33 after 13", "34 after 33"});
    }
    SECTION("in order after a barrier") {
        p.barrier(0);
        p.warp(0, 1).load(35, x.from(0, 4), 4 * size);
        p.warp(0, 1).store(36, x.from(0, 4), 4 * size);
        p.barrier(0);
        for (uint32_t w = 0; w < 4; ++w) p.warp(0, w).store(10 + w, x.from(w, 4), size);
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: readers of three members, then a store to the first", "[checks][race]") {
    Shared p;
    const auto x = p.shared(32 * 4);
    p.launch(1, 128);
    p.thread(0, 127).store(9, x[0]);
    p.barrier(0);
    for (uint32_t w = 0; w < 3; ++w) p.warp(0, w).load(10 + w, x.from(w, 4));
    const uint32_t member = GENERATE(0u, 1u, 2u);
    p.warp(0, 3).store(20, x.from(member, 4));
    REQUIRE(p.races().size() == 1);
    CHECK(p.report.findings()[0].count == 32);
}

TEST_CASE("race-shared: one warp, four bytes a lane and then eight", "[checks][race]") {
    Shared p;
    const auto x = p.shared(64);
    p.launch(1, 32);
    p.warp(0, 0).store(10, x.from(0));
    p.warp(0, 0).load(11, x.from(0, 2), 8);
    REQUIRE(p.races() == Lines{"11 after 10"});
    CHECK(p.report.findings()[0].count == 31);  // all but lane 0's own first word
}

TEST_CASE("race-shared: one byte of each word, then the word", "[checks][race]") {
    Shared p;
    const auto x = p.shared(32);
    p.launch(1, 64);
    const auto top_byte = [&](uint32_t lane) { return x[lane] + 3; };
    const bool all_lanes = GENERATE(true, false);
    const uint32_t lanes = all_lanes ? machine::kAllLanes : 0xffff;
    p.warp(0, 0, lanes).load(10, top_byte, 1);
    SECTION("stored by others as a word") {
        p.warp(0, 1).store(11, x.from(0));
        REQUIRE(p.races().size() == 1);
        CHECK(p.report.findings()[0].count == (all_lanes ? 32 : 16));
    }
    SECTION("other bytes stored by others") {
        p.warp(0, 1).store(
            11, [&](uint32_t lane) { return x[lane]; }, 1);
        p.warp(0, 1).store(
            12, [&](uint32_t lane) { return x[lane] + 1; }, 1);
        CHECK(p.races().empty());
    }
    SECTION("stored by a byte") {
        p.thread(0, 40).store(
            11, [&](uint32_t) { return x[8] + 3; }, 1);
        CHECK(p.races().size() == 1);
    }
    SECTION("counted atomically by others") {
        p.warp(0, 1).atomic(11, x.from(0));
        CHECK(p.races().size() == 1);
    }
}

TEST_CASE("race-shared: random accesses of random width agree with a model of bytes",
          "[checks][race]") {
    const int seed = GENERATE(range(0, 150));
    std::mt19937 random(unsigned(seed) * 104729 + 3);
    const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
    Shared p;
    const auto memory = p.shared(1024 + 64, 1);
    p.launch(1, 96);
    struct Last {
        int writer = -1;
        std::set<int> readers;
    };  // threads, since the last barrier
    std::vector<Last> last(1024 + 64);
    for (int step = 0; step < 30 && p.races().empty(); ++step) {
        if (pick(4) == 0) {
            p.barrier(0);
            for (Last& l : last) l = {};
            continue;
        }
        const uint32_t warp = pick(3), bytes = 1u << pick(5);
        // Mostly one lane after another, or each in its own struct; sometimes anywhere.
        const uint32_t stride = pick(5) == 0 ? 0 : bytes << pick(4);
        const uint32_t first = pick(2) * bytes + (pick(3) == 0 ? 16 : 0);
        const uint32_t mask = pick(3) ? machine::kAllLanes : uint32_t(random()) | 1;
        const bool write = pick(2) == 0;
        uint32_t at[32];
        bool race = false;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            at[lane] = stride ? first + lane * stride : pick(1024 / bytes) * bytes;
            at[lane] = std::min(at[lane], 1024 + 64 - bytes) / bytes * bytes;
        }
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            const int thread = int(warp * 32 + lane);
            for (uint32_t b = at[lane]; b < at[lane] + bytes; ++b) {
                Last& l = last[b];
                race |= l.writer >= 0 && l.writer != thread;
                if (!write) {
                    l.readers.insert(thread);
                    continue;
                }
                for (const int reader : l.readers) race |= reader != thread;
                l.writer = thread;
            }
        }
        const auto address = [&](uint32_t lane) { return memory.address + at[lane]; };
        CAPTURE(step, warp, bytes, stride, first, mask, write);
        if (write) {
            p.warp(0, warp, mask).store(10, address, bytes);
        } else {
            p.warp(0, warp, mask).load(10, address, bytes);
        }
        REQUIRE(p.races().empty() == !race);
    }
}

TEST_CASE("race-shared: rows that begin anywhere", "[checks][race]") {
    // A tile of pitch 33: rows of whole warps that begin at any word.
    Shared p;
    const auto tile = p.shared(33 * 32);
    p.launch(1, 1024);
    for (uint32_t y = 0; y < 32; ++y) p.warp(0, y).store(10, tile.from(33 * y));
    SECTION("transposed after a barrier") {
        p.barrier(0);
        for (uint32_t y = 0; y < 32; ++y) p.warp(0, y).load(12, tile.from(y, 33));
        p.barrier(0);
        for (uint32_t y = 0; y < 32; ++y) p.warp(0, y).store(10, tile.from(33 * y));
        CHECK(p.races().empty());
    }
    SECTION("transposed without") {
        for (uint32_t y = 0; y < 32; ++y) p.warp(0, y).load(12, tile.from(y, 33));
        REQUIRE(p.races() == Lines{"12 after 10"});
        CHECK(p.report.findings()[0].count == 32 * 32 - 32);  // all but the diagonal
    }
    SECTION("the next round without") {
        p.barrier(0);
        for (uint32_t y = 0; y < 32; ++y) p.warp(0, y).load(12, tile.from(y, 33));
        p.warp(0, 3).store(14, tile.from(33 * 3));
        REQUIRE(p.races() == Lines{"14 after 12"});
        CHECK(p.report.findings()[0].count == 31);
    }
}
