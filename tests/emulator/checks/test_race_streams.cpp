// SPDX-License-Identifier: MIT
// Races between launches and copies of different streams.
#include "catch.h"
#include "checks/race/race_global.h"
#include "event_player.h"

using namespace player;
using Order = machine::OrderEvent::Kind;
using Host = machine::HostAccess::Kind;

namespace {

struct Streams : Player {
    Streams() {
        watch(checks::make_race_global(report, memory));
        order(Order::kStreamCreate, 1);
        order(Order::kStreamCreate, 2);
        order(Order::kStreamCreate, 3, 0, true);
    }
    void write(const ArrayOf& a, uint64_t stream) {
        launch(2, 32, stream);
        warp(1, 0).store(10, a.from(0));
        end_launch();
    }
    void read(const ArrayOf& a, uint64_t stream) {
        launch(2, 32, stream);
        warp(0, 0).load(20, a.from(0));
        end_launch();
    }
};

}  // namespace

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

TEST_CASE("streams: copies by the host", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64), odd = p.global(70, 1);
    SECTION("a kernel reads what an asynchronous copy writes") {
        p.copy(30, "cudaMemcpyAsync", Host::kWrite, a, 64, 1);
        p.read(a, 2);
        REQUIRE(p.races() == Lines{"20 after 30"});
        CHECK(p.report.findings()[0].other_text ==
              "`cudaMemcpyAsync` in another stream wrote it on main.cu:30, and no event or "
              "synchronisation orders the two");
    }
    SECTION("freed while a kernel of another stream reads") {
        p.read(a, 1);
        p.copy(30, "cudaFreeAsync", Host::kFree, a, 64, 2);
        REQUIRE(p.report.findings().size() == 1);
        CHECK(p.report.findings()[0].code == "use-after-free");
        CHECK(p.report.findings()[0].message.find("is freed by `cudaFreeAsync` while a kernel") !=
              std::string::npos);
    }
    SECTION("used in another stream than the one it is allocated in") {
        p.copy(30, "cudaMallocAsync", Host::kAllocate, a, 64, 1);
        p.write(a, 2);
        REQUIRE(p.races() == Lines{"10 after 30"});
        CHECK(p.report.findings()[0].message.find("may still have to allocate it") !=
              std::string::npos);
        CHECK(p.report.findings()[0].other_text ==
              "`cudaMallocAsync` in another stream allocated it on main.cu:30, and no event or "
              "synchronisation orders the two");
    }
    SECTION("filled in another stream than the one it is allocated in") {
        p.copy(30, "cudaMallocAsync", Host::kAllocate, a, 64, 1);
        p.copy(31, "cudaMemsetAsync", Host::kWrite, a, 64, 2);
        CHECK(p.races() == Lines{"31 after 30"});
    }
    SECTION("used in the stream that it is allocated in") {
        p.copy(30, "cudaMallocAsync", Host::kAllocate, a, 64, 1);
        p.write(a, 1);
        p.copy(31, "cudaMemsetAsync", Host::kWrite, a, 64, 1);
        CHECK(p.races().empty());
    }
    SECTION("freed in the same stream") {
        p.read(a, 1);
        p.copy(30, "cudaFreeAsync", Host::kFree, a, 64, 1);
        CHECK(p.report.findings().empty());
    }
    SECTION("in the same stream") {
        p.copy(30, "cudaMemcpyAsync", Host::kWrite, a, 64, 1);
        p.read(a, 1);
        CHECK(p.races().empty());
    }
    SECTION("an asynchronous copy reads what a kernel writes") {
        p.write(a, 1);
        p.copy(30, "cudaMemcpyAsync", Host::kRead, a, 64, 2);
        REQUIRE(p.races() == Lines{"30 after 10"});
        CHECK(p.report.findings()[0].message.find("is read by `cudaMemcpyAsync` while a kernel") !=
              std::string::npos);
    }
    SECTION("cudaMemcpy waits for blocking streams, not for others") {
        p.write(a, 1);
        p.copy(30, "cudaMemcpy", Host::kRead, a, 64);
        CHECK(p.races().empty());
        p.write(a, 3);
        p.copy(30, "cudaMemcpy", Host::kRead, a, 64);
        CHECK(p.races() == Lines{"30 after 10"});
    }
    SECTION("a copy overwrites what an unordered kernel reads") {
        p.read(a, 1);
        p.copy(30, "cudaMemcpyAsync", Host::kWrite, a, 3, 2);  // only some words
        REQUIRE(p.races() == Lines{"30 after 20"});
        CHECK(p.report.findings()[0].count == 3);
    }
    SECTION("after a synchronous copy to the host everything is known") {
        p.write(a, 0);
        p.copy(30, "cudaMemcpy", Host::kRead, a, 64);
        p.read(a, 3);
        CHECK(p.races().empty());
    }
    SECTION("parts of words") {
        p.copy(30, "cudaMemcpyAsync", Host::kWrite, odd, 35, 1);
        p.launch(1, 32, 2);
        p.thread(0, 0).load(20, odd[35], 1);
        CHECK(p.races().empty());
        p.thread(0, 0).load(21, odd[34], 1);
        CHECK(p.races() == Lines{"21 after 30"});
    }
}

