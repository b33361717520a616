// SPDX-License-Identifier: MIT
// Who wrote a word last, and the trace of a launch.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "catch/catch.h"
#include "checks/record/trace.h"
#include "checks/record/writers.h"
#include "event_player.h"

using namespace player;
using checks::Writer;

namespace {

struct Followed : Player {
    checks::Writers& writers;
    Followed()
        : writers(static_cast<checks::Writers&>(watch(std::make_unique<checks::Writers>(memory)))) {
    }
};

struct Traced : Player {
    std::string path = "/tmp/workbook-trace-" + std::to_string(getpid());
    checks::Trace& trace;
    explicit Traced(uint64_t most_bytes = checks::Trace::kMostBytes)
        : trace(static_cast<checks::Trace&>(watch(std::make_unique<checks::Trace>(
              memory, std::fopen(path.c_str(), "w"), most_bytes)))) {}
    ~Traced() { std::remove(path.c_str()); }
    std::string text() {
        trace.close();
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    }
};

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("writers: the last store of a word is recorded, with thread, block and line",
          "[checks][writers]") {
    Followed p;
    const auto x = p.global(128);
    p.launch(2, 64);
    p.warp(0, 0).store(10, x.from(0));   // whole warp, in order
    p.warp(1, 1).store(12, x.from(64));  // threads 32 to 63 of block 1
    p.thread(1, 5).store(14, x[3]);
    const auto first = p.writers.at(x[0]);
    REQUIRE(first);
    CHECK(first->by == Writer::By::kKernel);
    CHECK(first->thread == machine::Dim3{0, 0, 0});
    CHECK(first->line.line == 10);
    CHECK(first->launch.block == machine::Dim3{64, 1, 1});
    const auto other = p.writers.at(x[66]);
    CHECK(other->block == machine::Dim3{1, 0, 0});
    CHECK(other->thread == machine::Dim3{34, 0, 0});
    const auto again = p.writers.at(x[3]);
    CHECK(again->line.line == 14);
    CHECK(again->thread == machine::Dim3{5, 0, 0});
    CHECK(p.writers.at(x[40])->by == Writer::By::kNobody);
}

TEST_CASE("writers: loads write nothing, atomics and strided stores do", "[checks][writers]") {
    Followed p;
    const auto x = p.global(256);
    p.launch(1, 32);
    p.warp(0, 0).load(10, x.from(0));
    CHECK(p.writers.at(x[0])->by == Writer::By::kNobody);
    p.thread(0, 7).atomic(11, x[0]);
    CHECK(p.writers.at(x[0])->thread == machine::Dim3{7, 0, 0});
    p.warp(0, 0).store(12, x.from(1, 2));
    CHECK(p.writers.at(x[1 + 2 * 9])->thread == machine::Dim3{9, 0, 0});
    CHECK(p.writers.at(x[2])->by == Writer::By::kNobody);
}

TEST_CASE("writers: copies are the host's, and a free forgets", "[checks][writers]") {
    Followed p;
    const auto x = p.global(64);
    p.copy(5, "cudaMemcpy", machine::HostAccess::Kind::kWrite, x, 16);
    CHECK(p.writers.at(x[15])->by == Writer::By::kHost);
    CHECK(p.writers.at(x[16])->by == Writer::By::kNobody);
    p.copy(6, "cudaMemcpy", machine::HostAccess::Kind::kRead, x, 64);
    CHECK(p.writers.at(x[16])->by == Writer::By::kNobody);
    const uint64_t stale = x[0];
    p.free(x);
    CHECK(!p.writers.at(stale));
    CHECK(!p.writers.at(x.address + 4096));
}

TEST_CASE("writers: a library's kernel is told from the program's", "[checks][writers]") {
    Followed p;
    const auto x = p.global(8);
    p.launch(1, 32);
    p.thread(0, 1).store(10, x[0]);
    machine::HostAccess access{};
    access.kind = machine::HostAccess::Kind::kWrite;
    access.ordering = machine::HostAccess::Ordering::kLibrary;
    access.allocation = p.memory.find(x[0]);
    access.address = x[0];
    access.bytes = 4;
    p.writers.on_host_access(access);
    REQUIRE(p.writers.at(x[0]));
    CHECK(p.writers.at(x[0])->by == Writer::By::kLibrary);
    REQUIRE(p.writers.at(x[1]));
    CHECK(p.writers.at(x[1])->by == Writer::By::kNobody);
}

TEST_CASE("writers: a copy within the device hands on the writers of its source",
          "[checks][writers]") {
    Followed p;
    const auto x = p.global(64), y = p.global(64);
    p.copy(4, "cudaMemcpy", machine::HostAccess::Kind::kWrite, y, 64);
    p.launch(1, 32);
    p.warp(0, 0).store(10, x.from(0));
    machine::HostAccess copy{};
    copy.kind = machine::HostAccess::Kind::kCopy;
    copy.api = "cudaMemcpyAsync";
    copy.allocation = y.allocation;
    copy.address = y[8];
    copy.source = x.allocation;
    copy.source_address = x[16];
    copy.bytes = 32 * 4;
    p.host_access(copy);
    CHECK(p.writers.at(y[7])->by == Writer::By::kHost);
    CHECK(p.writers.at(y[8])->thread == machine::Dim3{16, 0, 0});
    CHECK(p.writers.at(y[23])->thread == machine::Dim3{31, 0, 0});
    CHECK(p.writers.at(y[24])->by == Writer::By::kNobody);  // as in the source
    CHECK(p.writers.at(y[40])->by == Writer::By::kHost);
    // Where words do not fall on words, it is the host's.
    copy.address += 1;
    p.host_access(copy);
    CHECK(p.writers.at(y[9])->by == Writer::By::kHost);
}

TEST_CASE("writers: launches are remembered, the last one first", "[checks][writers]") {
    Followed p;
    for (uint32_t n = 1; n <= 20; ++n) p.launch(n, 32);
    CHECK(p.writers.launch_count() == 20);
    REQUIRE(p.writers.launches().size() == 16);
    CHECK(p.writers.launches()[0].grid.x == 20);
    CHECK(p.writers.launches()[15].grid.x == 5);
}

TEST_CASE("writers: warps that take turns in a loop are not forgotten", "[checks][writers][slow]") {
    Followed p;
    const auto x = p.global(128);
    p.launch(2, 64);
    for (size_t turn = 0; turn <= checks::Writers::kMostRecords / 2; ++turn) {
        p.warp(0, 1).store(10, x.from(0));
        p.warp(1, 0).store(10, x.from(64));
    }
    const auto first = p.writers.at(x[3]), second = p.writers.at(x[67]);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->thread == machine::Dim3{35, 0, 0});
    CHECK(second->block == machine::Dim3{1, 0, 0});
}

