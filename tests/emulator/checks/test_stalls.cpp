// SPDX-License-Identifier: MIT
// Deadlocks and hangs say who waits where.
#include "bench.h"
#include "checks/execution/stalls.h"

using bench::Bench;
using machine::StallEvent;
using machine::Waiter;
using machine::WaitReason;

namespace {

struct StallBench : Bench {
    StallBench() : Bench(64), stalls(report) {}
    void stall(StallEvent::Kind kind, uint64_t exited = 0,
               const machine::Allocation* polled = nullptr) {
        stalls.on_stall({kind, &launch, waiters, exited, 1000000, false, polled});
    }
    checks::Stalls stalls;
    std::vector<Waiter> waiters;
};

}  // namespace

TEST_CASE("deadlock: a barrier that half a block never reaches", "[checks][stalls]") {
    StallBench bench;
    bench.waiters = {
        {&bench.block, 1, machine::kAllLanes, bench.site(20), WaitReason::kWarpSync, 0, 0xffffffff},
        {&bench.block, 0, machine::kAllLanes, bench.site(12), WaitReason::kBarrier, 0, 0}};
    bench.stall(StallEvent::Kind::kDeadlock);
    const auto& finding = bench.only();
    CHECK(finding.code == "deadlock");
    CHECK(finding.place.line == 12);
    CHECK(finding.message ==
          "the kernel cannot go on: 32 threads wait at the barrier on line 12 and 32 threads wait "
          "for the lanes named in the mask 0xffffffff on line 20");
    CHECK(finding.other->line == 20);
    CHECK(finding.other->thread == machine::Dim3{32, 0, 0});
    CHECK(finding.notes[0] ==
          "32 threads wait at the barrier on line 12: (0,0,0) to (31,0,0) of block (0,0,0)");
}

TEST_CASE("hang: the loop is reported, not the threads that wait for it", "[checks][stalls]") {
    StallBench bench;
    bench.waiters = {
        {&bench.block, 0, machine::kAllLanes, bench.site(12), WaitReason::kBarrier, 0, 0},
        {&bench.block, 1, 0x1, bench.site(20), WaitReason::kRunning, 0, 0},
        {&bench.block, 1, 0xfe, bench.site(25), WaitReason::kReconvergence, 0, 0}};
    bench.stall(StallEvent::Kind::kBudget, 24);
    CHECK(bench.only().code == "hang");
    CHECK(bench.only().place.line == 20);
    CHECK(bench.only().place.thread == machine::Dim3{32, 0, 0});
    CHECK(bench.only().message ==
          "the kernel does not finish: 1 thread is on line 20, "
          "32 threads wait at the barrier on line 12, 7 threads wait for the rest of the warp on "
          "line 25 and 24 threads have returned");
}

TEST_CASE("hang: blocks that wait on one line are one crowd, the first is shown",
          "[checks][stalls]") {
    StallBench bench;
    const auto site = bench.site(20);
    machine::BlockInfo first = bench.block, second = bench.block, third = bench.block;
    second.serial = 1002, second.linear = 1, second.index = {1, 0, 0};
    third.serial = 1003, third.linear = 2, third.index = {2, 0, 0};
    for (const auto* block : {&third, &first, &second}) {
        bench.waiters.push_back({block, 0, machine::kAllLanes, site, WaitReason::kRunning, 0, 0});
        bench.waiters.push_back({block, 1, machine::kAllLanes, site, WaitReason::kRunning, 0, 0});
    }
    bench.stall(StallEvent::Kind::kBudget);
    CHECK(bench.only().place.block == machine::Dim3{0, 0, 0});
    CHECK(bench.only().notes[1] == "192 threads are on line 20: (0,0,0) to (63,0,0) of block "
                                   "(0,0,0) and more in 2 other blocks");
}

TEST_CASE("deadlock: no thread left to name", "[checks][stalls]") {
    StallBench bench;
    bench.stall(StallEvent::Kind::kDeadlock, 64);
    CHECK(bench.only().code == "deadlock");
}

TEST_CASE("hang: a loop of a graph, and no other word of the runtime", "[checks][stalls]") {
    StallBench bench;
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kUnsupported;
    bench.stalls.on_api(event);
    CHECK(bench.report.findings().empty());
    event.kind = machine::ApiEvent::Kind::kEndless;
    event.message = "it goes on";
    bench.stalls.on_api(event);
    CHECK(bench.only().code == "hang");
    CHECK(bench.only().message == "it goes on");
}

TEST_CASE("hang: what could end a wait on a card, but not here", "[checks][stalls]") {
    StallBench bench;
    const auto [kind, text] = GENERATE(table<machine::MemoryKind, std::string>(
        {{machine::MemoryKind::kDevice, "no kernel in another stream can end the wait"},
         {machine::MemoryKind::kManaged, "the host cannot end the wait"}}));
    bench.launch.stream = 3;
    bench.waiters = {{&bench.block, 1, 0x1, bench.site(20), WaitReason::kRunning, 0, 0}};
    bench.stall(StallEvent::Kind::kBudget, 0, bench.memory.allocate(kind, 64, 0, 5));
    CHECK(bench.only().notes[1].find(text) != std::string::npos);
}

TEST_CASE("hang: what another process could end", "[checks][stalls]") {
    StallBench bench;
    bench.waiters = {{&bench.block, 1, 0x1, bench.site(20), WaitReason::kRunning, 0, 0}};
    auto& polled = bench.device_array(64, 5);
    REQUIRE(bench.memory.share(polled, 1, "test"));
    bench.stall(StallEvent::Kind::kBudget, 0, &polled);
    CHECK(bench.only().notes[1] ==
          "it polls memory that another process can write too, and none has done so");
}

TEST_CASE("hang: facts for programs that read findings", "[checks][stalls]") {
    StallBench bench;
    bench.waiters = {
        {&bench.block, 0, machine::kAllLanes, bench.site(20), WaitReason::kRunning, 0, 0}};
    bench.stall(StallEvent::Kind::kBudget, 24);
    CHECK(bench.only().facts.text() ==
          "{\"budget\": 1000000, \"ended\": false, \"threads\": 32, \"returned\": 24}");
}

TEST_CASE("hang: the process was told to end", "[checks][stalls]") {
    StallBench bench;
    bench.waiters = {
        {&bench.block, 0, machine::kAllLanes, bench.site(20), WaitReason::kRunning, 0, 0}};
    bench.stalls.on_stall({StallEvent::Kind::kBudget,
                           &bench.launch,
                           bench.waiters,
                           0,
                           1000000,
                           false,
                           nullptr,
                           true});
    CHECK(bench.only().code == "hang");
    CHECK(bench.only().place.line == 20);
    CHECK(bench.only().notes[0] == "the program was told to end, and this is where the kernel was");
    CHECK(bench.only().facts.text() ==
          "{\"budget\": 0, \"ended\": true, \"threads\": 32, \"returned\": 0}");
}
