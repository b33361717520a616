// SPDX-License-Identifier: MIT
// Reads of memory that nothing has written, and what counts as writing.
#include <chrono>
#include <cstring>
#include <random>

#include "bench.h"
#include "checks/uninitialized.h"

using bench::Bench;
using machine::AccessKind;
using machine::HostAccess;
using machine::MemoryKind;
using ptx::Space;

namespace {

struct GlobalBench : Bench {
    GlobalBench() : checker(report, memory) {
        load = site(10);
        store = site(11, "st.global.f32");
        atomic = site(12, "atom.global.add.u32");
    }
    machine::Allocation& array(uint64_t bytes, MemoryKind kind = MemoryKind::kDevice) {
        auto& allocation = *memory.allocate(kind, bytes, 0, 14);
        checker.on_alloc(allocation);
        return allocation;
    }
    void touch(machine::SiteId site, AccessKind kind, const machine::Allocation& at,
               int64_t first = 0, uint32_t mask = machine::kAllLanes, uint32_t bytes = 4,
               int64_t stride = 0) {
        checker.on_access(access(
            site,
            Space::kGlobal,
            kind,
            bytes,
            [&](uint32_t lane) {
                return at.address + uint64_t(first + lane * (stride ? stride : int64_t(bytes)));
            },
            mask,
            4));
    }
    void host_write(const machine::Allocation& at, uint64_t start, uint64_t bytes) {
        HostAccess event{};
        event.kind = HostAccess::Kind::kWrite;
        event.allocation = &at;
        event.address = at.address + start;
        event.bytes = bytes;
        checker.on_host_access(event);
    }
    void copy(const machine::Allocation& to, uint64_t start, const machine::Allocation& from,
              uint64_t from_start, uint64_t bytes) {
        HostAccess event{};
        event.kind = HostAccess::Kind::kCopy;
        event.allocation = &to;
        event.address = to.address + start;
        event.bytes = bytes;
        event.source = &from;
        event.source_address = from.address + from_start;
        checker.on_host_access(event);
    }
    void barrier() {
        machine::BarrierEvent event{};
        event.block = &block;
        event.aligned = true;
        checker.on_block_barrier(event);
    }
    void warp_sync() {
        machine::WarpSyncEvent event{};
        event.warp = &warp;
        event.arrived = event.named = machine::kAllLanes;
        checker.on_warp_sync(event);
    }
    // Findings wait for the end of the launch.
    const checks::Finding& only() {
        end();
        return Bench::only();
    }
    size_t found() {
        end();
        return report.findings().size();
    }
    void end() { checker.on_launch_end(launch, {}); }
    checks::UninitializedGlobal checker;
    machine::SiteId load, store, atomic;
};

struct SharedBench : Bench {
    SharedBench() : checker(report) {
        tile = &shared_array("tile", 1024);
        load = site(10, "ld.shared.f32");
        store = site(11, "st.shared.f32");
    }
    void touch(machine::SiteId site, AccessKind kind, int64_t first = 0,
               uint32_t mask = machine::kAllLanes) {
        checker.on_access(access(
            site,
            Space::kShared,
            kind,
            4,
            [&](uint32_t lane) { return tile->address + uint64_t(first) + 4 * lane; },
            mask));
    }
    void barrier(uint32_t expected = 0) {
        machine::BarrierEvent event{};
        event.block = &block;
        event.expected = expected;
        checker.on_block_barrier(event);
    }
    void warp_sync() {
        machine::WarpSyncEvent event{};
        event.warp = &warp;
        event.arrived = event.named = machine::kAllLanes;
        checker.on_warp_sync(event);
    }
    const checks::Finding& only() {
        checker.on_launch_end(launch, {});
        return Bench::only();
    }
    size_t found() {
        checker.on_launch_end(launch, {});
        return report.findings().size();
    }
    checks::UninitializedShared checker;
    machine::SharedVariable* tile;
    machine::SiteId load, store;
};

}  // namespace

TEST_CASE("uninitialized-global: reading fresh memory is reported once",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(4096);
    bench.touch(bench.load, AccessKind::kLoad, data);
    bench.touch(bench.load, AccessKind::kLoad, data);
    CHECK(bench.only().code == "uninitialized-global");
    CHECK(bench.only().count == 32);
    CHECK(bench.only().message.find("element 0 of") == 0);
    CHECK(bench.only().message.find("is read, but nothing has ever written it") !=
          std::string::npos);
}

