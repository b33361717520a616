// SPDX-License-Identifier: MIT
// The counting rules against measurements on an H200, and what the counters add up.
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "catch/catch.h"
#include "checks/record/counter_rules.h"
#include "checks/record/counters.h"
#include "event_player.h"

using namespace player;

namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> measurements() {
    std::ifstream file(std::string(EMULATOR_TESTS) + "/checks/data/ncu_access.csv");
    REQUIRE(file);
    std::vector<Row> rows;
    std::vector<std::string> names;
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::string cell;
        std::vector<std::string> values;
        while (std::getline(cells, cell, ',')) values.push_back(cell);
        if (names.empty()) {
            names = values;
            continue;
        }
        Row& row = rows.emplace_back();
        for (size_t i = 0; i < names.size(); ++i) row[names[i]] = values.at(i);
    }
    return rows;
}

struct Counted : Player {
    checks::Counters& counters;
    Counted()
        : counters(static_cast<checks::Counters&>(watch(std::make_unique<checks::Counters>()))) {}
};

}  // namespace

TEST_CASE("counting rules: all measurements with Nsight Compute on an H200", "[checks][counters]") {
    const auto rows = measurements();
    REQUIRE(rows.size() == 242);
    for (const Row& row : rows) {
        const auto number = [&](const char* name) { return uint64_t(std::stoull(row.at(name))); };
        const std::string kind = row.at("kind");
        CAPTURE(row.at("id"), kind);
        const uint32_t bytes = uint32_t(number("width"));
        uint64_t address[32];
        uint32_t offset[32];
        for (uint64_t lane = 0; lane < 32; ++lane) {
            const uint64_t mod = number("mod");
            offset[lane] =
                uint32_t(number("offset") + (mod ? lane % mod : lane) * number("stride"));
            address[lane] = 0x7000000000ull + offset[lane];
        }
        if (kind.find("red.global") == 0) {
            CHECK(checks::atomic_sectors(machine::kAllLanes, address, bytes) ==
                  number("g_red_sec"));
        } else if (kind.find("global") != std::string::npos) {
            CHECK(checks::global_sectors(machine::kAllLanes, address, bytes) ==
                  number("g_ld_sec") + number("g_st_sec"));
        } else {
            const AccessKind access = kind[0] == 'l'   ? AccessKind::kLoad
                                      : kind[0] == 's' ? AccessKind::kStore
                                                       : AccessKind::kReduction;
            const auto cost = checks::shared_cost(access, machine::kAllLanes, offset, bytes);
            CHECK(cost.wavefronts == number("s_wave") - 1);
            CHECK(cost.conflicts ==
                  number("s_atom_conf") + number("s_ld_conf") + number("s_st_conf"));
            if (access != AccessKind::kReduction)
                CHECK(cost.wavefronts == number("s_ld_wave") + number("s_st_wave"));
        }
    }
}

TEST_CASE("counting rules: sectors of any lanes anywhere", "[checks][counters]") {
    std::mt19937_64 random(GENERATE(range(1, 40)));
    const uint32_t bytes = 1u << random() % 5;
    const uint64_t spread = uint64_t(1) << (5 + random() % 30);
    const uint32_t mask = uint32_t(random()) | 1;
    uint64_t address[32];
    std::set<uint64_t> sectors;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        address[lane] = 0x7000000000ull + random() % spread;  // aligned or not
        if (!(mask >> lane & 1)) continue;
        for (uint32_t i = 0; i < bytes; ++i) sectors.insert((address[lane] + i) / 32);
    }
    CHECK(checks::global_sectors(mask, address, bytes) == sectors.size());
}

