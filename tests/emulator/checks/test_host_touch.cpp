// SPDX-License-Identifier: MIT
// The host's own accesses against launches and copies that it has not waited for.
#include <map>

#include "catch/catch.h"
#include "checks/race/races.h"
#include "event_player.h"

#include "checks/host_watch.h"

using namespace player;
using Order = machine::OrderEvent::Kind;
using Host = machine::HostAccess::Kind;

namespace {

struct Touches : Player {
    checks::Races* checker = nullptr;
    checks::HostWatch* host = nullptr;

    explicit Touches(bool streams = true) {
        auto made = std::make_unique<checks::Races>(report, memory, checks::RaceKinds::kGlobal);
        checker = made.get();
        host = checker->host_watch();
        watch(std::move(made));
        if (!streams) return;
        order(Order::kStreamCreate, 1);
        order(Order::kStreamCreate, 2, 0, true);
    }
    ArrayOf visible(uint64_t elements, machine::MemoryKind kind = machine::MemoryKind::kManaged) {
        machine::Allocation& a = *memory.allocate(kind, elements * 4, 0, 1);
        return {a.address, 4, ptx::Space::kGlobal, &a};
    }
    void write(const ArrayOf& a, uint64_t stream = 0) {
        launch(1, 32, stream);
        warp(0, 0).store(10, a.from(0));
        end_launch();
    }
    void read(const ArrayOf& a, uint64_t stream = 0) {
        launch(1, 32, stream);
        warp(0, 0).load(20, a.from(0));
        end_launch();
    }
    void download(const ArrayOf& from, const ArrayOf& to, const char* api, uint64_t stream = 0) {
        machine::HostAccess access{};
        access.kind = Host::kRead;
        called(access, api);
        access.allocation = from.allocation;
        access.address = from.address;
        access.bytes = 128;
        access.stream = stream;
        access.site = 30;
        access.pinned = to.allocation;
        access.pinned_address = to.address;
        access.writes_pinned = true;
        host_access(access);
    }
    void touched(uint64_t address, bool writes, uint64_t bytes = 1) {
        host->host_touched({address, bytes, writes, 50});
    }
    // Bytes in use, by page: written ones and touched ones.
    std::map<uint64_t, std::pair<int, int>> in_use() {
        std::map<uint64_t, std::pair<int, int>> pages;
        host->review(
            [&](const machine::Allocation& a, uint64_t page, const checks::PageUse& use) {
                int written = 0, all = 0;
                for (const uint64_t word : use.written) written += std::popcount(word);
                for (const uint64_t word : use.touched) all += std::popcount(word);
                pages[(page - a.address) / checks::kHostPageBytes] = {written, all};
            },
            [&] { pages.clear(); });
        return pages;
    }
};

}  // namespace

TEST_CASE("host touch: a read of what a kernel has written", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    p.write(a);
    p.touched(a[33], false);
    CHECK(p.races().empty());
    p.touched(a[3] + 2, false);
    REQUIRE(p.races() == Lines{"50 after 10"});
    const checks::Finding& f = p.report.findings()[0];
    CHECK(f.code == "race-global");
    CHECK(f.message.find("is read by the host while a kernel may still be writing it") !=
          std::string::npos);
    CHECK(f.other_text == "thread (3,0,0) of block (0,0,0) of kernel `kernel` wrote it on "
                          "kernel.cu:10, and the host has not waited for that");
}

TEST_CASE("host touch: what a kernel reads may be read, but not written", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    p.read(a);
    p.touched(a[3], false);
    CHECK(p.races().empty());
    p.touched(a[3], true);
    CHECK(p.races() == Lines{"50 after 20"});
}

TEST_CASE("host touch: a range meets the first byte in use", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    p.write({a[16], 4, ptx::Space::kGlobal, a.allocation});
    p.touched(a[0], false, 64);
    CHECK(p.races().empty());
    p.touched(a[0], false, 65);
    CHECK(p.races() == Lines{"50 after 10"});
}

TEST_CASE("host touch: how the host learns that work is done", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    bool done = true;
    p.write(a, 1);
    SECTION("the device") {
        p.order(Order::kDeviceSync);
    }
    SECTION("the stream") {
        p.order(Order::kStreamSync, 1);
    }
    SECTION("the legacy default stream, which waits for it") {
        p.order(Order::kStreamSync, 0);
    }
    SECTION("an event") {
        p.order(Order::kEventRecord, 1, 7);
        p.order(Order::kEventSync, 0, 7);
    }
    SECTION("a host function of the stream") {
        p.order(Order::kHostSees, 1);
    }
    SECTION("a free") {
        p.free(p.global(4));
    }
    SECTION("a copy to memory that CUDA does not know") {
        p.copy(30, "cudaMemcpyAsync", Host::kRead, p.global(64), 8, 1);
    }
    SECTION("a fill of managed memory") {
        p.copy(30, "cudaMemset", Host::kWrite, p.visible(64), 8, 0);
    }
    SECTION("not: another stream") {
        p.order(Order::kStreamSync, 2);
        done = false;
    }
    SECTION("not: an event before it") {
        p.order(Order::kEventRecord, 1, 7);
        p.write(a, 1);
        p.order(Order::kEventSync, 0, 7);
        done = false;
    }
    SECTION("not: a copy from memory that CUDA does not know") {
        p.copy(30, "cudaMemcpyAsync", Host::kWrite, p.global(64), 8, 1);
        done = false;
    }
    SECTION("not: a fill of device memory") {
        p.copy(30, "cudaMemset", Host::kWrite, p.global(64), 8, 0);
        done = false;
    }
    p.touched(a[3], false);
    CHECK(p.races().empty() == done);
    CHECK(p.in_use().empty() == done);
}

