// SPDX-License-Identifier: MIT
// The rules of the timeline: what waits for what, which engine does it, and how long it takes.
#include "catch/catch.h"
#include "checks/record/timeline.h"

using checks::Interval;
using machine::HostAccess;
using machine::OrderEvent;
using Kind = Interval::Kind;

namespace {

// Numbers that make sums easy to read: a call takes 10, a byte 1 (pageable 4), starting nothing.
checks::TimelineModel model() {
    checks::TimelineModel m;
    m.launch = 10, m.event = 10, m.graph_launch = 50;
    m.arrival = 0, m.start = 0;
    m.memory_rate = 2000, m.pinned_rate = 1000, m.pageable_rate = 250;
    m.instruction_rate = 1000, m.instruction_picoseconds = 1000;
    m.threads = 1024;
    m.link_rate = 500, m.link_step = 5;
    return m;
}

struct Program {
    checks::Timeline timeline{model()};
    machine::Allocation array, pinned;

    Program() {
        array.bytes = pinned.bytes = 1 << 20;
        pinned.kind = machine::MemoryKind::kPinned;
    }
    // The interval that was added.
    const Interval& kernel(uint64_t stream, uint64_t time, uint32_t threads = 1024,
                           int device = 0) {
        machine::LaunchInfo launch;
        launch.kernel = "k";
        launch.grid = {threads / 32, 1, 1};
        launch.block = {32, 1, 1};
        launch.stream = stream;
        launch.device = device;
        timeline.on_launch_begin(launch);
        machine::LaunchSummary summary;
        summary.busiest_warp_instructions = time;
        timeline.on_launch_end(launch, summary);
        return timeline.intervals().back();
    }
    const Interval& copy(uint64_t stream, HostAccess::Kind kind, uint64_t bytes,
                         bool from_pinned = true, bool continued = false) {
        HostAccess access{};
        access.kind = kind;
        access.api = "cudaMemcpyAsync";
        access.allocation = &array;
        access.bytes = bytes;
        access.stream = stream;
        access.ordering = HostAccess::Ordering::kAsync;
        access.pinned = from_pinned ? &pinned : nullptr;
        access.continued = continued;
        timeline.on_host_access(access);
        return timeline.intervals().back();
    }
    void order(OrderEvent::Kind kind, uint64_t stream = 0, uint64_t event = 0,
               bool non_blocking = false) {
        timeline.on_order({kind, stream, event, non_blocking, 0});
    }
    uint64_t host() const { return timeline.host_time(); }
};

}  // namespace

TEST_CASE("timeline: a wait has the place of the call that waits", "[checks][timeline]") {
    Program p;
    const auto place_of_last = [&] {
        const Interval& last = p.timeline.intervals().back();
        REQUIRE(last.kind == Kind::kHostWait);
        return last.site;
    };
    p.kernel(1, 100);
    p.timeline.on_order({OrderEvent::Kind::kStreamSync, 1, 0, false, 0, 7});
    CHECK(place_of_last() == 7);
    p.kernel(1, 100);
    p.timeline.on_order({OrderEvent::Kind::kDeviceSync, 0, 0, false, 0, 8});
    CHECK(place_of_last() == 8);
    p.kernel(1, 100);
    p.order(OrderEvent::Kind::kEventRecord, 1, 5);
    p.timeline.on_order({OrderEvent::Kind::kEventSync, 1, 5, false, 0, 9});
    CHECK(place_of_last() == 9);
    p.kernel(1, 100);
    machine::Allocation freed;
    freed.freed_at = 10;
    p.timeline.on_free(freed);
    CHECK(place_of_last() == 10);
}

TEST_CASE("timeline: work of one stream runs one after the other", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    const Interval up = p.copy(1, HostAccess::Kind::kWrite, 100);
    CHECK(up.kind == Kind::kToDevice);
    CHECK(up.begin == 10);
    CHECK(up.end == 110);
    const Interval k = p.kernel(1, 40);
    CHECK(k.begin == 110);
    CHECK(k.end == 150);
    const Interval down = p.copy(1, HostAccess::Kind::kRead, 100);
    CHECK(down.kind == Kind::kToHost);
    CHECK(down.begin == 150);
    CHECK(p.host() == 30);  // three calls: it has not waited
}