TEST_CASE("counting rules: shared accesses of some lanes, of bytes, in pairs",
          "[checks][counters]") {
    uint32_t offset[32];
    const auto fill = [&](auto f) {
        for (uint32_t lane = 0; lane < 32; ++lane) offset[lane] = uint32_t(f(lane));
    };
    using checks::shared_cost;
    SECTION("four bytes to a word, one word to a bank") {
        fill([](uint32_t lane) { return lane; });
        CHECK(shared_cost(AccessKind::kLoad, machine::kAllLanes, offset, 1).conflicts == 0);
    }
    SECTION("two words of one bank among 31 good ones") {
        fill([](uint32_t lane) { return lane == 7 ? 4 * (32 + 9) : 4 * lane; });
        CHECK(shared_cost(AccessKind::kLoad, machine::kAllLanes, offset, 4).wavefronts == 2);
        CHECK(shared_cost(AccessKind::kLoad, ~(1u << 7), offset, 4).wavefronts == 1);
    }
    SECTION("half a warp of 8 bytes is one pass") {
        fill([](uint32_t lane) { return 8 * lane; });
        const auto cost = shared_cost(AccessKind::kStore, 0xffff, offset, 8);
        CHECK(cost.wavefronts == 1);
        CHECK(cost.conflicts == 0);
    }
    SECTION("pairs of lanes on one 8-byte word: a load merges its passes, a store does not") {
        fill([](uint32_t lane) { return 8 * (lane / 2); });
        CHECK(shared_cost(AccessKind::kLoad, machine::kAllLanes, offset, 8).wavefronts == 1);
        CHECK(shared_cost(AccessKind::kStore, machine::kAllLanes, offset, 8).wavefronts == 2);
    }
}

TEST_CASE("counters: requests, sectors and bytes of global accesses", "[checks][counters]") {
    Counted p;
    const auto x = p.global(4096);
    p.launch(1, 64);
    p.warp(0, 0).load(10, x.from(0));
    p.warp(0, 1).load(10, x.from(33));
    p.warp(0, 0, 0xff).load(11, x.from(0, 8));
    p.warp(0, 0).store(12, x.from(0, 4), 16);
    p.warp(0, 0).atomic(13, x.all(3));
    p.thread(0, 0).access(14, kReduction, x[5]);
    p.end_launch();
    const checks::Counts c = p.counters.totals();
    CHECK(c.launches == 1);
    CHECK(c.blocks == 1);
    CHECK(c.warps == 2);
    CHECK(c.threads == 64);
    CHECK(c.global_load_requests == 3);
    CHECK(c.global_load_sectors == 4 + 5 + 8);
    CHECK(c.global_load_bytes == 72 * 4);
    CHECK(c.global_store_requests == 1);
    CHECK(c.global_store_sectors == 16);
    CHECK(c.global_store_bytes == 512);
    CHECK(c.global_atomic_requests == 2);
    CHECK(c.global_atomics == 33);
}

TEST_CASE("counters: shared accesses, by bank and pass", "[checks][counters]") {
    Counted p;
    const auto first = p.shared(3);  // shifts the tile by 12 bytes: banks follow the layout
    const auto tile = p.shared(1024);
    p.launch(1, 32);
    p.warp(0, 0).store(10, tile.from(0));
    p.warp(0, 0).load(11, tile.from(0, 32));
    p.warp(0, 0).load(12, tile.all(7));
    p.warp(0, 0).load(13, tile.from(0, 4), 16);
    p.warp(0, 0).atomic(14, tile.from(0, 2));
    p.warp(0, 0, 3).load(15, [&](uint32_t lane) { return lane ? tile[29] : first[0]; });
    p.end_launch();
    const checks::Counts c = p.counters.totals();
    CHECK(c.shared_store_requests == 1);
    CHECK(c.shared_store_wavefronts == 1);
    CHECK(c.shared_load_requests == 4);
    // Line 15: words 0 and 3 + 29 = 32 both lie in bank 0.
    CHECK(c.shared_load_wavefronts == 32 + 1 + 4 + 2);
    CHECK(c.shared_load_conflicts == 31 + 1);
    CHECK(c.shared_atomic_requests == 1);
    CHECK(c.shared_atomics == 32);
}

TEST_CASE("counters: a pattern that recurs costs what its addresses cost", "[checks][counters]") {
    const auto count = [](uint32_t seed, bool patterns) {
        std::mt19937 random(seed);
        Counted p;
        if (patterns) p.follow_patterns();
        const auto x = p.global(4096), tile = p.shared(2048), bytes = p.shared(4096, 1);
        p.launch(1, 64);
        for (int k = 0; k < 2500; ++k) {
            // Some patterns recur at once, others after so many that their place was taken.
            const uint32_t line = 10 + random() % 4, step = 1 + random() % 3;
            const int64_t start = random() % 64, stride = random() % 34;
            for (uint32_t again = 0; again < 2; ++again) {
                Lanes warp = p.warp(0, random() % 2);
                warp.load(line, x.from(start + again * step, stride));
                warp.load(line + 10, tile.from(start + again * step, stride));
                warp.load(line + 20, bytes.from(start + again * step, stride), 1);
                warp.store(line + 30, tile.from(start + again * step, stride));
            }
        }
        p.end_launch();
        const std::string json = p.counters.to_json();
        return json;
    };
    const uint32_t seed = GENERATE(1u, 2u, 3u);
    CHECK(count(seed, true) == count(seed, false));
}

