// SPDX-License-Identifier: MIT
// Races in shared memory: barriers, warp syncs, bytes, vectors, and who is named.
#include <random>
#include <set>

#include "catch.h"
#include "checks/race_shared.h"
#include "event_player.h"

using namespace player;

namespace {

struct Shared : Player {
    Shared() { watch(checks::make_race_shared(report, memory)); }
};

}  // namespace

TEST_CASE("race-shared: a missing barrier after the store is found", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(256);
    p.launch(1, 256);
    for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    SECTION("no barrier") {
        p.warp(0, 0).load(12, tile.from(128));
        REQUIRE(p.races() == Lines{"12 after 10"});
        const checks::Finding& f = p.report.findings()[0];
        CHECK(f.code == "race-shared");
        CHECK(f.count == 32);
        CHECK(f.message.find("[128]` is read while another thread may still be writing it") !=
              std::string::npos);
        CHECK(f.other_text == "thread (128,0,0) wrote it on line 10, and no barrier lies between");
        CHECK(f.place.thread->x == 0);
        CHECK(f.other->thread->x == 128);
    }
    SECTION("a barrier") {
        p.barrier(0);
        p.warp(0, 0).load(12, tile.from(128));
        CHECK(p.races().empty());
    }
    SECTION("a thread may read what it wrote itself") {
        for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).load(12, tile.from(32 * w));
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: a missing barrier before the next store is found", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    for (uint32_t w = 0; w < 2; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    p.barrier(0);
    const bool fixed = GENERATE(false, true);
    // Each warp goes on to the next round by itself, as it does without a second barrier.
    p.warp(0, 0).load(12, tile.from(32));
    if (fixed) {
        p.warp(0, 1).load(12, tile.from(0));
        p.barrier(0);
    }
    p.warp(0, 0).store(10, tile.from(0));
    if (!fixed) p.warp(0, 1).load(12, tile.from(0));
    CHECK(p.races() == (fixed ? Lines{} : Lines{"10 after 12"}));
}

