// SPDX-License-Identifier: MIT
#include "bench.h"
#include "checks/memory/alignment.h"

using machine::AccessKind;
using ptx::Space;

TEST_CASE("misaligned: a float array read as float4 from element 1", "[checks][alignment]") {
    bench::Bench bench;
    checks::Alignment alignment(bench.report, bench.memory);
    const auto& data = bench.device_array(4096);
    bench.pass_pointer(data.address);
    const auto event = bench.access(
        bench.site(7),
        Space::kGlobal,
        AccessKind::kLoad,
        16,
        [&](uint32_t lane) { return data.address + 4 + 16 * lane; },
        machine::kAllLanes,
        4);
    alignment.on_access(event);
    CHECK(bench.only().code == "misaligned");
    CHECK(bench.only().count == 32);
    CHECK(bench.only().message.find("no multiple of 16") != std::string::npos);
}

TEST_CASE("misaligned: an aligned access and a bad one are not its business",
          "[checks][alignment]") {
    bench::Bench bench;
    checks::Alignment alignment(bench.report, bench.memory);
    const auto& data = bench.device_array(4096);
    const auto site = bench.site(7);
    alignment.on_access(
        bench.access(site, Space::kGlobal, AccessKind::kLoad, 16, [&](uint32_t lane) {
            return data.address + 16 * lane;
        }));
    alignment.on_access(
        bench.access(site, Space::kGlobal, AccessKind::kLoad, 16, [&](uint32_t lane) {
            return data.address + 4097 + 16 * lane;
        }));
    CHECK(bench.report.findings().empty());
}