TEST_CASE("timeline: copies in both directions and kernels of two streams overlap",
          "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kStreamCreate, 2);
    const Interval first = p.copy(1, HostAccess::Kind::kWrite, 200);
    const Interval second = p.copy(2, HostAccess::Kind::kWrite, 200);
    CHECK(second.begin == first.end);  // one engine for each direction
    const Interval k = p.kernel(1, 100);
    CHECK(k.begin == first.end);
    CHECK(k.begin < second.end);
    const Interval down = p.copy(1, HostAccess::Kind::kRead, 50);
    CHECK(down.begin == k.end);
    CHECK(down.begin < second.end);
}

TEST_CASE("timeline: kernels run side by side while their threads fit", "[checks][timeline]") {
    Program p;
    for (uint64_t s = 1; s <= 3; ++s) p.order(OrderEvent::Kind::kStreamCreate, s);
    const Interval a = p.kernel(1, 500, 512);
    const Interval b = p.kernel(2, 300, 512);
    CHECK(b.begin == 20);
    CHECK(b.begin < a.end);
    const Interval c = p.kernel(3, 100, 512);
    CHECK(c.begin == b.end);  // the first that ends makes room
}

TEST_CASE("timeline: a later kernel that is ready takes the place of one that waits",
          "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kStreamCreate, 2);
    p.copy(1, HostAccess::Kind::kWrite, 1000);
    const Interval late = p.kernel(1, 100);
    const Interval early = p.kernel(2, 100);
    CHECK(late.begin == 1010);
    CHECK(early.begin == 30);
}

TEST_CASE("timeline: the host waits for copies from and to pageable memory", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    const Interval up = p.copy(1, HostAccess::Kind::kWrite, 100, false);
    CHECK(up.pageable);
    CHECK(up.end - up.begin == 400);
    CHECK(p.host() == up.end);
    REQUIRE(p.timeline.intervals().size() == 2);
    CHECK(p.timeline.intervals()[0].kind == Kind::kHostWait);
}

TEST_CASE("timeline: the default stream waits for blocking streams, and they for it",
          "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kStreamCreate, 2, 0, true);
    const Interval other = p.kernel(1, 100, 32);
    const Interval legacy = p.kernel(0, 100, 32);
    CHECK(legacy.begin == other.end);
    CHECK(p.kernel(1, 100, 32).begin == legacy.end);
    CHECK(p.kernel(2, 100, 32).begin == 40);  // it does not block
}

TEST_CASE("timeline: an event holds back the stream that waits for it", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kStreamCreate, 2);
    const Interval a = p.kernel(1, 500, 32);
    p.order(OrderEvent::Kind::kEventRecord, 1, 7);
    p.kernel(1, 500, 32);  // after the event
    p.order(OrderEvent::Kind::kStreamWaitEvent, 2, 7);
    CHECK(p.kernel(2, 10, 32).begin == a.end);
    p.order(OrderEvent::Kind::kEventSync, 1, 7);
    CHECK(p.host() == a.end);
}

TEST_CASE("timeline: the host waits for a stream, or for all of a device", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kStreamCreate, 2);
    const Interval a = p.kernel(1, 100, 32);
    const Interval b = p.kernel(2, 900, 32);
    p.kernel(0, 5000, 32, 1);  // on another device
    p.order(OrderEvent::Kind::kStreamSync, 1);
    CHECK(p.host() == a.end);
    p.order(OrderEvent::Kind::kDeviceSync);
    CHECK(p.host() == b.end);
    CHECK(p.timeline.intervals().back().kind == Kind::kHostWait);
    p.order(OrderEvent::Kind::kDeviceSync);  // nothing is left to wait for
    CHECK(p.host() == b.end);
}

TEST_CASE("timeline: cudaFree waits for the device, memory of a pool does not",
          "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    const Interval k = p.kernel(1, 500);
    machine::Allocation freed;
    freed.freed_at = 1;
    freed.of_pool = true;
    p.timeline.on_free(freed);
    CHECK(p.host() == 10);
    freed.of_pool = false;
    p.timeline.on_free(freed);
    CHECK(p.host() == k.end);
}

