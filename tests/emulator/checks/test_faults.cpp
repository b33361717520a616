// SPDX-License-Identifier: MIT
// Kernels that stop themselves.
#include "bench.h"
#include "checks/execution/faults.h"
#include "checks/memory/bounds.h"

using bench::Bench;
using machine::FaultEvent;
using machine::FaultKind;

TEST_CASE("assert: condition, place and threads", "[checks][faults]") {
    Bench bench;
    checks::Faults faults(bench.report);
    const auto site = bench.site(30, "call.uni");
    faults.on_fault(
        {FaultKind::kAssert, &bench.warp, site, 0xf0, "x > 0", "/src/kernel.cu", 31, "kernel"});
    bench.enter_warp(1);
    faults.on_fault(
        {FaultKind::kAssert, &bench.warp, site, 0x1, "x > 0", "/src/kernel.cu", 31, "kernel"});
    const auto& finding = bench.only();
    CHECK(finding.code == "assert");
    CHECK(finding.message == "assertion `x > 0` failed");
    CHECK(finding.place.line == 31);
    CHECK(finding.place.thread == machine::Dim3{4, 0, 0});
    CHECK(finding.count == 5);
}

TEST_CASE("faults: a grid barrier without a cooperative launch", "[checks][faults]") {
    Bench bench;
    checks::Faults faults(bench.report);
    FaultEvent event{FaultKind::kTrap, &bench.warp, bench.site(30, "call.uni"), 0x1};
    event.without_grid = true;
    SECTION("a toolkit's function stops the kernel") {
        faults.on_fault(event);
        CHECK(bench.only().code == "invalid-launch");
        CHECK(bench.only().message.find("not launched cooperatively") != std::string::npos);
    }
    SECTION("the student's own line does") {
        event.site = bench.site(30, "trap");
        faults.on_fault(event);
        CHECK(bench.only().code == "assert");
    }
    SECTION("the launch never asked for its grid") {
        event.without_grid = false;
        faults.on_fault(event);
        CHECK(bench.only().code == "assert");
    }
}

TEST_CASE("faults: other reasons that stop a kernel are reported", "[checks][faults]") {
    Bench bench;
    checks::Faults faults(bench.report);
    faults.on_fault({FaultKind::kTrap,
                     &bench.warp,
                     bench.site(30, "bar.sync"),
                     0x1,
                     "barrier 16 does not exist"});
    CHECK(bench.only().message == "barrier 16 does not exist");
}

TEST_CASE("faults: each kind has its code", "[checks][faults]") {
    const auto [kind, code] =
        GENERATE(table<FaultKind, std::string>({{FaultKind::kTrap, "assert"},
                                                {FaultKind::kStackOverflow, "stack-overflow"},
                                                {FaultKind::kBadFree, "double-free"},
                                                {FaultKind::kBadCall, "invalid-address"}}));
    Bench bench;
    checks::Faults faults(bench.report);
    faults.on_fault({kind, &bench.warp, bench.site(30), 0x1, "", "", 0, ""});
    CHECK(bench.only().code == code);
    CHECK(bench.only().place.line == 30);
}

TEST_CASE("faults: a second free in a kernel names the first one", "[checks][faults]") {
    Bench bench;
    checks::Faults faults(bench.report);
    faults.on_fault({FaultKind::kBadFree,
                     &bench.warp,
                     bench.site(30),
                     0x1,
                     "`free` frees an array that has already been freed",
                     "",
                     0,
                     "",
                     bench.site(28)});
    CHECK(bench.only().message == "`free` frees an array that has already been freed");
    REQUIRE(bench.only().other);
    CHECK(bench.only().other->line == 28);
    CHECK(bench.only().notes.empty());
}

TEST_CASE("faults: a full heap is no finding, but the use of its null pointer names it",
          "[checks][faults]") {
    Bench bench;
    checks::Faults faults(bench.report);
    checks::Bounds bounds(bench.report, bench.memory);
    const FaultEvent full{
        FaultKind::kHeapExhausted, &bench.warp, bench.site(30), 0x1, "", "", 0, ""};
    faults.on_fault(full);
    bounds.on_fault(full);
    CHECK(bench.report.findings().empty());
    bounds.on_access(bench.access(
        bench.site(31),
        ptx::Space::kNone,
        machine::AccessKind::kStore,
        4,
        [](uint32_t) { return 0; },
        1));
    CHECK(bench.only().message == "4 bytes are written through a null pointer");
    CHECK(bench.only().notes.at(0).find("device heap is full") != std::string::npos);
}
