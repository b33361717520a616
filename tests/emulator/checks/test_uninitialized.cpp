// SPDX-License-Identifier: MIT
// Reads of global memory that nothing has written, and what counts as writing.
#include <random>

#include "uninitialized_bench.h"

using namespace uninitialized_bench;

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

TEST_CASE("uninitialized-global: other processes may have written what they can write",
          "[checks][uninitialized]") {
    GlobalBench bench;
    SECTION("in memory of this process") {
        const auto& data = bench.array(4096);
        bench.checker.on_share(data);
        bench.touch(bench.load, AccessKind::kLoad, data);
    }
    SECTION("in memory of another process") {
        auto& data = *bench.memory.allocate(MemoryKind::kDevice, 4096, 0, 14);
        data.imported = true;
        bench.checker.on_alloc(data);
        bench.touch(bench.load, AccessKind::kLoad, data);
    }
    CHECK(bench.found() == 0);
}

TEST_CASE("uninitialized-global: the element after the written ones is not written",
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

TEST_CASE("uninitialized-global: an atomic on memory that was not cleared",
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

TEST_CASE("uninitialized-global: copying back unwritten memory is a warning",
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
