// SPDX-License-Identifier: MIT
// What the race checkers remember of memory: who last wrote and who has read, for sectors of 32
// bytes. A sector that whole warps touch in order is one entry a role; one touched in any other way
// gets a cell per word, or per byte where somebody touched less than a word.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/happens_before_clock.h"
#include "machine/events.h"

namespace checks {

// Packed: segment (30 bits), instruction (24 bits), and 10 bits that say which lanes. The segment
// stands on top, so that comparing entries compares times. 0: nobody yet.
//  In a cell: two lanes, equal when there was one. In a pattern: the lane of the sector's first
//  byte, and log2 of the bytes each lane touched; byte b is lane base + (b >> log2).
using Entry = uint64_t;

constexpr uint32_t kSectorBytes = 32, kSectorBits = 5;
constexpr uint32_t kWholeSector = 5;  // as log2: all bytes are lane 0's, for host operations

constexpr Entry entry_floor(Segment segment) {
    return Entry(segment) << 34;
}
constexpr Entry cell_entry(Segment segment, machine::SiteId site, uint32_t lane) {
    return entry_floor(segment) | Entry(site & 0xffffff) << 10 | lane << 5 | lane;
}
constexpr Entry pattern_entry(Segment segment, machine::SiteId site, uint32_t base, uint32_t log2) {
    return entry_floor(segment) | Entry(site & 0xffffff) << 10 | base << 5 | log2;
}
constexpr Segment segment_of(Entry e) {
    return Segment(e >> 34);
}
constexpr machine::SiteId instruction_of(Entry e) {
    return machine::SiteId(e >> 10 & 0xffffff);
}
constexpr uint32_t lane_of(Entry e) {
    return uint32_t(e >> 5 & 31);
}
constexpr uint32_t second_lane_of(Entry e) {
    return uint32_t(e & 31);
}
constexpr Entry with_second_lane(Entry e, uint32_t lane) {
    return (e & ~Entry(31)) | lane;
}
constexpr Entry cell_of_pattern(Entry e, uint32_t byte) {
    const uint32_t lane = lane_of(e) + (byte >> (e & 7));
    return e ? (e & ~Entry(1023)) | lane << 5 | lane : 0;
}

// Two of those who did the same thing to one cell. Two are enough: see RaceDetector::remember.
struct Pair {
    Entry first, second;
};

struct Sector {
    enum Flag : uint32_t {
        kWriterCells = 1,  // `writer` is a pointer to cells, else a pattern
        kReaderCells = 2,  // `reader` is a pointer to pairs of cells, else `reader`, `reader2` are patterns
        kByteCells = 4,    // cells are bytes, else words
        kMoreReaders = 8, kMoreAtomics = 16,  // in a side table
        kFlags = 63,
    };
    Entry writer, reader, reader2;
    uint64_t rest;  // flags, and a pointer to the pairs of cells of strong writers, if any

    uint32_t flags() const { return uint32_t(rest & kFlags); }
    bool has(uint32_t flag) const { return rest & flag; }
    void set(uint32_t flag) { rest |= flag; }
    void unset(uint32_t flag) { rest &= ~uint64_t(flag); }
    Entry* writer_cells() const { return reinterpret_cast<Entry*>(writer); }
    Pair* reader_cells() const { return reinterpret_cast<Pair*>(reader); }
    Pair* atomic_cells() const { return reinterpret_cast<Pair*>(rest & ~uint64_t(kFlags)); }
    uint32_t cells() const { return has(kByteCells) ? 32 : 8; }
    uint32_t cell_bytes() const { return has(kByteCells) ? 1 : 4; }
    uint32_t cell(uint32_t byte) const { return has(kByteCells) ? byte : byte >> 2; }
};

// Cells in units of 64 bytes, zeroed, reused after free. Pointers stay valid.
class CellArena {
public:
    Entry* allocate(uint32_t units);  // 1, 2, 4 or 8; aligned to 64 bytes
    void free(void* cells, uint32_t units) { free_[units].push_back(static_cast<Entry*>(cells)); }

private:
    static constexpr uint32_t kChunk = 1 << 12;  // units
    std::vector<std::unique_ptr<Entry[], decltype(&std::free)>> chunks_;
    std::array<std::vector<Entry*>, 9> free_;
    uint32_t used_ = kChunk;  // of the last chunk; full, as there is none
};

// The sectors of one allocation or of one block's shared memory, in pages made on first touch.
class Shadow {
public:
    Shadow(CellArena& arena, uint64_t bytes);
    ~Shadow() { clear(); }
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;

