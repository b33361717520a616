// SPDX-License-Identifier: MIT
// Parts of the race detector, each alone: the table of instructions, and what the shadow remembers.
#include "catch/catch.h"
#include "checks/race/history.h"
#include "checks/race/instructions.h"
#include "checks/race/sectors.h"

using namespace checks;

namespace {

machine::AccessEvent access(machine::SiteId site, machine::SiteId instruction,
                            machine::AccessKind kind,
                            machine::MemoryOrder order = machine::MemoryOrder::kWeak) {
    machine::AccessEvent event{};
    event.site = site;
    event.instruction = instruction;
    event.space = ptx::Space::kGlobal;
    event.kind = kind;
    event.order = order;
    return event;
}

}  // namespace

TEST_CASE("race parts: instructions that share a place have numbers of their own",
          "[checks][race]") {
    using machine::AccessKind;
    InstructionTable table;
    // A user's own load, and two of a toolkit's function that is called on line 7.
    CHECK(table.identify(access(5, 5, AccessKind::kLoad)) == 5);
    const auto load = table.identify(access(7, 100, AccessKind::kLoad));
    const auto store = table.identify(access(7, 101, AccessKind::kStore));
    CHECK(load != store);
    CHECK(load != 7);
    CHECK(table.identify(access(7, 100, AccessKind::kLoad)) == load);
    CHECK(table.place(load) == 7);
    CHECK(table.place(store) == 7);
    CHECK(table.place(5) == 5);
    table.enter(load, access(7, 100, AccessKind::kLoad), true);
    table.enter(store, access(7, 101, AccessKind::kStore), true);
    CHECK_FALSE(table.traits(load).writes);
    CHECK(table.traits(store).writes);
    CHECK_FALSE(table.occurred().strong_store);
    table.enter(5, access(5, 5, AccessKind::kStore, machine::MemoryOrder::kRelease), true);
    CHECK(table.occurred().strong_store);
    CHECK(table.strong(cell_entry(1, 5, 0)));
    CHECK_FALSE(table.strong(cell_entry(1, store, 0)));
}

TEST_CASE("race parts: strong stores to shared memory do not count as global ones",
          "[checks][race]") {
    InstructionTable table;
    table.enter(
        3, access(3, 3, machine::AccessKind::kStore, machine::MemoryOrder::kRelaxed), false);
    CHECK(table.strong(cell_entry(1, 3, 0)));
    CHECK_FALSE(table.occurred().strong_store);
}

TEST_CASE("race parts: patterns cover the same bytes", "[checks][race]") {
    const Epoch words = pattern_entry(1, 1, 0, 2), pairs = pattern_entry(2, 2, 0, 3);
    CHECK(same_bytes(words, pairs));  // both cover every byte
    const uint32_t x = find_shape(3, 0, 4), y = find_shape(3, 4, 4);
    REQUIRE(x != kNoShape);
    CHECK_FALSE(same_bytes(pattern_entry(1, 1, 0, x), pattern_entry(1, 1, 0, y)));
    CHECK_FALSE(same_bytes(pattern_entry(1, 1, 0, x), words));
    CHECK(same_bytes(pattern_entry(1, 1, 0, x), pattern_entry(9, 4, 3, x)));
}

TEST_CASE("race parts: which accesses of a whole warp have a shape", "[checks][race]") {
    uint64_t address[machine::kWarpSize];
    machine::AccessEvent event = access(1, 1, machine::AccessKind::kLoad);
    event.address = address;
    event.bytes = event.element_bytes = 4;
    const auto shape = [&](uint64_t step, uint32_t lanes = machine::kAllLanes) {
        for (uint32_t i = 0; i < machine::kWarpSize; ++i) address[i] = 4096 + i * step;
        event.contiguous = step == event.bytes;
        return SectorCheck::shape_of_access(event, lanes, 0);
    };
    CHECK(shape(4) == 2);
    CHECK(shape(16) == find_shape(4, 0, 4));
    CHECK(shape(12) == kNoShape);
    CHECK(shape(32) == kNoShape);
    CHECK(shape(4, 0xffff) == kNoShape);
    shape(16);
    std::swap(address[3], address[4]);
    CHECK(SectorCheck::shape_of_access(event, machine::kAllLanes, 0) == kNoShape);
}
