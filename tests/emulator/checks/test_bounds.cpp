// SPDX-License-Identifier: MIT
// The bounds checker, fed with the accesses that the machine would call bad.
#include "bench.h"
#include "checks/memory/bounds.h"

using bench::Bench;
using bench::SourceFile;
using machine::AccessKind;
using machine::MemoryKind;
using ptx::Space;

namespace {

struct BoundsBench : Bench {
    explicit BoundsBench(uint32_t threads = 256)
        : Bench(threads), source("__global__ void kernel(const float* in, float* out, int n) {\n"
                                 "    __shared__ float tile[256];\n}\n"),
          bounds(report, memory) {
        launch.declared = {source.path(), 1, 0, {}};
        in = &device_array(4000);
        out = &device_array(4000);
        pass_pointer(in->address);
        pass_pointer(out->address);
        pass_int(1000);
    }
    // out[first + lane] = ... by the warp, as the machine reports it.
    void store(machine::SiteId site, int64_t first, uint32_t mask = machine::kAllLanes) {
        const auto event = access(
            site,
            Space::kGlobal,
            AccessKind::kStore,
            4,
            [&](uint32_t lane) { return out->address + 4 * (first + lane); },
            mask);
        if (event.bad_lanes) bounds.on_access(event);
    }
    SourceFile source;
    checks::Bounds bounds;
    machine::Allocation *in = nullptr, *out = nullptr;
};

bool has_note(const checks::Finding& finding, const std::string& text) {
    for (const std::string& note : finding.notes) {
        if (note.find(text) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("bounds: the threads past the end are one finding that names the element",
          "[checks][bounds]") {
    BoundsBench bench;
    const auto site = bench.site(14);
    bench.enter_block(3);
    for (uint32_t warp = 0; warp < 8; ++warp) {
        bench.enter_warp(warp);
        bench.store(site, 768 + 32 * int(warp));
    }
    const auto& finding = bench.only();
    CHECK(finding.code == "out-of-bounds-global");
    CHECK(finding.severity == checks::Severity::kError);
    CHECK(finding.message == "`out[1000]` is written, but `out` has 1000 elements (0 to 999)");
    CHECK(finding.place.line == 14);
    CHECK(finding.place.block == machine::Dim3{3, 0, 0});
    CHECK(finding.place.thread == machine::Dim3{232, 0, 0});
    CHECK(finding.count == 24);
    CHECK(finding.bytes == 4);
    CHECK(finding.allocation == "`out`, argument 2, 1000 floats");
    CHECK(finding.facts.text() ==
          "{\"array\": \"out\", \"access\": \"write\", \"past_end\": 0, \"index\": 1000, "
          "\"elements\": 1000, \"element_bytes\": 4, \"dynamic\": false, "
          "\"grid\": [8, 1, 1], \"block_size\": [256, 1, 1], "
          "\"first_index\": 1000, \"last_index\": 1023, \"threads_of_block\": 24}");
    CHECK(has_note(finding, "24 threads did this: (232,0,0) to (255,0,0) of block (3,0,0)"));
    CHECK(has_note(finding, "in all, `out[1000]` to `out[1023]`"));
}

TEST_CASE("bounds: a valid access has no finding", "[checks][bounds]") {
    BoundsBench bench;
    bench.store(bench.site(14), 968);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("bounds: a negative index", "[checks][bounds]") {
    BoundsBench bench;
    bench.store(bench.site(14), -1);
    CHECK(bench.only().message == "`out[-1]` is written, but `out` begins at element 0");
    CHECK(bench.only().count == 1);
}

TEST_CASE("bounds: the last element straddling the end is out of bounds", "[checks][bounds]") {
    BoundsBench bench;
    const auto event = bench.access(
        bench.site(9),
        Space::kGlobal,
        AccessKind::kLoad,
        16,
        [&](uint32_t) { return bench.in->address + 3992; },
        1,
        4);
    bench.bounds.on_access(event);
    CHECK(bench.only().message ==
          "`in[998]` to `in[1001]` are read at once, but `in` has 1000 elements (0 to 999)");
}

TEST_CASE("bounds: a thread that does it in a loop counts once", "[checks][bounds]") {
    BoundsBench bench;
    const auto site = bench.site(14);
    for (int i = 0; i < 100; ++i) bench.store(site, 1000 + i);
    CHECK(bench.only().count == 32);
}

TEST_CASE("bounds: every block's threads count, the first one is shown", "[checks][bounds]") {
    BoundsBench bench;
    const auto site = bench.site(14);
    for (const uint32_t block : {5u, 4u, 6u}) {
        bench.enter_block(block);
        bench.store(site, 1000, 0xff00);
    }
    CHECK(bench.only().count == 24);
    CHECK(bench.only().place.block == machine::Dim3{4, 0, 0});
    CHECK(bench.only().place.thread == machine::Dim3{8, 0, 0});
    CHECK(
        has_note(bench.only(), "(8,0,0) to (15,0,0) of block (4,0,0), the rest in 2 other blocks"));
}

TEST_CASE("bounds: an earlier launch stays the one shown", "[checks][bounds]") {
    BoundsBench bench;
    const auto site = bench.site(14);
    bench.enter_block(7, 1);
    bench.store(site, 1000);
    bench.enter_block(0, 2);
    bench.store(site, 5000);
    CHECK(bench.only().place.block == machine::Dim3{7, 0, 0});
    CHECK(has_note(bench.only(), "of block (7,0,0), the rest in 1 other launch"));
    bench.enter_block(1, 2);
    bench.store(site, 5000);
    bench.enter_block(1, 3);
    bench.store(site, 5000);
    CHECK(has_note(bench.only(), "of block (7,0,0), the rest in 2 other launches"));
}

TEST_CASE("bounds: several arrays on one line are one finding that names them all",
          "[checks][bounds]") {
    BoundsBench bench;
    const auto load = bench.site(14), store = bench.site(14);
    bench.bounds.on_access(
        bench.access(load, Space::kGlobal, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return bench.in->address + 4000 + 4 * lane;
        }));
    bench.store(store, 1000);
    CHECK(bench.only().message == "`in[1000]` is read, but `in` has 1000 elements (0 to 999)");
    CHECK(bench.only().count == 32);
    CHECK(has_note(bench.only(), "the same happens to `out`"));
}

TEST_CASE("bounds: two lines are two findings", "[checks][bounds]") {
    BoundsBench bench;
    bench.store(bench.site(14), 1000);
    bench.store(bench.site(15), 1000);
    CHECK(bench.report.findings().size() == 2);
}

TEST_CASE("bounds: a wild index is reported in bytes", "[checks][bounds]") {
    BoundsBench bench;
    bench.store(bench.site(14), int64_t(1) << 32, 1);
    CHECK(bench.only().message ==
          "`out` is written 17179865184 bytes past its end, and has only 4000 bytes");
}

TEST_CASE("bounds: a freed array names where it was freed", "[checks][bounds]") {
    BoundsBench bench;
    bench.memory.release(*bench.out, 77);
    bench.store(bench.site(14), 5);
    const auto& finding = bench.only();
    CHECK(finding.code == "use-after-free");
    CHECK(finding.message == "`out[5]` is written, but `out` has been freed");
    REQUIRE(finding.other);
    CHECK(finding.other->line == 77);
    CHECK(finding.other_text == "it was freed on main.cu:77");
}

TEST_CASE("bounds: a null pointer is named by its parameter", "[checks][bounds]") {
    BoundsBench bench;
    bench.parameters.clear();
    bench.arguments.clear();
    bench.pass_pointer(bench.in->address);
    bench.pass_pointer(0);
    bench.pass_int(3);
    const auto event =
        bench.access(bench.site(9), Space::kNone, AccessKind::kStore, 4, [](uint32_t lane) {
            return 4 * uint64_t(lane);
        });
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "invalid-address");
    CHECK(bench.only().message == "`out`, argument 2, is a null pointer, and is written");
    CHECK(bench.only().count == 32);
}

TEST_CASE("bounds: host memory is recognised", "[checks][bounds]") {
    BoundsBench bench;
    static float host[64];
    bench.parameters.clear();
    bench.arguments.clear();
    bench.pass_pointer(uint64_t(&host[0]));
    bench.pass_pointer(bench.out->address);
    bench.pass_int(3);
    const auto event =
        bench.access(bench.site(9), Space::kNone, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return uint64_t(&host[lane]);
        });
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "invalid-address");
    CHECK(bench.only().message ==
          "`in`, argument 1, is an address of host memory: was it allocated with `cudaMalloc`?");
}

TEST_CASE("bounds: an address of nothing is invalid", "[checks][bounds]") {
    BoundsBench bench;
    const auto event = bench.access(
        bench.site(9),
        Space::kNone,
        AccessKind::kLoad,
        4,
        [](uint32_t) { return 0xdead00000000ull; },
        1);
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "invalid-address");
    CHECK(bench.only().message ==
          "4 bytes are read at 0xdead00000000, which is the address of nothing");
}