TEST_CASE("streams: a copy from pageable memory goes on after its call",
          "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64), b = p.global(64);
    p.write(a, 1);
    SECTION("beside a non-blocking stream") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        p.read(b, 3);
        REQUIRE(p.races() == Lines{"20 after 30"});
        REQUIRE(p.report.findings()[0].notes.size() == 1);
        CHECK(p.report.findings()[0].notes[0].find("`cudaMemcpy` from pageable memory returns") ==
              0);
    }
    SECTION("all rows of it") {
        p.copy(30, "cudaMemcpy2D", Host::kWrite, b, 32);
        machine::HostAccess row{};
        row.kind = Host::kWrite;
        called(row, "cudaMemcpy2D");
        row.allocation = b.allocation;
        row.address = b[32];
        row.bytes = 128;
        row.site = 30;
        row.continued = true;
        p.host_access(row);
        p.read(b, 3);
        CHECK(p.races() == Lines{"20 after 30"});
    }
    SECTION("before the work of blocking streams") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        p.read(b, 0);
        p.read(b, 1);
        p.read(b, 2);
        CHECK(p.races().empty());
    }
    SECTION("what was in the stream before it is done") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        p.read(a, 3);
        p.copy(31, "cudaMemcpy", Host::kWrite, a, 64);
        p.read(b, 3);
        CHECK(p.races() == Lines{"31 after 20"});
    }
    SECTION("which itself has waited for what came before, and no more") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        machine::OrderEvent own{Order::kStreamSync};
        own.staged = true;
        p.order(own);
        p.read(b, 3);
        CHECK(p.races() == Lines{"20 after 30"});
    }
    SECTION("until the host waits") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        p.order(Order::kStreamSync, 0);
        p.read(b, 3);
        p.copy(31, "cudaMemcpy", Host::kWrite, a, 64);
        p.copy(32, "cudaMemcpy", Host::kRead, a, 4);
        p.read(a, 3);
        CHECK(p.races().empty());
    }
    SECTION("until a stream waits for an event after it") {
        p.copy(30, "cudaMemcpy", Host::kWrite, b, 64);
        p.order(Order::kEventRecord, 0, 7);
        p.order(Order::kStreamWaitEvent, 3, 7);
        p.read(b, 3);
        CHECK(p.races().empty());
    }
    SECTION("from pinned memory it is done, and so is one to managed memory") {
        const auto pinned = p.global(64), managed = p.global(64);
        pinned.allocation->kind = machine::MemoryKind::kPinned;
        managed.allocation->kind = machine::MemoryKind::kManaged;
        machine::HostAccess copy{};
        copy.kind = Host::kWrite;
        called(copy, "cudaMemcpy");
        copy.allocation = b.allocation;
        copy.address = b.address;
        copy.bytes = 256;
        copy.pinned = pinned.allocation;
        copy.pinned_address = pinned.address;
        p.host_access(copy);
        p.read(b, 3);
        p.copy(31, "cudaMemcpy", Host::kWrite, managed, 64);
        p.read(managed, 3);
        CHECK(p.races().empty());
    }
}

TEST_CASE("streams: a copy or fill before the first stream is created", "[checks][race][streams]") {
    Player p;
    p.watch(checks::make_race_global(p.report, p.memory));
    const auto a = p.global(64), b = p.global(64);
    const auto read = [&](const ArrayOf& array) {
        p.launch(2, 32, 3);
        p.warp(0, 0).load(20, array.from(0));
        p.end_launch();
    };
    p.launch(2, 32);
    p.warp(0, 0).store(9, a.from(0));
    p.end_launch();
    SECTION("does not order what a non-blocking stream does") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.copy(11, "cudaMemcpy", Host::kWrite, a, 64);
        p.order(Order::kStreamCreate, 3, 0, true);
        read(b);
        CHECK(p.races().empty());  // the stream was waited for before the copy
        read(a);
        CHECK(p.races() == Lines{"20 after 11"});
    }
    SECTION("the fill comes last") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.order(Order::kStreamCreate, 3, 0, true);
        read(b);
        CHECK(p.races() == Lines{"20 after 10"});
    }
    SECTION("with another stream's copy next") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.order(Order::kStreamCreate, 3, 0, true);
        p.copy(12, "cudaMemcpyAsync", Host::kWrite, b, 64, 3);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("the host waits") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.order(Order::kDeviceSync);
        p.order(Order::kStreamCreate, 3, 0, true);
        read(b);
        CHECK(p.races().empty());
    }
    SECTION("the host waits later") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.order(Order::kStreamCreate, 3, 0, true);
        p.order(Order::kStreamSync, 0);
        read(b);
        CHECK(p.races().empty());
    }
    SECTION("an allocation is freed in between") {
        const auto c = p.global(64);
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.free(c);
        p.order(Order::kStreamCreate, 3, 0, true);
        read(b);
        CHECK(p.races().empty());
    }
    SECTION("a blocking stream waits") {
        p.copy(10, "cudaMemset", Host::kWrite, b, 64);
        p.order(Order::kStreamCreate, 3);
        read(b);
        CHECK(p.races().empty());
    }
}

TEST_CASE("streams: two devices", "[checks][race][streams]") {
    Player p;
    p.watch(checks::make_race_global(p.report, p.memory));
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

TEST_CASE("streams: one stream after another, thousands of times", "[checks][race][streams]") {
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

TEST_CASE("streams: a copy that wrote is reported as a write", "[checks][race][streams]") {
    Streams p;
    const auto a = p.global(64);
    p.copy(10, "cudaMemcpyAsync", Host::kWrite, a, 64, 1);
    p.read(a, 2);
    REQUIRE(p.races() == Lines{"20 after 10"});
    const checks::Finding& finding = p.report.findings()[0];
    CHECK(finding.facts.text().find("{\"relation\": \"streams\", \"clash\": \"plain\", "
                                    "\"access\": \"read\", \"other_access\": \"write\", "
                                    "\"one_atomic\": false") == 0);
    CHECK(finding.message.find("is read while another thread may still be writing it") !=
          std::string::npos);
    CHECK(finding.other_text ==
          "`cudaMemcpyAsync` in another stream wrote it on main.cu:10, and no event or "
          "synchronisation orders the two");
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
