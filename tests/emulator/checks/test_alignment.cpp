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

TEST_CASE("misaligned: lanes that disagree about a matrix", "[checks][alignment]") {
    bench::Bench bench;
    checks::Alignment alignment(bench.report, bench.memory);
    const auto& data = bench.device_array(4096);
    bench.pass_pointer(data.address);
    auto event = bench.access(
        bench.site(7),
        Space::kGlobal,
        AccessKind::kLoad,
        2,
        [&](uint32_t lane) { return data.address + 32 * lane; },
        machine::kAllLanes,
        2);
    machine::MisplacedMatrix matrix{16, 16, false, 32, 32, 16};
    matrix.strayed = event.misaligned_lanes = ~1u;
    matrix.first_address = data.address;
    matrix.first_stride = 32;
    event.misplaced = &matrix;
    SECTION("by their addresses") {
        alignment.on_access(event);
        CHECK(bench.only().count == 31);
        CHECK(bench.only().message.find("but lane 1 gives another address than lane 0") !=
              std::string::npos);
        CHECK(bench.only().notes[0] == "it is 32 bytes after that of lane 0");
        CHECK(bench.only().facts.text().find("lanes-differ") != std::string::npos);
    }
    SECTION("by their leading dimensions") {
        matrix.first_address = data.address + 32;
        matrix.first_stride = 48;
        alignment.on_access(event);
        CHECK(bench.only().message.find("another leading dimension than lane 0") !=
              std::string::npos);
        CHECK(bench.only().notes[0] == "they are 16 and 24 elements of 2 bytes");
    }
}

TEST_CASE("misaligned: a matrix at a wrong address", "[checks][alignment]") {
    bench::Bench bench;
    checks::Alignment alignment(bench.report, bench.memory);
    const auto& data = bench.device_array(4096);
    bench.pass_pointer(data.address);
    auto event = bench.access(
        bench.site(7),
        Space::kGlobal,
        AccessKind::kLoad,
        2,
        [&](uint32_t) { return data.address + 4; },
        machine::kAllLanes,
        2);
    const machine::MisplacedMatrix matrix{16, 16, false, 32, 32, 16};
    event.misaligned_lanes = machine::kAllLanes;
    event.misplaced = &matrix;
    alignment.on_access(event);
    CHECK(bench.only().message.find("but its address is no multiple of 32 bytes") !=
          std::string::npos);
    CHECK(bench.only().notes[0].find("is 4 past a multiple of 32") != std::string::npos);
}
