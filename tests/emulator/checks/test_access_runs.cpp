// SPDX-License-Identifier: MIT
// Loads and stores that a lane makes alone reach the checkers many at a time. The findings and
// counters must be those of one at a time: random walks through memory by one lane of each warp.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch/catch.h"
#include "checks/checks.h"
#include "checks/record/counters.h"
#include "checks/report/report.h"
#include "machine/machine.h"

namespace {

constexpr uint32_t kWalks = 6, kBlocks = 3, kWarps = 2, kBytes = 2048, kLaunches = 2;

// One walk: `count` accesses, `step` bytes apart from `base` on.
struct Walk {
    uint32_t base, count;
    int32_t step;
    uint32_t kind;  // 0 and 1: load and store in global memory, 2 and 3: in shared, 4: a barrier
};

std::string loop(uint32_t kind, const std::string& access) {
    const std::string n = std::to_string(kind);
    return "K" + n + ": setp.ge.u32 %p2, %i, %count;\n@%p2 bra NEXT;\n.loc 1 " +
           std::to_string(10 * kind + 10) + " 0\n" + access + "\nadd.u32 %i, %i, 1;\n" +
           "add.s64 %global, %global, %step;\nadd.u32 %shared, %shared, %step32;\nbra K" + n +
           ";\n";
}

const std::string kText = R"(.version 8.0
.target sm_75
.address_size 64
.file 1 "walks.cu"
.visible .entry walk(.param .u64 p_data, .param .u64 p_walks, .param .u64 p_sums) {
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b64 %global, %step, %walk, %data;
.reg .b32 %i, %count, %shared, %step32, %kind, %left, %sum;
.shared .align 16 .b8 tile[2048];
mov.u32 %r1, %laneid; setp.ne.u32 %p1, %r1, 5; @%p1 bra END;
ld.param.u64 %data, [p_data]; ld.param.u64 %walk, [p_walks];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; shr.u32 %r3, %r3, 5;
mad.lo.u32 %r4, %r2, 2, %r3;
mad.wide.u32 %walk, %r4, )" +
                          std::to_string(kWalks * sizeof(Walk)) + R"(, %walk;
mov.u32 %left, )" + std::to_string(kWalks) +
                          R"(; mov.u32 %sum, 0;
AGAIN:
.loc 1 1 0
ld.global.u32 %r5, [%walk]; ld.global.u32 %count, [%walk+4];
ld.global.s32 %step32, [%walk+8]; ld.global.u32 %kind, [%walk+12];
cvt.s64.s32 %step, %step32; cvt.u64.u32 %rd1, %r5; add.s64 %global, %data, %rd1;
mov.u32 %shared, tile; add.u32 %shared, %shared, %r5; mov.u32 %i, 0;
setp.eq.u32 %p3, %kind, 0; @%p3 bra K0;
setp.eq.u32 %p3, %kind, 1; @%p3 bra K1;
setp.eq.u32 %p3, %kind, 2; @%p3 bra K2;
setp.eq.u32 %p3, %kind, 3; @%p3 bra K3;
.loc 1 50 0
bar.sync 0;
bra NEXT;
)" + loop(0, "ld.global.u32 %r6, [%global]; add.u32 %sum, %sum, %r6;") +
                          loop(1, "st.global.u32 [%global], %i;") +
                          loop(2, "ld.shared.u32 %r6, [%shared]; add.u32 %sum, %sum, %r6;") +
                          loop(3, "st.shared.u32 [%shared], %i;") + R"(NEXT:
add.u64 %walk, %walk, 16; sub.u32 %left, %left, 1;
setp.ne.u32 %p4, %left, 0; @%p4 bra AGAIN;
.loc 1 60 0
ld.param.u64 %rd2, [p_sums]; mad.wide.u32 %rd2, %r4, 4, %rd2; st.global.u32 [%rd2], %sum;
END: ret;
})";

// Accepts no runs.
struct Curious final : machine::Observer {};

struct Result {
    std::set<std::string> findings;
    checks::Counts counters{};
    std::vector<std::string> lines;
};

