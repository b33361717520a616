// SPDX-License-Identifier: MIT
// Races between launches of different streams, and what orders the two.
#include "race_players.h"

using namespace player;
using Order = machine::OrderEvent::Kind;
using Host = machine::HostAccess::Kind;

TEST_CASE("streams: two streams, nothing between", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64), b = p.global(64);
    p.write(a, 1);
    p.read(b, 2);
    CHECK(p.races().empty());
    p.read(a, 2);
    REQUIRE(p.races() == Lines{"20 after 10"});
    CHECK(
        p.report.findings()[0].other_text ==
        "thread (0,0,0) of block (1,0,0) of kernel `kernel` in another stream wrote it on line 10, "
        "and no event or synchronisation orders the two launches");
}

TEST_CASE("streams: what orders two streams", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64);
    p.write(a, 1);
    SECTION("the same stream") {
        p.read(a, 1);
    }
    SECTION("an event") {
        p.order(Order::kEventRecord, 1, 7);
        p.order(Order::kStreamWaitEvent, 2, 7);
        p.read(a, 2);
    }
    SECTION("the host waits for the event") {
        p.order(Order::kEventRecord, 1, 7);
        p.order(Order::kEventSync, 0, 7);
        p.read(a, 2);
    }
    SECTION("the host waits for the stream") {
        p.order(Order::kStreamSync, 1);
        p.read(a, 3);
    }
    SECTION("the host waits for the device") {
        p.order(Order::kDeviceSync);
        p.read(a, 3);
    }
    SECTION("the default stream waits for blocking streams") {
        p.read(a, 0);
    }
    SECTION("through the default stream to another one") {
        const auto b = p.global(64);
        p.read(b, 0);
        p.read(a, 2);
    }
    SECTION("cudaFree waits for the device") {
        p.free(p.global(4));
        p.read(a, 2);
    }
    SECTION("a copy that the host waits for") {
        const auto b = p.global(64);
        p.copy(30, "cudaMemcpy", Host::kRead, b, 64);
        p.read(a, 3);
    }
    CHECK(p.races().empty());
}

TEST_CASE("streams: what does not order two streams", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64);
    p.write(a, 1);
    SECTION("an event that nobody waits for") {
        p.order(Order::kEventRecord, 1, 7);
        p.read(a, 2);
    }
    SECTION("an event recorded before the launch") {
        p.order(Order::kDeviceSync);
        p.order(Order::kEventRecord, 1, 7);
        p.write(a, 1);
        p.order(Order::kStreamWaitEvent, 2, 7);
        p.read(a, 2);
    }
    SECTION("a wait by a third stream") {
        p.order(Order::kEventRecord, 1, 7);
        p.order(Order::kStreamWaitEvent, 3, 7);
        p.read(a, 2);
    }
    SECTION("the host waits for the other stream only") {
        p.order(Order::kStreamSync, 2);
        p.read(a, 2);
    }
    SECTION("the default stream and a non-blocking one") {
        p.order(Order::kDeviceSync);
        p.write(a, 0);
        p.read(a, 3);
    }
    SECTION("a memset, for which the host does not wait") {
        const auto b = p.global(64);
        p.copy(30, "cudaMemsetAsync", Host::kWrite, b, 64, 2);
        p.read(a, 2);
    }
    CHECK(p.races() == Lines{"20 after 10"});
}

TEST_CASE("streams: an operation that the host knows of, between others",
          "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64), b = p.global(64);
    p.write(a, 1);
    p.write(b, 2);
    p.order(Order::kStreamSync, 2);
    p.read(b, 3);
    CHECK(p.races().empty());
    p.read(a, 3);
    CHECK(p.races() == Lines{"20 after 10"});
}

TEST_CASE("streams: a store after an unordered load", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64);
    p.read(a, 1);
    p.read(a, 2);
    p.order(Order::kStreamSync, 2);
    p.write(a, 2);
    CHECK(p.races() == Lines{"10 after 20"});
}

TEST_CASE("streams: two devices", "[checks][race][streams]") {
    Player p;
    watch_races(p, RaceKinds::kGlobal);
    const auto a = p.global(64), far = p.global(64, 4, 1);
    const auto on = [&](int device, uint32_t line, How how) {
        p.launch(1, 32, 0, device);
        p.warp(0, 0).access(line, how, far.from(0), 4);
        p.end_launch();
    };
    on(1, 10, kStore);
    SECTION("each has a default stream of its own") {
        on(0, 11, kLoad);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("a copy from one to the other waits for both") {
        machine::HostAccess copy{};
        copy.kind = Host::kCopy;
        copy.api = "cudaMemcpyPeer";
        copy.allocation = a.allocation;
        copy.address = a.address;
        copy.source = far.allocation;
        copy.source_address = far.address;
        copy.bytes = 256;
        p.host_access(copy);
        on(0, 11, kLoad);
        on(0, 12, kStore);
        p.host_access(copy);
        on(1, 13, kStore);
        CHECK(p.races().empty());
    }
    SECTION("the host waits for one of them") {
        p.order(Order::kDeviceSync, 0, 0, false, 1);
        on(0, 11, kLoad);
        CHECK(p.races().empty());
    }
}

TEST_CASE("streams: one stream after another, thousands of times",
          "[checks][race][streams][slow]") {
    Streams p;
    const auto a = p.global(64);
    for (int i = 0; i < 6000; ++i) {
        p.write(a, 1);
        if (i % 1000 == 0) p.read(a, 1);
    }
    p.read(a, 0);
    CHECK(p.races().empty());
    p.read(a, 3);
    CHECK(p.races() == Lines{"20 after 10"});
}

TEST_CASE("streams: nodes of a graph are ordered by its edges", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64);
    const uint64_t branch = machine::kGraphBranch | 9;
    p.order(Order::kStreamCreate, branch, 0, true);
    p.copy(10, "cudaGraphLaunch", Host::kWrite, a, 64, 1);
    SECTION("an edge") {
        p.order(Order::kEventRecord, 1, 7);
        p.order(Order::kStreamWaitEvent, branch, 7);
        p.read(a, branch);
        CHECK(p.races().empty());
    }
    SECTION("none") {
        p.read(a, branch);
        REQUIRE(p.races() == Lines{"20 after 10"});
        CHECK(p.report.findings()[0].other_text ==
              "`cudaGraphLaunch` in another branch of a graph wrote it on main.cu:10, and no path "
              "of edges orders the two");
    }
}

TEST_CASE("race-global: where no thread runs both lines, the later line is reported",
          "[checks][race]") {
    Streams p;
    const auto a = p.global(64);
    p.launch(1, 96);
    p.warp(0, 2).store(8, a.from(0));  // a write before, which all know of
    p.barrier(0);
    p.warp(0, 1).store(12, a.from(0));
    p.warp(0, 0).load(10, a.from(0));
    p.end_launch();
    CHECK(p.races() == Lines{"12 after 10"});
}