TEST_CASE("trace: accesses, barriers and arrays are written in order", "[checks][trace]") {
    Traced p;
    const auto x = p.global(64);
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0).load(10, x.from(0, 2));
    p.warp(0, 0).store(11, tile.from(0));
    p.barrier(0);
    p.thread(0, 3).store(12, x[70]);  // past the end
    p.end_launch();
    const std::string text = p.text();
    CHECK(holds(text, "{\"launch\": {\"serial\": 1, \"kernel\": \"kernel\", \"grid\": [1,1,1]"));
    CHECK(holds(text, "\"name\": \"tile\", \"offset\": 0, \"bytes\": 128"));
    const size_t load =
        text.find("[\"access\",0,0,0,\"global\",\"load\",4,4294967295,0,0,[0,8,16,");
    const size_t store = text.find("\"shared\",\"store\",4,4294967295,0,0,[0,4,8,");
    const size_t barrier = text.find("[\"barrier\",0,0,[[0,4294967295,");
    const size_t bad = text.find("\"global\",\"store\",4,8,8,0,[280]]");
    CHECK(load < store);
    CHECK(store < barrier);
    CHECK(barrier < bad);
    CHECK(bad != std::string::npos);
    CHECK(holds(text, "{\"line\": {\"id\": 0, \"file\": \"/src/kernel.cu\", \"line\": 10}}"));
    CHECK(holds(text, "{\"end\": {\"serial\": 1, \"status\": 0}}"));
}

TEST_CASE("trace: the file is bounded, and its last line reports the cut", "[checks][trace]") {
    Traced p(4000);
    const auto x = p.global(64);
    p.launch(1, 32);
    for (int i = 0; i < 100; ++i) p.warp(0, 0).load(10, x.from(0));
    const std::string text = p.text();
    CHECK(p.trace.cut());
    CHECK(text.size() <= 4000);
    CHECK(holds(text, "{\"cut\": {\"bytes\": "));
    CHECK(text.back() == '\n');
}