TEST_CASE("counters: a variable is no allocation", "[checks][counters]") {
    Counted p;
    machine::Allocation& variable = *p.memory.allocate(machine::MemoryKind::kManaged, 4, 0, 1);
    variable.name = "total";
    p.counters.on_alloc(variable);
    p.counters.on_free(variable);
    p.free(p.global(4));
    CHECK(p.counters.totals().device_allocations == 1);
    CHECK(p.counters.totals().device_frees == 1);
}

TEST_CASE("counters: lines, launches and JSON", "[checks][counters]") {
    Counted p;
    const auto x = p.global(64);
    p.copy(3, "cudaMemcpy", machine::HostAccess::Kind::kWrite, x, 64);
    p.copy(4, "cudaMemset", machine::HostAccess::Kind::kWrite, x, 64);
    for (int i = 0; i < 2; ++i) {
        p.launch(2, 32);
        p.warp(0, 0).load(10, x.from(0));
        p.warp(1, 0).load(10, x.from(0));
        p.warp(1, 0).access(10, kVolatileLoad, x.all(0));  // another instruction of the same line
        p.barrier(0);
        p.warp(0, 0).sync();
        p.end_launch();
    }
    p.copy(5, "cudaMemcpy", machine::HostAccess::Kind::kRead, x, 32);
    CHECK(p.counters.launches().size() == 2);
    CHECK(p.counters.launches()[1].counters.global_load_requests == 3);
    const auto lines = p.counters.lines();
    const auto line =
        std::find_if(lines.begin(), lines.end(), [](const auto& r) { return r.line == 10; });
    REQUIRE(line != lines.end());
    CHECK(line->kernel == "kernel");
    CHECK(line->requests == 6);
    CHECK(line->sectors == 2 * (4 + 4 + 1));
    CHECK(line->bytes == 6 * 128);
    CHECK(line->loads.requests == 6);
    CHECK(line->loads.sectors == 2 * (4 + 4 + 1));
    CHECK(line->stores.requests == 0);
    const checks::Counts c = p.counters.totals();
    CHECK(c.block_barriers == 2);
    CHECK(c.warp_syncs == 2);
    CHECK(c.host_to_device_bytes == 256);
    CHECK(c.device_to_host_bytes == 128);
    CHECK(c.device_allocations == 1);
    const std::string json = p.counters.to_json();
    CHECK(
        json.find(
            "{\"launches\": [{\"kernel\": \"kernel\", \"grid\": [2, 1, 1], \"block\": [32, 1, 1], "
            "\"counters\": {\"launches\": 1, \"blocks\": 2") == 0);
    CHECK(json.find("\"line\": 10, \"kernel\": \"kernel\", \"requests\": 6, \"sectors\": 18") !=
          std::string::npos);
    CHECK(json.find("\"totals\": {\"launches\": 2") != std::string::npos);
    p.counters.reset();
    CHECK(p.counters.totals().launches == 0);
    CHECK(p.counters.lines().empty());
    CHECK(p.counters.to_json().find("{\"launches\": [],\n\"lines\": [],\n\"totals\"") == 0);
}

TEST_CASE("counters: instructions and branches come from the launch's summary",
          "[checks][counters]") {
    checks::Counters counters;
    machine::LaunchInfo launch;
    launch.kernel = "k";
    counters.on_launch_begin(launch);
    const machine::SiteCount sites[] = {
        {1, 10, 320, false, 0}, {2, 10, 300, true, 4}, {3, 6, 100, true, 0}};
    machine::LaunchSummary summary;
    summary.warp_instructions = 26;
    summary.thread_instructions = 720;
    summary.sites = sites;
    counters.on_launch_end(launch, summary);
    CHECK(counters.totals().warp_instructions == 26);
    CHECK(counters.totals().thread_instructions == 720);
    CHECK(counters.totals().branches == 16);
    CHECK(counters.totals().divergent_branches == 4);
}