    uint64_t bytes() const { return bytes_; }
    Sector& sector(uint64_t offset) {  // of the byte at `offset`
        auto& page = pages_[offset >> kPageBits];
        if (!page) page = make_page();
        return page[(offset & (kPageBytes - 1)) >> kSectorBits];
    }
    // Null where nothing was ever touched.
    Sector* find(uint64_t offset) {
        auto& page = pages_[offset >> kPageBits];
        return page ? &page[(offset & (kPageBytes - 1)) >> kSectorBits] : nullptr;
    }
    static constexpr uint64_t kPageBits = 16, kPageBytes = 1 << kPageBits;

    void clear();               // frees everything
    void wipe(uint64_t bytes);  // forgets, but keeps the pages: the first `bytes` were in use

    // ---- one sector's roles, cell by cell; `byte` is 0 to 31
    static Entry writer_at(const Sector& s, uint32_t byte) {
        return s.has(Sector::kWriterCells) ? s.writer_cells()[s.cell(byte)]
                                           : cell_of_pattern(s.writer, byte);
    }
    static Pair readers_at(const Sector& s, uint32_t byte) {
        if (s.has(Sector::kReaderCells)) return s.reader_cells()[s.cell(byte)];
        return {cell_of_pattern(s.reader, byte), cell_of_pattern(s.reader2, byte)};
    }
    // To change: these turn patterns into cells first.
    Entry& writer_cell(Sector& s, uint32_t byte) {
        if (!s.has(Sector::kWriterCells)) split_writer(s);
        return s.writer_cells()[s.cell(byte)];
    }
    Pair& reader_cell(Sector& s, uint32_t byte) {
        if (!s.has(Sector::kReaderCells)) split_readers(s);
        return s.reader_cells()[s.cell(byte)];
    }
    Pair& atomic_cell(Sector& s, uint32_t byte) {
        if (!s.atomic_cells()) add_atomics(s);
        return s.atomic_cells()[s.cell(byte)];
    }
    void use_byte_cells(Sector& s);  // from now on; what is known stays
    // Further entries of a cell or pattern that a pair had no room for.
    struct Spilled {
        Entry entry;
        uint8_t byte;  // of a cell: its first
        bool pattern;
    };
    std::vector<Spilled>& spilled(uint64_t offset, Sector::Flag which) {
        return more_[offset >> kSectorBits << 1 | (which == Sector::kMoreAtomics)];
    }
    bool has_spilled() const { return !more_.empty(); }
    void drop_spilled() { more_.clear(); }

    void clear_writer(Sector& s);
    void clear_readers(Sector& s);
    void clear_atomics(Sector& s);

private:
    using Page = std::unique_ptr<Sector[], decltype(&std::free)>;
    static uint32_t cell_units(const Sector& s) { return s.has(Sector::kByteCells) ? 4 : 1; }
    static uint32_t pair_units(const Sector& s) { return s.has(Sector::kByteCells) ? 8 : 2; }
    static Page make_page();
    void reset(Sector& s);
    void split_writer(Sector& s);
    void split_readers(Sector& s);
    void add_atomics(Sector& s);

    CellArena& arena_;
    uint64_t bytes_;
    std::vector<Page> pages_;
    std::unordered_map<uint64_t, std::vector<Spilled>> more_;
};

}  // namespace checks
