// SPDX-License-Identifier: MIT
// Reads of shared memory that nothing has written, what belongs to races instead, values that are
// followed to their use, and the cost of it all.
#include <chrono>
#include <random>

#include "uninitialized_bench.h"

using namespace uninitialized_bench;

TEST_CASE("uninitialized-shared: a read before the write", "[checks][uninitialized]") {
    SharedBench bench;
    bench.touch(bench.load, AccessKind::kLoad);
    CHECK(bench.only().code == "uninitialized-shared");
    CHECK(bench.only().message ==
          "`tile[0]` is read, but no thread of its block has ever written it");
}

TEST_CASE("uninitialized-shared: a read after the write, by another warp",
          "[checks][uninitialized]") {
    SharedBench bench;
    bench.touch(bench.store, AccessKind::kStore);
    bench.enter_warp(1);
    bench.touch(bench.load, AccessKind::kLoad);
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-shared: each block begins anew, also when blocks alternate",
          "[checks][uninitialized]") {
    SharedBench bench;
    bench.touch(bench.store, AccessKind::kStore);
    SECTION("one after the other") {
        bench.checker.on_block_end(bench.block);
    }
    SECTION("both alive") {}
    bench.enter_block(1);
    bench.touch(bench.load, AccessKind::kLoad);
    CHECK(bench.only().count == 32);
    CHECK(bench.only().place.block == machine::Dim3{1, 0, 0});
}

TEST_CASE("uninitialized-shared: two variables do not cover for each other",
          "[checks][uninitialized]") {
    SharedBench bench;
    const auto other = bench.shared_array("other", 1024);
    bench.touch(bench.store, AccessKind::kStore);
    bench.checker.on_access(
        bench.access(bench.load, Space::kShared, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return other.address + 4 * lane;
        }));
    CHECK(bench.found() == 1);
}

TEST_CASE("uninitialized-shared: a missing barrier is a race, not this",
          "[checks][uninitialized]") {
    SharedBench bench;
    bench.touch(bench.load, AccessKind::kLoad, 512);  // warp 0 reads what warp 4 writes
    SECTION("the writer comes without a barrier") {
        bench.enter_warp(4);
        bench.touch(bench.store, AccessKind::kStore, 512);
        CHECK(bench.found() == 0);
    }
    SECTION("the writer comes after a barrier") {
        bench.barrier();
        CHECK(bench.report.findings().size() == 1);  // as soon as that is clear
        bench.enter_warp(4);
        bench.touch(bench.store, AccessKind::kStore, 512);
        CHECK(bench.only().count == 32);
    }
    SECTION("the writer is another block") {
        bench.enter_block(1);
        bench.touch(bench.store, AccessKind::kStore, 512);
        bench.enter_block(0);
        bench.checker.on_block_end(bench.block);
        CHECK(bench.only().count == 32);
    }
    SECTION("half of it is written") {
        bench.enter_warp(4);
        bench.touch(bench.store, AccessKind::kStore, 512, 0x0000ffff);
        CHECK(bench.only().count == 16);
    }
    SECTION("every thread writes what it read") {
        bench.touch(bench.store, AccessKind::kStore, 512);
        CHECK(bench.only().count == 32);
    }
    SECTION("another lane of the warp writes it") {
        bench.checker.on_access(
            bench.access(bench.store, Space::kShared, AccessKind::kStore, 4, [&](uint32_t lane) {
                return bench.tile->address + 512 + 4 * (31 - lane);
            }));
        CHECK(bench.found() == 0);
    }
    SECTION("another lane of the warp writes it after __syncwarp") {
        bench.warp_sync();
        bench.checker.on_access(
            bench.access(bench.store, Space::kShared, AccessKind::kStore, 4, [&](uint32_t lane) {
                return bench.tile->address + 512 + 4 * (31 - lane);
            }));
        CHECK(bench.only().count == 32);
    }
}