TEST_CASE("host touch: a host function orders the host, and no other stream",
          "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    p.write(a, 1);
    p.order(Order::kHostSees, 1);
    p.read(a, 2);
    CHECK(p.races() == Lines{"20 after 10"});
}

TEST_CASE("host touch: a launch that signals the host", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64), flag = p.visible(1);
    const auto elsewhere = p.global(1);
    bool tells = true;
    p.launch(1, 32);
    p.warp(0, 0).store(10, a.from(0));
    SECTION("by a volatile store") {
        p.thread(0, 0).access(11, kVolatileStore, flag[0]);
    }
    SECTION("by a fence and an atomic") {
        p.thread(0, 0).fence(Scope::kSys);
        p.thread(0, 0).atomic(11, flag[0]);
    }
    SECTION("not: by an atomic of the device alone") {
        p.thread(0, 0).atomic(11, flag[0]);
        tells = false;
    }
    SECTION("not: by a flag that the host cannot see") {
        p.thread(0, 0).access(11, kVolatileStore, elsewhere[0]);
        tells = false;
    }
    p.end_launch();
    p.touched(a[3], false);
    CHECK(p.races().empty() == tells);
}

TEST_CASE("host touch: a flag that a kernel polls may be written", "[checks][race][host]") {
    Touches p;
    const auto flag = p.visible(1);
    p.launch(1, 32);
    p.thread(0, 0).access(10, kVolatileLoad, flag[0]);
    p.end_launch();
    p.touched(flag[0], true);
    CHECK(p.races().empty());
}

TEST_CASE("host touch: a counter that a kernel adds to", "[checks][race][host]") {
    Touches p;
    const auto counter = p.visible(2);
    p.launch(1, 32);
    p.warp(0, 0).atomic(10, counter.all(0));
    p.end_launch();
    p.touched(counter[1], false);
    CHECK(p.races().empty());
    p.touched(counter[0], false);
    CHECK(p.races() == Lines{"50 after 10"});
}

TEST_CASE("host touch: pinned memory at the other end of a copy", "[checks][race][host]") {
    Touches p;
    const auto device = p.global(64), pinned = p.visible(64, machine::MemoryKind::kPinned);
    p.write(device);
    SECTION("blocking") {
        p.download(device, pinned, "cudaMemcpy");
        p.touched(pinned[3], false);
        CHECK(p.races().empty());
    }
    SECTION("a kernel of another stream reads it meanwhile") {
        p.download(device, pinned, "cudaMemcpyAsync", 1);
        p.read(pinned, 2);
        REQUIRE(p.races() == Lines{"20 after 30"});
        CHECK(p.report.findings()[0].other_text.find("`cudaMemcpyAsync` in another stream wrote "
                                                     "it") == 0);
    }
}

TEST_CASE("host touch: an asynchronous copy in the default stream alone", "[checks][race][host]") {
    Touches p(false);
    const auto device = p.global(64), pinned = p.visible(64, machine::MemoryKind::kPinned);
    p.write(device);
    p.download(device, pinned, "cudaMemcpyAsync");
    p.touched(pinned[32], false);
    CHECK(p.races().empty());
    p.touched(pinned[31], false);
    REQUIRE(p.races() == Lines{"50 after 30"});
    CHECK(p.report.findings()[0].other_text ==
          "`cudaMemcpyAsync` wrote it on line 30, and the host has not waited for that");
}

TEST_CASE("host touch: the bytes of a page that are in use", "[checks][race][host]") {
    Touches p;
    constexpr int kWords = checks::kHostPageBytes / 4;
    const auto a = p.visible(3 * kWords - 72);
    p.write(a, 1);
    p.launch(1, 32, 1);
    p.warp(0, 0).load(20, a.from(16));               // half of it has been written
    p.warp(0, 0, 0xf).load(21, a.from(kWords + 5));  // some words of a sector
    p.warp(0, 0).load(22, a.from(2 * kWords), 1);    // bytes
    p.thread(0, 0).store(23, a[3 * kWords - 73]);
    p.end_launch();
    using Pages = std::map<uint64_t, std::pair<int, int>>;
    CHECK(p.in_use() == Pages{{0, {128, 192}}, {1, {0, 16}}, {2, {4, 36}}});
    CHECK_FALSE(p.host->has_news());
    p.write(a, 1);
    CHECK(p.host->has_news());
    CHECK(p.in_use() == Pages{{0, {128, 192}}});
    p.order(Order::kEventRecord, 1, 7);
    p.order(Order::kStreamSync, 2);
    CHECK_FALSE(p.host->has_news());
    p.launch(1, 32, 2);
    p.end_launch();
    p.order(Order::kStreamSync, 2);
    CHECK(p.host->has_news());
    CHECK(p.in_use() == Pages{{0, {128, 192}}, {1, {0, 16}}, {2, {4, 36}}});
    p.order(Order::kStreamSync, 1);
    CHECK(p.in_use().empty());
}

TEST_CASE("host touch: a launch that fails leaves nothing in use", "[checks][race][host]") {
    Touches p;
    const auto a = p.visible(64);
    p.write(a);
    machine::LaunchSummary summary;
    summary.status = machine::LaunchStatus::kIllegalAddress;
    machine::LaunchInfo launch;
    p.checker->on_launch_end(launch, summary);
    CHECK(p.in_use().empty());
}