Result run(const std::vector<Walk>& walks, bool one_by_one) {
    checks::Report report;
    machine::Memory memory;
    machine::Observers observers;
    checks::Counters counters;
    counters.reset();
    Curious curious;
    std::vector<checks::Checker> checkers =
        checks::make_checkers(checks::select_checkers("all"), report, memory);
    for (const auto& checker : checkers) observers.add(checker.observer.get(), checker.interests);
    observers.add(&counters, checks::kCountersInterest);
    if (one_by_one) observers.add(&curious, machine::kGlobalAccess | machine::kSharedAccess);
    const auto machine = machine::Machine::create(memory, observers);

    const auto array = [&](uint64_t bytes, uint64_t written) {
        machine::Allocation* a = memory.allocate(machine::MemoryKind::kDevice, bytes, 0, 0);
        for (machine::Observer* o : observers.memory) o->on_alloc(*a);
        machine::HostAccess event{};
        event.kind = machine::HostAccess::Kind::kWrite;
        event.api = "cudaMemcpy";
        event.allocation = a;
        event.address = a->address;
        event.bytes = written;
        for (machine::Observer* o : observers.host)
            if (written) o->on_host_access(event);
        return a;
    };
    machine::Allocation* const data = array(kBytes, kBytes / 2);
    machine::Allocation* const table =
        array(walks.size() * sizeof(Walk), walks.size() * sizeof(Walk));
    machine::Allocation* const sums = array(4 * kBlocks * kWarps, 0);
    std::memcpy(table->host, walks.data(), walks.size() * sizeof(Walk));

    const auto module = machine->load(kText, "walks", 0);
    machine::LaunchRequest request;
    request.kernel = module->kernel("walk");
    REQUIRE(request.kernel);
    request.grid = {kBlocks, 1, 1};
    request.block = {32 * kWarps, 1, 1};
    const uint64_t pointers[] = {data->address, table->address, sums->address};
    request.arguments.resize(sizeof pointers);
    std::memcpy(request.arguments.data(), pointers, sizeof pointers);
    for (uint32_t k = 0; k < kLaunches; ++k) machine->launch(request);

    Result result;
    for (const checks::Finding& f : report.findings()) {
        std::string text = f.code + " line " + std::to_string(f.place.line);
        if (f.other) text += " with line " + std::to_string(f.other->line);
        result.findings.insert(text);
    }
    result.counters = counters.totals();
    for (const auto& row : counters.lines())
        result.lines.push_back(std::to_string(row.line) + " " + std::to_string(row.requests) + " " +
                               std::to_string(row.sectors) + " " + std::to_string(row.wavefronts) +
                               " " + std::to_string(row.conflicts) + " " +
                               std::to_string(row.bytes) + " " +
                               std::to_string(row.thread_instructions));
    return result;
}

// Walks of all warps. The warps of a group keep to a part of the memory, so that some races, and
// not all, take place.
std::vector<Walk> random_walks(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    const uint32_t parts = 1 + below(8);
    std::vector<Walk> walks;
    for (uint32_t warp = 0; warp < kBlocks * kWarps; ++warp) {
        for (uint32_t k = 0; k < kWalks; ++k) {
            Walk walk{};
            walk.kind = below(5);
            constexpr int32_t kSteps[] = {4, 4, 4, -4, 8, 16, 0, 32, 12, 100};
            walk.step = kSteps[below(10)];
            walk.count = below(2) ? 1 + below(8) : 1 + below(120);
            const uint32_t size = kBytes / parts, begin = (warp % parts) * size;
            walk.base = begin + below(size / 4) * 4;
            // Most stay in bounds.
            while (below(16) &&
                   (int64_t(walk.base) + int64_t(walk.step) * walk.count < 0 ||
                    int64_t(walk.base) + int64_t(walk.step) * walk.count > int64_t(begin + size)))
                walk.count = walk.count / 2 + (walk.count == 0);
            walks.push_back(walk);
        }
    }
    return walks;
}

}  // namespace

TEST_CASE("runs: findings and counters are those of single accesses", "[checks][runs][slow]") {
    std::map<std::string, size_t> seen;  // runs by code
    for (uint32_t seed = 1; seed <= 400; ++seed) {
        INFO("seed " << seed);
        const std::vector<Walk> walks = random_walks(seed);
        const Result single = run(walks, true), together = run(walks, false);
        CHECK(together.findings == single.findings);
        CHECK(together.lines == single.lines);
        CHECK(std::memcmp(&together.counters, &single.counters, sizeof single.counters) == 0);
        std::set<std::string> codes;
        for (const std::string& finding : single.findings)
            codes.insert(finding.substr(0, finding.find(' ')));
        for (const std::string& code : codes) ++seen[code];
    }
    for (const char* code : {"race-global",
                             "race-shared",
                             "uninitialized-global",
                             "uninitialized-shared",
                             "out-of-bounds-global",
                             "out-of-bounds-shared"}) {
        INFO(code << " in " << seen[code] << " of 400 runs");
        CHECK(seen[code] > 20);
        CHECK(seen[code] < 400);
    }
}