TEST_CASE("timeline: work reaches an idle device after a while, and starts one at a time",
          "[checks][timeline]") {
    checks::TimelineModel slow = model();
    slow.arrival = 1000, slow.start = 7;
    Program p;
    p.timeline = checks::Timeline(slow);
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    const Interval a = p.kernel(1, 100);
    CHECK(a.begin == 1010);
    CHECK(a.end == 1117);
    CHECK(p.kernel(1, 100).begin == a.end);  // it arrived in time
}

TEST_CASE("timeline: a graph costs the host one launch", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.order(OrderEvent::Kind::kGraphBegin, 1);
    CHECK(p.kernel(1, 5).begin == 50);
    CHECK(p.kernel(1, 5).begin == 55);
    p.order(OrderEvent::Kind::kGraphEnd, 1);
    CHECK(p.host() == 50);
    p.kernel(1, 5);
    CHECK(p.host() == 60);
}

TEST_CASE("timeline: rows of one copy are one interval", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.copy(1, HostAccess::Kind::kWrite, 100);
    p.copy(1, HostAccess::Kind::kWrite, 100, true, true);
    REQUIRE(p.timeline.intervals().size() == 1);
    CHECK(p.timeline.intervals()[0].bytes == 200);
    CHECK(p.timeline.intervals()[0].end == 210);
    CHECK(p.kernel(1, 1).begin == 210);
    const Interval slow = p.copy(1, HostAccess::Kind::kRead, 10, false);
    CHECK(p.host() == slow.end);
    p.copy(1, HostAccess::Kind::kRead, 10, false, true);
    CHECK(p.host() == slow.end + 40);
}

TEST_CASE("timeline: starting again begins at 0 with idle streams", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 2, 0, true);
    p.kernel(2, 1000);
    p.order(OrderEvent::Kind::kStreamSync, 2);
    p.timeline.start();
    CHECK(p.host() == 0);
    CHECK(p.timeline.intervals().empty());
    p.kernel(0, 1000, 32);
    CHECK(p.kernel(2, 10, 32).begin == 20);  // still not a blocking stream
}

TEST_CASE("timeline: bytes, instructions or the busiest warp decide how long a kernel takes",
          "[checks][timeline]") {
    Program p;
    machine::LaunchInfo launch;
    const auto length = [&](uint64_t warps, uint64_t busiest) {
        p.timeline.on_launch_begin(launch);
        machine::LaunchSummary summary;
        summary.warp_instructions = warps;
        summary.busiest_warp_instructions = busiest;
        p.timeline.on_launch_end(launch, summary);
        const Interval& k = p.timeline.intervals().back();
        return k.end - k.begin;
    };
    CHECK(length(300, 100) == 300);
    CHECK(length(300, 400) == 400);
}

TEST_CASE("timeline: as a trace for Perfetto", "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 3);
    p.kernel(3, 1234);
    p.order(OrderEvent::Kind::kStreamSync, 3);
    const std::string text = p.timeline.chrome_trace();
    CHECK(text.find(R"({"name": "k", "cat": "kernel", "ph": "X", "ts": 0.010, "dur": 1.234, )"
                    R"("pid": 0, "tid": 4, "args": {"bytes": 0}})") != std::string::npos);
    CHECK(text.find(R"("args": {"name": "stream 3"})") != std::string::npos);
    CHECK(text.find(R"("args": {"name": "host"})") != std::string::npos);
}

TEST_CASE("timeline: the parts of a collective end together, after the last has begun",
          "[checks][timeline]") {
    Program p;
    p.order(OrderEvent::Kind::kStreamCreate, 1);
    p.timeline.on_order({OrderEvent::Kind::kStreamCreate, 2, 0, false, 1});
    p.kernel(1, 1000);
    OrderEvent begin{OrderEvent::Kind::kCollectiveBegin};
    begin.bytes = 100, begin.steps = 4;
    p.timeline.on_order(begin);
    p.kernel(1, 0);
    p.kernel(2, 0, 1024, 1);
    p.timeline.on_order({OrderEvent::Kind::kCollectiveEnd});
    const auto& all = p.timeline.intervals();
    REQUIRE(all.size() == 3);
    CHECK(all[1].begin == all[0].end);
    CHECK(all[2].begin == 30);  // its device is idle: it begins, and waits for the other
    CHECK(all[1].end == all[1].begin + 100 * 2 + 4 * 5);
    CHECK(all[2].end == all[1].end);
    CHECK(p.kernel(2, 10, 1024, 1).begin == all[1].end);
}