TEST_CASE("race-shared: the store of the second warp after the load of the first",
          "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    p.warp(0, 1).store(8, tile.from(32));
    p.barrier(0);
    p.warp(0, 0).load(12, tile.from(32));
    if (GENERATE(true, false)) {
        p.warp(0, 1).store(14, tile.from(32));
        CHECK(p.races() == Lines{"14 after 12"});
    } else {
        p.barrier(0);
        p.warp(0, 1).store(14, tile.from(32));
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: the blame does not depend on who runs first", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    const bool first_runs_first = GENERATE(true, false);
    const auto warps = first_runs_first ? std::array{0u, 1u} : std::array{1u, 0u};
    SECTION("store, then load") {
        for (const uint32_t w : warps) {
            p.warp(0, w).store(10, tile.from(32 * w));
            p.warp(0, w).load(12, tile.from(32 - 32 * w));
        }
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("a loop with a barrier after the store and none after the load") {
        p.warp(0, 0).store(10, tile.from(0));
        p.warp(0, 1).store(10, tile.from(32));
        p.barrier(0);
        for (const uint32_t w : warps) {
            p.warp(0, w).load(12, tile.from(32 - 32 * w));
            p.warp(0, w).store(10, tile.from(32 * w));
        }
        CHECK(p.races() == Lines{"10 after 12"});
    }
    SECTION("each warp runs one of them only") {
        p.warp(0, 0).store(9, tile.from(0));
        p.barrier(0);
        if (first_runs_first) p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 1).store(10, tile.from(32));
        if (!first_runs_first) p.warp(0, 0).load(12, tile.from(32));
        CHECK(p.races() == Lines{"12 after 10"});  // who reads comes too early
    }
}

TEST_CASE("race-shared: every reader counts, whoever read last", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 128);
    // Threads 70 and 3 read; then 3 stores. The last reader is the storing thread itself.
    p.thread(0, 3).store(8, tile[0]);
    p.barrier(0);
    p.thread(0, 70).load(10, tile[0]);
    p.thread(0, 3).load(11, tile[0]);
    p.thread(0, 3).store(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: a reader before the barrier does not hide one after it", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 128);
    p.thread(0, 100).load(9, tile[0]);
    p.barrier(0);
    p.thread(0, 4).load(10, tile[0]);
    p.thread(0, 3).load(11, tile[0]);
    p.thread(0, 3).store(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: two readers of one warp do not hide one of another", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 64);
    p.thread(0, 0).load(10, tile[0]);
    p.thread(0, 1).load(11, tile[0]);
    p.thread(0, 40).load(12, tile[0]);
    p.warp(0, 0).sync();
    p.thread(0, 0).store(13, tile[0]);
    REQUIRE(p.races().size() == 1);
    CHECK(p.report.findings()[0].place.line == 12);
}

TEST_CASE("race-shared: one load by lanes that know and lanes that do not", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 32);
    p.thread(0, 5).store(10, tile[0]);
    p.warp(0, 0, 0x0000ff2f).sync();  // all of 0 to 15 but 4, 6 and 7
    p.warp(0, 0, 0xf).load(11, tile.all(0));
    CHECK(p.races().empty());
    p.warp(0, 0, 0x1f).load(12, tile.all(0));
    REQUIRE(p.races() == Lines{"12 after 10"});
    CHECK(p.report.findings()[0].count == 1);
}

TEST_CASE("race-shared: lanes of one warp need __syncwarp", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0).store(10, tile.from(0));
    SECTION("nothing") {
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        REQUIRE(p.races() == Lines{"12 after 10"});
        CHECK(p.report.findings()[0].count == 31);
        CHECK(p.report.findings()[0].other_text.find("__syncwarp") != std::string::npos);
    }
    SECTION("__syncwarp") {
        p.warp(0, 0).sync();
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("a shuffle names all lanes") {
        p.warp(0, 0).sync(machine::WarpSyncKind::kShuffle);
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("__syncthreads") {
        p.barrier(0);
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("only half of the warp syncs") {
        p.warp(0, 0, 0xffff).sync();
        p.thread(0, 3).load(12, tile[15]);
        CHECK(p.races().empty());
        p.thread(0, 3).load(13, tile[16]);
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("knowledge passes from sync to sync") {
        p.warp(0, 0, 0x0003).sync();
        p.warp(0, 0, 0x0006).sync();
        p.thread(0, 2).load(12, tile[0]);
        CHECK(p.races().empty());
        p.thread(0, 0).load(13, tile[2]);
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("a sync of the others is not enough") {
        p.warp(0, 0, 0xfffffffe).sync();
        p.thread(0, 0).load(12, tile[1]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
}

TEST_CASE("race-shared: a sync orders only what came before it", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0, 0xff).sync();
    p.thread(0, 1).store(10, tile[0]);
    p.warp(0, 0, 0xf0).sync();
    p.thread(0, 5).load(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: lanes that returned do not stand in the way of a sync", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0).store(10, tile.from(0));
    p.warp(0, 0, 0xffff0000).exit();
    SECTION("of a warp") {
        p.warp(0, 0, 0xffff).sync();
    }
    SECTION("of a block") {
        p.barrier(0);
    }
    p.thread(0, 0).load(12, tile[20]);
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: a named barrier orders its participants only", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(96);
    p.launch(1, 96);
    for (uint32_t w = 0; w < 3; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    SECTION("those who meet") {
        p.named_barrier(0, 1, {0, 1});
        p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 1).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 0).load(13, tile.from(64));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("who only arrives does not wait") {
        p.named_barrier(0, 1, {0}, {1});
        p.warp(0, 0).load(12, tile.from(32));
        CHECK(p.races().empty());
        p.warp(0, 1).load(13, tile.from(0));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("who only arrives does not wait, though the whole block is named") {
        p.named_barrier(0, 1, {0, 2}, {1});
        p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 2).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 1).load(13, tile.from(0));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("producer and consumer, twice") {
        for (int round = 0; round < 2; ++round) {
            p.warp(0, 0).store(20, tile.from(0));
            p.named_barrier(0, 1, {1}, {0});  // full
            p.warp(0, 1).load(21, tile.from(0));
            p.named_barrier(0, 2, {0}, {1});  // empty
        }
        CHECK(p.races().empty());
        p.warp(0, 1).load(22, tile.from(0));
        p.warp(0, 0).store(23, tile.from(0));
        CHECK(p.races() == Lines{"23 after 22"});
    }
    SECTION("all of the block, by another number") {
        p.named_barrier(0, 5, {0, 1, 2});
        p.warp(0, 0).load(12, tile.from(64));
        CHECK(p.races().empty());
    }
    SECTION("through a third") {
        p.named_barrier(0, 1, {0, 1});
        p.named_barrier(0, 2, {1, 2});
        p.warp(0, 2).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 0).load(13, tile.from(64));
        CHECK(p.races() == Lines{"13 after 10"});
    }
}

TEST_CASE("race-shared: atomics race with plain accesses, not with each other", "[checks][race]") {
    Shared p;
    const auto bins = p.shared(64);
    p.launch(1, 64);
    p.warp(0, 0).store(9, bins.from(0));
    p.warp(0, 1).store(9, bins.from(32));
    SECTION("cleared, counted, read, with barriers") {
        p.barrier(0);
        p.warp(0, 0).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.from(0));
        p.barrier(0);
        p.warp(0, 0).load(12, bins.from(0));
        p.barrier(0);
        p.warp(0, 1).store(9, bins.from(0));
        CHECK(p.races().empty());
    }
    SECTION("no barrier after clearing") {
        p.warp(0, 1).atomic(10, bins.all(3));
        REQUIRE(p.races() == Lines{"10 after 9"});
        CHECK(p.report.findings()[0].message.find("updated atomically while another thread may "
                                                  "still be writing it without an atomic") !=
              std::string::npos);
    }
    SECTION("no barrier before reading") {
        p.barrier(0);
        p.warp(0, 0).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.all(3));
        p.thread(0, 40).load(12, bins[3]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("the plain read comes first") {
        p.barrier(0);
        p.thread(0, 40).load(12, bins[3]);
        p.warp(0, 0).atomic(13, bins.all(3));
        CHECK(p.races() == Lines{"13 after 12"});
    }
}

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

TEST_CASE("race-shared: wide accesses touch all of their words", "[checks][race]") {
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

TEST_CASE("race-shared: a tree reduction", "[checks][race]") {
    const bool barrier_inside = GENERATE(true, false);
    Shared p;
    const auto tile = p.shared(256);
    p.launch(1, 256);
    for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    p.barrier(0);
    for (uint32_t half = 128; half; half /= 2) {
        for (uint32_t w = 0; w < (half + 31) / 32; ++w) {
            const uint32_t mask = half >= 32 ? machine::kAllLanes : (1u << half) - 1;
            p.warp(0, w, mask).load(13, tile.from(32 * w + half));
            p.warp(0, w, mask).load(14, tile.from(32 * w));
            p.warp(0, w, mask).store(15, tile.from(32 * w));
        }
        if (barrier_inside) p.barrier(0);
    }
    CHECK(p.races() == (barrier_inside ? Lines{} : Lines{"13 after 15"}));
}

TEST_CASE("race-shared: blocks that take turns do not meet", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(2, 32);
    p.warp(0, 0).store(10, tile.from(0));
    p.warp(1, 0).load(12, tile.from(1 - 1, 1));
    p.thread(1, 3).load(13, tile[5]);
    CHECK(p.races().empty());
    p.warp(0, 0).sync();
    p.thread(1, 3).store(14, tile[5]);
    p.thread(0, 3).load(15, tile[5]);
    CHECK(p.races() == Lines{"14 after 12"});  // within block 1
}

TEST_CASE("race-shared: a block does not inherit what an earlier one left", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    for (int launch = 0; launch < 3; ++launch) {
        p.launch(1, 64);
        p.warp(0, 0).store(10, tile.from(0));
        p.warp(0, 0, 1).load(11, tile.from(0));
        p.warp(0, 0, 2).atomic(12, tile.from(0));
    }
    p.end_launch();
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: nor what an earlier block of the launch left", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 64);
    for (int block = 0; block < 3; ++block) {
        p.warp(0, 0, 0xffff).store(10, tile.from(0));
        p.warp(0, 0, 0xffff).load(11, tile.from(0));
        p.warp(0, 0, 0xffff).atomic(12, tile.from(0));
        p.next_block(0);
    }
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: dynamic and static variables share a sector", "[checks][race]") {
    Shared p;
    const auto flag = p.shared(1), other = p.shared(3), tile = p.shared(32);
    p.launch(1, 64);
    p.thread(0, 0).store(10, flag[0]);
    p.thread(0, 33).store(11, other[0]);
    p.warp(0, 1).store(12, tile.from(0));
    CHECK(p.races().empty());
    p.thread(0, 33).load(13, flag[0]);
    CHECK(p.races() == Lines{"13 after 10"});
}

TEST_CASE("race-shared: a volatile flag and a fence between warps", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32), flag = p.shared(1);
    p.launch(1, 64);
    const bool fence = GENERATE(true, false);
    p.thread(0, 0).store(10, tile[0]);
    if (fence) p.thread(0, 0).fence(Scope::kCta);
    p.thread(0, 0).access(11, kVolatileStore, flag[0]);
    p.thread(0, 40).access(12, kVolatileLoad, flag[0]);
    p.thread(0, 40).load(13, tile[0]);
    CHECK(p.races() == (fence ? Lines{} : Lines{"13 after 10"}));
}

TEST_CASE("race-shared: an intra-warp spin lock in shared memory", "[checks][race]") {
    Shared p;
    const auto lock = p.shared(1), total = p.shared(1);
    p.launch(1, 32);
    const bool fence = GENERATE(true, false);
    for (uint32_t t = 0; t < 32; ++t) {
        p.thread(0, t).atomic(10, lock[0]);
        p.thread(0, t).load(11, total[0]);
        p.thread(0, t).store(12, total[0]);
        if (fence) p.thread(0, t).fence(Scope::kCta);
        p.thread(0, t).atomic(13, lock[0]);
    }
    CHECK(p.races().empty() == fence);
}

TEST_CASE("race-shared: random programs agree with a full vector clock", "[checks][race]") {
    // Whole barriers, whole-warp syncs and plain accesses by any lanes; the model keeps every
    // access and compares each pair, the checker must find a race in the same programs.
    const int seed = GENERATE(range(0, 60));
    std::mt19937 random(unsigned(seed) * 7919 + 1);
    const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
    Shared p;
    const uint32_t words = 1 + pick(12), warps = 1 + pick(3);
    const auto tile = p.shared(words);
    p.launch(1, warps * 32);
    struct Past {
        uint32_t word, thread, block_epoch, warp_epoch;
        bool write;
    };
    std::vector<Past> past;
    uint32_t block_epoch = 0;
    std::vector<uint32_t> warp_epoch(warps, 0);
    bool race = false;
    const bool calm = seed % 2;  // many syncs: programs without a race must occur, too
    for (int step = 0; step < 40 && !race; ++step) {
        const uint32_t what = pick(calm ? 4 : 10);
        if (what == 0) {
            p.barrier(0);
            ++block_epoch;
            for (uint32_t& e : warp_epoch) ++e;
        } else if (what == 1) {
            const uint32_t w = pick(warps);
            p.warp(0, w).sync();
            ++warp_epoch[w];
        } else {
            const uint32_t thread = pick(3) + 32 * pick(warps), word = pick(words);
            const bool write = pick(3) == 0;
            for (const Past& other : past) {
                if (other.word != word || !(write || other.write) || other.thread == thread)
                    continue;
                const bool same_warp = other.thread / 32 == thread / 32;
                race |= other.block_epoch == block_epoch &&
                        !(same_warp && other.warp_epoch < warp_epoch[thread / 32]);
            }
            past.push_back({word, thread, block_epoch, warp_epoch[thread / 32], write});
            if (write) {
                p.thread(0, thread).store(10 + uint32_t(step), tile[word]);
            } else {
                p.thread(0, thread).load(10 + uint32_t(step), tile[word]);
            }
        }
        REQUIRE(p.races().empty() == !race);
    }
}
