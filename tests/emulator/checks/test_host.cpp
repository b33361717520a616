// SPDX-License-Identifier: MIT
// Findings of host calls: what the runtime reports, and what is left at the end.
#include "bench.h"
#include "checks/execution/api.h"
#include "checks/memory/lifetime.h"

using bench::Bench;
using machine::ApiEvent;
using machine::MemoryKind;

TEST_CASE("leak: one finding for each allocating line", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    for (int i = 0; i < 3; ++i) bench.device_array(1000, 21);
    bench.device_array(24, 22);
    bench.memory.release(bench.device_array(50, 23), 30);
    lifetime.on_process_end();
    REQUIRE(bench.report.findings().size() == 2);
    const auto& finding = bench.report.findings()[0];
    CHECK(finding.code == "leak");
    CHECK(finding.severity == checks::Severity::kWarning);
    CHECK(finding.message == "3000 bytes allocated here are never freed with `cudaFree`");
    CHECK(finding.place.line == 21);
    CHECK(finding.count == 3);
    CHECK(finding.notes.at(0) == "in 3 allocations");
}

TEST_CASE("leak: variables, registered memory, the library's own and that of graphs are no leak",
          "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    static char host[64];
    bench.memory.allocate(MemoryKind::kModule, 64, 0, 5);
    bench.memory.allocate(MemoryKind::kConst, 64, 0, 5);
    bench.memory.allocate(MemoryKind::kDevice, 64, 0, 0);
    bench.memory.allocate(MemoryKind::kManaged, 64, 0, 5)->name = "managed_variable";
    bench.memory.register_host(host, sizeof host, 5);
    bench.memory.allocate(MemoryKind::kDevice, 64, 0, 5)->of_graph = true;
    lifetime.on_process_end();
    CHECK(bench.report.findings().empty());
}

TEST_CASE("leak: the function to call fits the kind", "[checks][lifetime]") {
    const auto [kind, text] =
        GENERATE(table<MemoryKind, std::string>({{MemoryKind::kPinned, "`cudaFreeHost`"},
                                                 {MemoryKind::kManaged, "`cudaFree`"},
                                                 {MemoryKind::kHeap, "`free`"}}));
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    bench.memory.allocate(kind, 64, 0, 5);
    lifetime.on_process_end();
    CHECK(bench.only().message.find(text) != std::string::npos);
}

TEST_CASE("leak: of a kernel's malloc, the line in the kernel", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    const auto first = bench.site(40), second = bench.site(41);
    for (const auto site : {first, second, second})
        bench.memory.allocate(MemoryKind::kHeap, 64, 0, 0)->made_by = site;
    lifetime.on_process_end();
    REQUIRE(bench.report.findings().size() == 2);
    CHECK(bench.report.findings()[0].place.line == 40);
    CHECK(bench.report.findings()[1].place.line == 41);
    CHECK(bench.report.findings()[1].message ==
          "128 bytes from `malloc` in a kernel are never freed with `free`");
}

TEST_CASE("leak: after a kernel that was stopped nothing can be freed", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    bench.memory.allocate(MemoryKind::kDevice, 64, 0, 5);
    machine::LaunchSummary summary;
    const bool stopped = GENERATE(true, false);
    if (stopped) summary.status = machine::LaunchStatus::kIllegalAddress;
    lifetime.on_launch_end(bench.launch, summary);
    lifetime.on_process_end();
    CHECK(bench.report.findings().empty() == stopped);
}

TEST_CASE("leak: memory of another process is closed, not freed", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    bench.device_array(1000, 21).imported = true;
    lifetime.on_process_end();
    CHECK(bench.only().message == "1000 bytes of another process, opened here, are never closed "
                                  "with `cudaIpcCloseMemHandle`");
}

TEST_CASE("use-after-free: of memory that another process has open", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    auto& data = bench.device_array(1000, 21);
    ApiEvent event{};
    event.kind = ApiEvent::Kind::kEarlyFree;
    event.api = "cudaFree";
    event.allocation = &data;
    event.site = 40;
    event.other_site = 21;
    lifetime.on_api(event);
    CHECK(bench.only().code == "use-after-free");
    CHECK(bench.only().place.line == 40);
    CHECK(bench.only().notes.at(0) == "1000 bytes, allocated on line 21");
}

TEST_CASE("double-free: a pointer that was never allocated", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    ApiEvent event{};
    event.kind = ApiEvent::Kind::kInvalidFree;
    event.api = "cudaFree";
    event.message = "`cudaFree` gets an address that nothing has allocated";
    event.site = 40;
    lifetime.on_api(event);
    CHECK(bench.only().code == "double-free");
    CHECK(bench.only().place.line == 40);
}

TEST_CASE("double-free: names the first free", "[checks][lifetime]") {
    Bench bench;
    checks::Lifetime lifetime(bench.report, bench.memory);
    auto& data = bench.device_array(1000, 21);
    ApiEvent event{};
    event.kind = ApiEvent::Kind::kDoubleFree;
    event.api = "cudaFree";
    event.message = "`cudaFree` is given memory that is already free";
    event.address = data.address;
    event.allocation = &data;
    event.site = 40;
    event.other_site = 38;
    lifetime.on_api(event);
    CHECK(bench.only().code == "double-free");
    CHECK(bench.only().place.line == 40);
    CHECK(bench.only().other_text == "it was freed on line 38");
    CHECK(bench.only().notes.at(0) == "1000 bytes, allocated on line 21");
}

TEST_CASE("api: each kind has its code and severity", "[checks][api]") {
    using Kind = ApiEvent::Kind;
    const auto [kind, code, severity] = GENERATE(table<Kind, std::string, checks::Severity>(
        {{Kind::kInvalidLaunch, "invalid-launch", checks::Severity::kError},
         {Kind::kInvalidCopy, "invalid-copy", checks::Severity::kError},
         {Kind::kHostDereference, "host-dereference", checks::Severity::kError},
         {Kind::kUncheckedError, "unchecked-error", checks::Severity::kWarning}}));
    Bench bench;
    checks::Api api(bench.report);
    ApiEvent event{};
    event.kind = kind;
    event.api = "call";
    event.message = "what happened";
    event.site = 12;
    event.reason = ApiEvent::Reason::kEmptyGrid;
    api.on_api(event);
    CHECK(bench.only().facts.text() == "{\"reason\": \"empty-grid\"}");
    CHECK(bench.only().code == code);
    CHECK(bench.only().severity == severity);
    CHECK(bench.only().message == "what happened");
    CHECK(bench.only().place.line == 12);
}

TEST_CASE("api: frees and unsupported calls belong to other checkers", "[checks][api]") {
    Bench bench;
    checks::Api api(bench.report);
    ApiEvent event{};
    event.kind = GENERATE(
        ApiEvent::Kind::kDoubleFree, ApiEvent::Kind::kInvalidFree, ApiEvent::Kind::kUnsupported);
    event.message = "x";
    api.on_api(event);
    CHECK(bench.report.findings().empty());
}