TEST_CASE("timeline: streams that meet in a collective cost the host nothing",
          "[checks][timeline]") {
    Program p;
    OrderEvent record{OrderEvent::Kind::kEventRecord};
    record.within_collective = true;
    p.timeline.on_order(record);
    CHECK(p.host() == 0);
}

TEST_CASE("timeline: copies between devices share the sender's link", "[checks][timeline]") {
    Program p;
    for (uint64_t s = 1; s <= 2; ++s) p.order(OrderEvent::Kind::kStreamCreate, s);
    machine::Allocation there;
    there.bytes = 1 << 20;
    there.device = 1;
    const auto copy = [&](uint64_t stream, machine::Allocation& to, machine::Allocation& from) {
        HostAccess access{};
        access.kind = HostAccess::Kind::kCopy;
        access.api = "cudaMemcpyPeerAsync";
        access.allocation = &to;
        access.source = &from;
        access.bytes = 100;
        access.stream = stream;
        access.ordering = HostAccess::Ordering::kAsync;
        p.timeline.on_host_access(access);
        return p.timeline.intervals().back();
    };
    const Interval one = copy(1, there, p.array);
    CHECK(one.end - one.begin == 200);
    CHECK(copy(2, there, p.array).begin == one.end);
    CHECK(copy(3, p.array, there).begin < one.end);  // the other direction
    // In the order of the calls: a copy that waits for its stream holds up the next one.
    const Interval before = p.kernel(1, 1000, 32);
    const Interval late = copy(1, there, p.array);
    CHECK(late.begin == before.end);
    CHECK(copy(2, there, p.array).begin == late.end);
}

TEST_CASE("timeline: a kernel reads and writes other devices' memory over the link",
          "[checks][timeline]") {
    Program p;
    machine::Allocation there, pinned;
    there.device = 1;
    pinned.device = 1;
    pinned.kind = machine::MemoryKind::kPinned;
    const auto time_of = [&](const machine::Allocation& memory, int device) {
        machine::LaunchInfo launch;
        launch.kernel = "k";
        launch.grid = launch.block = {1, 1, 1};
        launch.stream = 1;
        launch.device = device;
        p.timeline.on_launch_begin(launch);
        uint64_t address[32] = {0x1000};
        machine::AccessEvent access{};
        access.space = ptx::Space::kGlobal;
        access.bytes = 4;
        access.mask = 1;
        access.address = address;
        access.allocation = &memory;
        p.timeline.on_access(access);
        p.timeline.on_access_run(access, 32, 9);
        p.timeline.on_launch_end(launch, {});
        const Interval& kernel = p.timeline.intervals().back();
        return kernel.end - kernel.begin;
    };
    CHECK(time_of(there, 1) == 10 * 32 / 2);
    CHECK(time_of(there, 0) == 10 * 32 * 2);
    CHECK(time_of(pinned, 0) == 10 * 32 / 2);
}

TEST_CASE("timeline: default streams of two devices wait for a copy between them",
          "[checks][timeline]") {
    Program p;
    machine::Allocation there;
    there.bytes = 1 << 20;
    there.device = 1;
    const Interval before = p.kernel(0, 500, 1024, 0);
    HostAccess access{};
    access.kind = HostAccess::Kind::kCopy;
    access.api = "cudaMemcpyPeer";
    access.allocation = &there;
    access.source = &p.array;
    access.bytes = 100;
    access.ordering = HostAccess::Ordering::kBlocking;
    p.timeline.on_host_access(access);
    const Interval copy = p.timeline.intervals().back();
    CHECK(copy.begin == before.end);
    CHECK(p.kernel(0, 1, 1024, 0).begin == copy.end);
    CHECK(p.kernel(0, 1, 1024, 1).begin == copy.end);
}
