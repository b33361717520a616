// SPDX-License-Identifier: MIT
// Tests of what the race checkers' shadow keeps and lets go of.
#include "catch/catch.h"
#include "checks/race/shadow.h"

using checks::cell_entry;
using checks::Pair;
using checks::Sector;
using checks::Shadow;

namespace {

constexpr uint64_t kBytes = 1 << 10;

void note_reader(Shadow& shadow, Sector& s, uint32_t byte) {
    shadow.reader_cell(s, byte).first = cell_entry(1, 1, byte / 4);
}

}  // namespace

TEST_CASE("shadow: the last reader that is forgotten leaves no cells", "[checks][race_shadow]") {
    Shadow shadow(kBytes);
    Sector& s = shadow.sector(64);
    note_reader(shadow, s, 4);
    note_reader(shadow, s, 12);
    shadow.forget_readers(s, 4);
    CHECK(s.has(Sector::kReaderCells));
    shadow.forget_readers(s, 12);
    CHECK_FALSE(s.has(Sector::kReaderCells));
}

TEST_CASE("shadow: forgetting one word's readers keeps the others'", "[checks][race_shadow]") {
    Shadow shadow(kBytes);
    Sector& s = shadow.sector(64);
    note_reader(shadow, s, 4);
    shadow.reader_cell(s, 12).second = cell_entry(1, 2, 5);
    shadow.forget_readers(s, 4);
    CHECK(Shadow::readers_at(s, 4).first == 0);
    CHECK(Shadow::readers_at(s, 12).second == cell_entry(1, 2, 5));
}

TEST_CASE("shadow: readers that a pair had no room for keep their sector's cells",
          "[checks][race_shadow]") {
    Shadow shadow(kBytes);
    Sector& s = shadow.sector(64);
    note_reader(shadow, s, 4);
    s.set(Sector::kMoreReaders);
    shadow.forget_readers(s, 4);
    CHECK(s.has(Sector::kReaderCells));
}

TEST_CASE("shadow: a scattered update of a whole array costs three bytes a byte",
          "[checks][race_shadow]") {
    // Each thread reads a word and writes it; neighbours belong to other warps.
    constexpr uint64_t kLarge = 1 << 20;
    Shadow shadow(kLarge);
    uint32_t with_readers = 0;
    for (uint64_t at = 0; at < kLarge; at += 4) {
        Sector& s = shadow.sector(at);
        const uint32_t byte = uint32_t(at % checks::kSectorBytes);
        note_reader(shadow, s, byte);
        shadow.forget_readers(s, byte);
        shadow.writer_cell(s, byte) = cell_entry(2, 1, 0);
        with_readers += s.has(Sector::kReaderCells);
    }
    CHECK(with_readers == 0);
}