TEST_CASE("uninitialized-global: what was written can be read", "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(4096);
    SECTION("by a store of the whole warp") {
        bench.touch(bench.store, AccessKind::kStore, data);
    }
    SECTION("by scattered stores") {
        for (int lane = 31; lane >= 0; --lane)
            bench.touch(bench.store, AccessKind::kStore, data, 0, 1u << lane);
    }
    SECTION("by memset") {
        bench.host_write(data, 0, 4096);
    }
    SECTION("by a copy of just these bytes") {
        bench.host_write(data, 0, 128);
    }
    bench.touch(bench.load, AccessKind::kLoad, data);
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-global: the element behind the written ones is not written",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(4096);
    bench.host_write(data, 0, 400);  // 100 of the elements
    bench.touch(bench.load, AccessKind::kLoad, data, 0);
    bench.touch(bench.load, AccessKind::kLoad, data, 4 * 70);
    CHECK(bench.only().count == 2);
    CHECK(bench.only().place.thread == machine::Dim3{30, 0, 0});
}

TEST_CASE("uninitialized-global: a partial warp is looked at lane by lane",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(4096);
    bench.touch(bench.store, AccessKind::kStore, data, 0, 0x0000ffff);
    bench.touch(bench.load, AccessKind::kLoad, data, 0, 0x0000ffff);
    CHECK(bench.found() == 0);
    bench.touch(bench.load, AccessKind::kLoad, data, 0, 0x0003ffff);
    CHECK(bench.only().count == 2);
}

TEST_CASE("uninitialized-global: an atomic on memory that nobody cleared",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& bins = bench.array(256);
    bench.touch(bench.atomic, AccessKind::kAtomic, bins, 0, machine::kAllLanes, 4, -0 + 4);
    CHECK(bench.only().message.find("is updated, but nothing has ever written it") !=
          std::string::npos);
    bench.touch(bench.load, AccessKind::kLoad, bins);  // the atomic wrote it
    CHECK(bench.found() == 1);
}

TEST_CASE("uninitialized-global: an exchange does not use the old value",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(256);
    bench.touch(bench.site(13, "atom.global.exch.b32"), AccessKind::kAtomic, data);
    bench.touch(bench.load, AccessKind::kLoad, data);
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-global: lanes that read the same byte all count",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(256);
    bench.checker.on_access(
        bench.access(bench.load, Space::kGlobal, AccessKind::kLoad, 4, [&](uint32_t) {
            return data.address + 8;
        }));
    CHECK(bench.only().count == 32);
}

TEST_CASE("uninitialized-global: padding and unused vector lanes stay silent",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(4096);
    // Each thread writes 12 of 16 bytes, and then the struct is copied as one float4.
    for (const int member : {0, 4, 8}) {
        bench.touch(bench.store, AccessKind::kStore, data, member, machine::kAllLanes, 4, 16);
    }
    bench.touch(bench.load, AccessKind::kLoad, data, 0, machine::kAllLanes, 16);
    CHECK(bench.found() == 0);
    bench.touch(bench.load, AccessKind::kLoad, data, 512, machine::kAllLanes, 16);
    CHECK(bench.only().count == 32);
}

TEST_CASE("uninitialized-global: a copy between arrays carries what was written",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& from = bench.array(1024);
    const auto& to = bench.array(1024);
    bench.host_write(from, 0, 512);
    bench.host_write(to, 0, 1024);
    bench.copy(to, 0, from, 0, 1024);
    bench.touch(bench.load, AccessKind::kLoad, to, 384);
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-global: a copy of unwritten memory leaves unwritten memory",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& from = bench.array(1024);
    const auto& to = bench.array(1024);
    bench.host_write(from, 0, 512);
    bench.host_write(to, 0, GENERATE(512, 1024));  // in part, or all of it
    bench.copy(to, 0, from, 512, 256);
    bench.touch(bench.load, AccessKind::kLoad, to, 256);
    CHECK(bench.found() == 0);
    bench.touch(bench.load, AccessKind::kLoad, to, 0);
    CHECK(bench.only().count == 32);
}

namespace {

void copy_back(GlobalBench& bench, const machine::Allocation& data, uint64_t start, uint64_t bytes,
               const char* api = "cudaMemcpy") {
    HostAccess event{};
    event.kind = HostAccess::Kind::kRead;
    event.api = api;
    event.allocation = &data;
    event.address = data.address + start;
    event.bytes = bytes;
    event.site = 30;
    bench.checker.on_host_access(event);
}

}  // namespace

TEST_CASE("uninitialized-global: copying back what nobody wrote is a warning",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(1024);
    copy_back(bench, data, 0, 1024);
    copy_back(bench, data, 0, 1024);  // once
    CHECK(bench.only().severity == checks::Severity::kWarning);
    CHECK(bench.only().place.line == 30);
    CHECK(bench.only().count == 1);
    CHECK(bench.only().message ==
          "`cudaMemcpy` copies 1024 bytes of device memory to the host, but nothing has ever "
          "written any of them");
}