TEST_CASE("uninitialized-global: an unordered write by another block is a race, not this",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(1024);
    bench.touch(bench.load, AccessKind::kLoad, data);
    SECTION("another block, also after a barrier of the first") {
        bench.barrier();
        bench.enter_block(3);
        bench.touch(bench.store, AccessKind::kStore, data);
        CHECK(bench.found() == 0);
    }
    SECTION("the same block after a barrier") {
        bench.barrier();
        bench.enter_warp(2);
        bench.touch(bench.store, AccessKind::kStore, data);
        CHECK(bench.found() == 1);
    }
    SECTION("the same block without a barrier") {
        bench.enter_warp(2);
        bench.touch(bench.store, AccessKind::kStore, data);
        CHECK(bench.found() == 0);
    }
    SECTION("the next launch") {
        bench.end();
        bench.enter_block(3, 2);
        bench.touch(bench.store, AccessKind::kStore, data);
        CHECK(bench.found() == 1);
    }
    SECTION("an atomic of another block") {
        bench.enter_block(3);
        bench.touch(bench.atomic, AccessKind::kAtomic, data);
        CHECK(bench.found() == 1);
    }
}

TEST_CASE("uninitialized: cost of an access", "[.][benchmark]") {
    GlobalBench bench;
    const auto& data = bench.array(1 << 20);
    bench.host_write(data, 4, (1 << 20) - 4);
    std::mt19937 random(1);
    std::vector<uint64_t> scattered(32);
    for (auto& at : scattered) at = data.address + 4 + random() % (1 << 17) * 4;
    const auto time = [&](const char* name, machine::AccessEvent event) {
        constexpr int kRounds = 2000000;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < kRounds; ++i) bench.checker.on_access(event);
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - begin;
        WARN(name << ": " << spent.count() / kRounds << " ns");
    };
    const auto contiguous = [&](uint32_t lane) { return data.address + 64 + 4 * lane; };
    const auto random_lane = [&](uint32_t lane) { return scattered[lane]; };
    time("load, contiguous",
         bench.access(bench.load, Space::kGlobal, AccessKind::kLoad, 4, contiguous));
    time("store, contiguous",
         bench.access(bench.store, Space::kGlobal, AccessKind::kStore, 4, contiguous));
    time("load, scattered",
         bench.access(bench.load, Space::kGlobal, AccessKind::kLoad, 4, random_lane));
    time("store, scattered",
         bench.access(bench.store, Space::kGlobal, AccessKind::kStore, 4, random_lane));
    time("atomic, scattered",
         bench.access(bench.atomic, Space::kGlobal, AccessKind::kAtomic, 4, random_lane));
}

TEST_CASE("uninitialized-global: a read counts once its value is used", "[checks][uninitialized]") {
    FollowedBench bench;
    const auto& data = bench.array(1024);
    const auto found = bench.read(data);
    CHECK(found.lanes == machine::kAllLanes);
    const bool settled = GENERATE(false, true);
    if (settled) bench.checker.on_block_barrier({&bench.block, 0, 0, true, {}, {}, {}});
    const uint32_t used = GENERATE(0u, 0x0fu);
    if (used) bench.use(found, used);
    bench.end();
    if (!used) {
        CHECK(bench.found() == 0);
        return;
    }
    CHECK(bench.only().count == 4);
    CHECK(bench.only().place.line == 10);
}

TEST_CASE("uninitialized-global: what is not used can still be read again",
          "[checks][uninitialized]") {
    FollowedBench bench;
    const auto& data = bench.array(1024);
    bench.read(data);
    const auto again = bench.read(data);
    CHECK(again.lanes == machine::kAllLanes);
    bench.use(again, 1);
    bench.end();
    CHECK(bench.only().count == 1);
    CHECK(bench.read(data).lanes == ~1u);  // reported once
}

TEST_CASE("uninitialized-global: a use by lanes that got the value from others",
          "[checks][uninitialized]") {
    FollowedBench bench;
    const auto& data = bench.array(64);  // 16 lanes are out of bounds
    const auto found = bench.read(data);
    CHECK(found.lanes == 0xffff);
    bench.use(found, 0x80000000);
    bench.end();
    CHECK(bench.only().count == 16);
}

TEST_CASE("uninitialized-global: a store of undefined values leaves the memory unwritten",
          "[checks][uninitialized]") {
    FollowedBench bench;
    const auto& data = bench.array(1024);
    bench.host_write(data, 0, 512);
    bench.write(data, 0xff, 7);
    const auto found = bench.read(data);
    CHECK(found.lanes == 0xff);
    CHECK(found.origin == 7);
    CHECK(found.by == nullptr);
    bench.end();
    CHECK(bench.found() == 0);            // it is the origin's to report
    CHECK(bench.read(data).origin == 0);  // which the end of the launch has forgotten
}
