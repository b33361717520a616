// SPDX-License-Identifier: MIT
// Races of copies, fills and allocations with the launches of other streams.
#include "race_players.h"

using namespace player;
using Order = machine::OrderEvent::Kind;
using Host = machine::HostAccess::Kind;

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
    watch_races(p, RaceKinds::kGlobal);
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