TEST_CASE("uninitialized-global: copying back what is written in part is silent",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(1024);
    bench.host_write(data, 0, 1);
    copy_back(bench, data, 0, 1024);
    CHECK(bench.found() == 0);
    copy_back(bench, data, 512, 512, "cudaMemcpy2D");  // a row; another one is written
    CHECK(bench.found() == 0);
    copy_back(bench, data, 512, 512);
    CHECK(bench.found() == 1);
}

TEST_CASE("uninitialized-global: what the host can write, and variables, begin written",
          "[checks][uninitialized]") {
    const auto kind = GENERATE(MemoryKind::kPinned, MemoryKind::kModule, MemoryKind::kConst);
    GlobalBench bench;
    const auto& data = bench.array(1024, kind);
    bench.touch(bench.load, AccessKind::kLoad, data);
    CHECK(bench.found() == 0);
    const auto& to = bench.array(1024);
    bench.copy(to, 0, data, 0, 1024);
    bench.touch(bench.load, AccessKind::kLoad, to);
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-global: managed memory that the host has not written",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(1024, MemoryKind::kManaged);
    SECTION("is found") {
        bench.touch(bench.load, AccessKind::kLoad, data);
        CHECK(bench.found() == 1);
    }
    SECTION("is silent when the host did") {
        std::memset(data.host, 0, data.bytes);
        bench.touch(bench.load, AccessKind::kLoad, data);
        const auto& to = bench.array(1024);
        bench.copy(to, 0, data, 0, 1024);
        bench.touch(bench.load, AccessKind::kLoad, to);
        copy_back(bench, data, 0, 1024);
        CHECK(bench.found() == 0);
    }
    SECTION("is found in the elements that it left out") {
        std::memset(data.host, 0, 20 * sizeof(int));
        bench.touch(bench.load, AccessKind::kLoad, data);
        CHECK(bench.only().count == 12);
    }
    SECTION("makes its copies unwritten") {
        const auto& to = bench.array(1024);
        bench.copy(to, 0, data, 0, 1024);
        bench.touch(bench.load, AccessKind::kLoad, to);
        CHECK(bench.found() == 1);
    }
    SECTION("counts as written where one byte of a word is") {
        std::memset(data.host, 1, 1);
        std::memset(data.host + 31 * sizeof(int), 1, 1);
        bench.touch(bench.load, AccessKind::kLoad, data);
        CHECK(bench.only().count == 30);
    }
}

TEST_CASE("uninitialized-global: memory from malloc in a kernel does not",
          "[checks][uninitialized]") {
    GlobalBench bench;
    bench.touch(bench.load, AccessKind::kLoad, bench.array(1024, MemoryKind::kHeap));
    CHECK(bench.found() == 1);
}

TEST_CASE("uninitialized-global: good lanes beside bad ones are still looked at",
          "[checks][uninitialized]") {
    GlobalBench bench;
    const auto& data = bench.array(64);  // 16 elements, 32 lanes
    bench.touch(bench.load, AccessKind::kLoad, data);
    CHECK(bench.only().count == 16);
}

TEST_CASE("uninitialized-global: the shadow is at most an eighth", "[checks][uninitialized]") {
    GlobalBench bench;
    bench.array(1 << 20);
    CHECK(bench.checker.shadow_bytes() <= (1 << 17) + 64);
}

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

namespace {

// The machine follows undefined values: a read counts once its value is used.
struct FollowedBench : GlobalBench {
    machine::UndefinedLoad read(const machine::Allocation& at, int64_t first = 0) {
        machine::UndefinedLoad found;
        auto event = access(load, Space::kGlobal, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return at.address + uint64_t(first + lane * 4);
        });
        event.undefined_load = &found;
        checker.on_access(event);
        return found;
    }
    void write(const machine::Allocation& at, uint32_t undefined, uint32_t origin) {
        auto event = access(store, Space::kGlobal, AccessKind::kStore, 4, [&](uint32_t lane) {
            return at.address + lane * 4;
        });
        event.undefined_store = undefined;
        event.undefined_origin = origin;
        checker.on_access(event);
    }
    void use(const machine::UndefinedLoad& found, uint32_t lanes) {
        machine::UndefinedOrigin origin;
        origin.kind = machine::UndefinedOrigin::Kind::kLoad;
        origin.by = found.by;
        origin.token = found.token;
        checker.on_undefined_use(
            {machine::UndefinedUse::How::kStored, &warp, store, lanes, &origin});
    }
    void end() { checker.on_launch_end(launch, {}); }
};

}  // namespace

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
