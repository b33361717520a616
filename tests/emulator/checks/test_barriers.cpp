// SPDX-License-Identifier: MIT
// Barriers that threads did not reach together, and those that are fine.
#include "bench.h"
#include "checks/execution/barriers.h"

using bench::Bench;
using machine::Arrival;
using machine::SiteId;

namespace {

struct BarrierBench : Bench {
    explicit BarrierBench(uint32_t threads = 256) : Bench(threads), barriers(report) {
        exited.assign(block.warps, 0);
        exit_sites.assign(block.warps, 0);
    }
    void arrive(uint32_t warp, uint32_t mask, SiteId site, bool only = false) {
        arrivals.push_back({warp, mask, site, only});
    }
    void complete(uint32_t expected = 0, bool aligned = true) {
        machine::BarrierEvent event{
            &block, expected ? 1u : 0u, expected, aligned, arrivals, exited, exit_sites};
        barriers.on_block_barrier(event);
        arrivals.clear();
    }
    void all_arrive(SiteId site) {
        for (uint32_t warp = 0; warp < block.warps; ++warp) {
            enter_warp(warp);
            if (this->warp.valid & ~exited[warp])
                arrive(warp, this->warp.valid & ~exited[warp], site);
        }
    }
    checks::Barriers barriers;
    std::vector<Arrival> arrivals;
    std::vector<uint32_t> exited;
    std::vector<SiteId> exit_sites;
};

}  // namespace

TEST_CASE("barrier: everybody on one line is fine, also in a short last warp",
          "[checks][barriers]") {
    BarrierBench bench(GENERATE(1u, 32u, 100u, 256u));
    bench.all_arrive(bench.site(12));
    bench.complete();
    CHECK(bench.report.findings().empty());
}

TEST_CASE("barrier: the compiler's copies of one line are one barrier", "[checks][barriers]") {
    BarrierBench bench(64);
    bench.arrive(0, 0x0000ffff, bench.site(12));
    bench.arrive(0, 0xffff0000, bench.site(12));
    bench.arrive(1, machine::kAllLanes, bench.site(12));
    bench.complete();
    CHECK(bench.report.findings().empty());
}

TEST_CASE("barrier: lanes of one warp on two lines", "[checks][barriers]") {
    BarrierBench bench(32);
    const SiteId first = bench.site(21), second = bench.site(27);
    for (int round = 0; round < 3; ++round) {
        bench.arrive(0, 0xffff0000, second);
        bench.arrive(0, 0x0000ffff, first);
        bench.complete();
    }
    const auto& finding = bench.only();
    CHECK(finding.code == "barrier-divergence");
    CHECK(finding.severity == checks::Severity::kError);
    CHECK(finding.message ==
          "threads of one warp wait at different barriers: threads (0,0,0) to (15,0,0) at line 21 "
          "and threads (16,0,0) to (31,0,0) at line 27");
    CHECK(finding.place.line == 21);
    CHECK(finding.other->line == 27);
    CHECK(finding.other->thread == machine::Dim3{16, 0, 0});
    CHECK(finding.count == 3);
}

TEST_CASE("barrier: warps of one block on two lines", "[checks][barriers]") {
    BarrierBench bench(256);
    const SiteId first = bench.site(21), second = bench.site(27);
    for (uint32_t warp = 0; warp < 8; ++warp)
        bench.arrive(warp, machine::kAllLanes, warp < 4 ? first : second);
    bench.complete();
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(
        bench.only().message ==
        "threads of one block wait at different barriers: threads (0,0,0) to (127,0,0) at line 21 "
        "and threads (128,0,0) to (255,0,0) at line 27");
}

TEST_CASE("barrier: producers and consumers meet a counted barrier on their own lines",
          "[checks][barriers]") {
    BarrierBench bench(128);
    const SiteId arrive = bench.site(21, "bar.arrive"), wait = bench.site(27, "bar.sync");
    bench.arrive(0, machine::kAllLanes, arrive, true);
    bench.arrive(1, machine::kAllLanes, arrive, true);
    bench.arrive(2, machine::kAllLanes, wait);
    bench.arrive(3, machine::kAllLanes, wait);
    bench.complete(128);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("barrier: threads that left do not matter to a counted barrier", "[checks][barriers]") {
    BarrierBench bench(128);
    bench.exited[3] = machine::kAllLanes;
    bench.arrive(0, machine::kAllLanes, bench.site(21));
    bench.arrive(1, machine::kAllLanes, bench.site(21));
    bench.complete(64);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("barrier: lanes of one warp on two lines of a counted barrier", "[checks][barriers]") {
    BarrierBench bench(64);
    bench.arrive(0, 0x0000ffff, bench.site(21));
    bench.arrive(0, 0xffff0000, bench.site(27));
    bench.complete(32);
    CHECK(bench.report.findings().size() == 1);
}

TEST_CASE("barrier: a live part of a warp that does not arrive", "[checks][barriers]") {
    BarrierBench bench(64);
    const SiteId site = bench.site(21);
    bench.arrive(0, 0x0000ffff, site);
    bench.arrive(1, machine::kAllLanes, site);
    bench.complete(64);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message ==
          "only a part of a warp reached this barrier: threads (0,0,0) to (15,0,0), but not "
          "threads (16,0,0) to (31,0,0)");
}

TEST_CASE("barrier: without .aligned threads may arrive from any line", "[checks][barriers]") {
    BarrierBench bench(32);
    bench.arrive(0, 0x0000ffff, bench.site(21, "barrier.sync"));
    bench.arrive(0, 0xffff0000, bench.site(27, "barrier.sync"));
    bench.complete(0, false);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("barrier: threads that had returned are a warning, once for all barriers",
          "[checks][barriers]") {
    BarrierBench bench(256);
    const SiteId left = bench.site(12, "ret");
    bench.exited[6] = 0xffffff00;
    bench.exited[7] = machine::kAllLanes;
    bench.exit_sites[6] = bench.exit_sites[7] = left;
    const SiteId first = bench.site(16), second = bench.site(20);
    bench.all_arrive(first);
    bench.complete();
    bench.all_arrive(second);
    bench.complete();
    const auto& finding = bench.only();
    CHECK(finding.severity == checks::Severity::kWarning);
    CHECK(finding.message ==
          "barrier reached by 200 of 256 threads, the other 56 had returned on line 12");
    CHECK(finding.place.line == 16);
    CHECK(finding.other->line == 12);
    CHECK(finding.other->thread == machine::Dim3{200, 0, 0});
}

TEST_CASE("barrier: lanes beyond the block's end have not returned", "[checks][barriers]") {
    BarrierBench bench(40);
    bench.exited[1] = 0xffffff00;  // never existed
    bench.all_arrive(bench.site(16));
    bench.complete();
    CHECK(bench.report.findings().empty());
}