TEST_CASE("bounds: shared arrays have their own code and element", "[checks][bounds]") {
    BoundsBench bench;
    const auto& tile = bench.shared_array("tile", 1024);
    bench.shared_array("behind", 1024);
    const auto event = bench.access(
        bench.site(9, "st.shared.f32"), Space::kShared, AccessKind::kStore, 4, [&](uint32_t lane) {
            return tile.address + 4 * (lane + 240);
        });
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "out-of-bounds-shared");
    CHECK(bench.only().message == "`tile[256]` is written, but `tile` has 256 elements (0 to 255)");
    CHECK(bench.only().count == 16);
    CHECK(bench.only().allocation == "`tile`, shared, 256 floats");
}

TEST_CASE("bounds: writing constant memory", "[checks][bounds]") {
    BoundsBench bench;
    auto* table = bench.memory.allocate(MemoryKind::kConst, 64, 0, 0);
    table->name = "table";
    auto event = bench.access(
        bench.site(9),
        Space::kGlobal,
        AccessKind::kStore,
        4,
        [&](uint32_t) { return table->address; },
        1);
    event.bad_lanes = 1;
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "invalid-address");
    CHECK(bench.only().message.find("cannot change constant memory") != std::string::npos);
}

TEST_CASE("bounds: local memory", "[checks][bounds]") {
    BoundsBench bench;
    auto event = bench.access(
        bench.site(9), Space::kLocal, AccessKind::kStore, 4, [](uint32_t) { return 64; }, 3);
    event.bad_lanes = 3;
    bench.bounds.on_access(event);
    CHECK(bench.only().code == "out-of-bounds-local");
    CHECK(bench.only().count == 2);
}

TEST_CASE("bounds: one local array of several", "[checks][bounds]") {
    BoundsBench bench;
    const bool before = GENERATE(true, false);
    auto event = bench.access(bench.site(9), Space::kLocal, AccessKind::kLoad, 4, [&](uint32_t) {
        return before ? 1020 : 1056;
    });
    event.bad_lanes = 1;
    event.mask = 1;
    event.object_begin = 1024;
    event.object_end = 1056;
    bench.bounds.on_access(event);
    CHECK(bench.only().message ==
          (before ? "4 bytes are read 4 bytes before the start of a local array that has 32 bytes"
                  : "4 bytes are read at offset 32 of a local array that has 32 bytes"));
}

TEST_CASE("bounds: lanes with different faults give a finding each", "[checks][bounds]") {
    BoundsBench bench;
    bench.memory.release(*bench.in, 5);
    const auto event =
        bench.access(bench.site(9), Space::kGlobal, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return lane < 16 ? bench.in->address + 4 * lane : bench.out->address + 4000 + 4 * lane;
        });
    bench.bounds.on_access(event);
    REQUIRE(bench.report.findings().size() == 2);
    CHECK(bench.report.findings()[0].code == "use-after-free");
    CHECK(bench.report.findings()[1].code == "out-of-bounds-global");
    CHECK(bench.report.findings()[1].count == 16);
}

TEST_CASE("bounds: a million bad accesses are one finding, and quick", "[checks][bounds]") {
    BoundsBench bench(1024);
    const auto site = bench.site(14);
    for (uint32_t block = 0; block < 1000; ++block) {
        bench.enter_block(block);
        for (uint32_t warp = 0; warp < 32; ++warp) {
            bench.enter_warp(warp);
            bench.store(site, 1000 + warp * 32);
        }
    }
    CHECK(bench.only().count == 1024000);
    CHECK(has_note(bench.only(), "all of block (0,0,0), the rest in 999 other blocks"));
}

TEST_CASE("bounds: after a clear the same line is found again", "[checks][bounds]") {
    BoundsBench bench;
    const auto site = bench.site(14);
    bench.store(site, 1000);
    bench.report.clear();
    bench.store(site, 1000, 3);
    CHECK(bench.only().count == 2);
}
