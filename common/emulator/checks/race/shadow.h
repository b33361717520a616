// SPDX-License-Identifier: MIT
// Shadow memory of the race checkers: for each sector of 32 bytes, the last writer and some
// readers. A sector that whole warps access in order has one entry for each role; any other has a
// cell for each word, or for each byte if an access was narrower than a word.
//
// The shadow of `int a[1000]`: 4000 bytes are 125 sectors, so it has as many bytes as the array.
//
//   Shadow::sectors_   [0]       [1]         ...  [124]
//   bytes of a         0 .. 31   32 .. 63         3968 .. 3999
//   elements           a[0..7]   a[8..15]         a[992..999]
//
//   Sector, 32 bytes:  | writer | reader | reader2 | rest: pointer, 6 flags |
//
//   accessed in order by whole warps      scattered (kWriterCells, kReaderCells)
//     writer   a pattern                    writer  --> Epoch[8], a cell for each word:  64 bytes
//     reader   a pattern                    reader  --> Pair[8], two readers of each:   128 bytes
//     reader2  another pattern              reader2     not used
//     rest     --> Pair[8], two atomics or strong writers of each word, if there are any
//   With kByteCells there are 32 cells in place of 8.
//
//   Epoch, 64 bits:    63 ........ 34   33 ......... 10   9 ... 5   4 ........... 0
//     in a cell        segment          instruction       lane      second lane
//     as a pattern     segment          instruction       lane      shape
//
// Warp 0 stores a[0..31], four bytes a lane, in segment 7 by instruction 12. Sector 1 then has the
// writer {7, 12, 8, 2}: its byte 0 belongs to lane 8, and shape 2 says that lanes lie 4 bytes
// apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checks/race/clock.h"
#include "checks/race/deferred_reads.h"
#include "checks/zeroed_memory.h"
#include "machine/events.h"

namespace checks {

// Packed: segment (30 bits), instruction (24 bits), and 10 bits for the lanes. The segment is in
// the highest bits, so comparing entries compares times. 0: no access yet.
//  In a cell: two lanes, equal when there was one.
//  In a pattern: the lane of the sector's first byte, and a shape: lanes lie 2^n bytes apart, and
//  each touched all of these bytes (a whole array in order) or some (one member of an array of
//  structs).
using Epoch = uint64_t;

constexpr uint32_t kSectorBytes = 32, kSectorBits = 5;

struct Shape {
    uint8_t log2 = 0;      // of the distance between lanes
    bool whole = false;    // every byte belongs to a lane
    bool parts = false;    // a word may belong to several lanes, or only in part to one
    uint32_t covered = 0;  // which of the bytes between two lanes, a bit each
};
// The shapes that fit into five bits: whole ones by log2, then members of structs by offset.
constexpr uint32_t kShapes = 22;
constexpr std::array<Shape, kShapes> make_shapes() {
    std::array<Shape, kShapes> out{};
    for (uint32_t log2 = 0; log2 <= 5; ++log2)
        out[log2] = {uint8_t(log2), true, log2 < 2, log2 == 5 ? ~0u : (1u << (1u << log2)) - 1};
    uint32_t next = 6;
    for (uint32_t log2 = 1; log2 <= 4; ++log2)
        for (uint32_t bytes = log2 <= 2 ? 1 : 4; bytes < 1u << log2; bytes *= 2)
            for (uint32_t offset = 0; offset < 1u << log2; offset += bytes)
                out[next++] = {uint8_t(log2), false, bytes < 4, ((1u << bytes) - 1) << offset};
    return out;
}
constexpr std::array<Shape, kShapes> kShape = make_shapes();
constexpr uint32_t kNoShape = 32;
constexpr uint32_t kWholeSector = 5;  // all bytes are lane 0's: host operations
// Lanes 2^log2 bytes apart, each touching `bytes` from `offset`.
constexpr uint32_t find_shape(uint32_t log2, uint32_t offset, uint32_t bytes) {
    const uint32_t covered = bytes >= 32 ? ~0u : ((1u << bytes) - 1) << offset;
    for (uint32_t i = 0; i < kShapes; ++i)
        if (kShape[i].log2 == log2 && kShape[i].covered == covered) return i;
    return kNoShape;
}

constexpr Epoch entry_floor(Segment segment) {
    return Epoch(segment) << 34;
}
constexpr Epoch cell_entry(Segment segment, machine::SiteId site, uint32_t lane) {
    return entry_floor(segment) | Epoch(site & 0xffffff) << 10 | lane << 5 | lane;
}
// The same for another lane, from the entry for lane 0.
constexpr Epoch entry_of_lane(Epoch of_lane_0, uint32_t lane) {
    return of_lane_0 | lane << 5 | lane;
}
constexpr Epoch pattern_entry(Segment segment, machine::SiteId site, uint32_t base,
                              uint32_t shape) {
    return entry_floor(segment) | Epoch(site & 0xffffff) << 10 | base << 5 | shape;
}
constexpr Segment segment_of(Epoch e) {
    return Segment(e >> 34);
}
constexpr machine::SiteId instruction_of(Epoch e) {
    return machine::SiteId(e >> 10 & 0xffffff);
}
constexpr uint32_t lane_of(Epoch e) {
    return uint32_t(e >> 5 & 31);
}
constexpr uint32_t second_lane_of(Epoch e) {
    return uint32_t(e & 31);
}
constexpr Epoch with_second_lane(Epoch e, uint32_t lane) {
    return (e & ~Epoch(31)) | lane;
}
constexpr const Shape& shape_of(Epoch pattern) {
    return kShape[pattern & 31];
}
// The cell that holds byte `byte` of a sector; 0 if no lane touched it.
constexpr Epoch cell_of_pattern(Epoch e, uint32_t byte) {
    const Shape& shape = shape_of(e);
    if (e == 0 || !(shape.covered >> (byte & ((1u << shape.log2) - 1)) & 1)) return 0;
    const uint32_t lane = lane_of(e) + (byte >> shape.log2);
    return (e & ~Epoch(1023)) | lane << 5 | lane;
}
// Whether each byte is in both patterns or in neither.
constexpr bool same_bytes(Epoch a, Epoch b) {
    return (a & 31) == (b & 31) || (shape_of(a).whole && shape_of(b).whole);
}
// Cells of words cannot stand for it.
constexpr bool needs_bytes(Epoch pattern) {
    return pattern && shape_of(pattern).parts;
}

// Two accesses of one role to one cell. Two are enough: see remember_more() in history.cpp.
struct Pair {
    Epoch first, second;
};

struct Sector {
    enum Flag : uint32_t {
        kWriterCells = 1,  // `writer` is a pointer to cells, else a pattern
        kReaderCells =
            2,  // `reader` is a pointer to pairs of cells, else `reader`, `reader2` are patterns
        kByteCells = 4,  // cells are bytes, else words
        kMoreReaders = 8,
        kMoreAtomics = 16,  // in a side table
        kFlags = 63,
    };
    Epoch writer, reader, reader2;
    uint64_t rest;  // flags, and a pointer to the pairs of cells of strong writers, if any

    uint32_t flags() const { return uint32_t(rest & kFlags); }
    bool has(uint32_t flag) const { return rest & flag; }
    void set(uint32_t flag) { rest |= flag; }
    void unset(uint32_t flag) { rest &= ~uint64_t(flag); }
    Epoch* writer_cells() const { return reinterpret_cast<Epoch*>(writer); }
    Pair* reader_cells() const { return reinterpret_cast<Pair*>(reader); }
    Pair* atomic_cells() const { return reinterpret_cast<Pair*>(rest & ~uint64_t(kFlags)); }
    uint32_t cells() const { return has(kByteCells) ? 32 : 8; }
    uint32_t cell_bytes() const { return has(kByteCells) ? 1 : 4; }
    uint32_t cell(uint32_t byte) const { return has(kByteCells) ? byte : byte >> 2; }
};

// Cells in units of 64 bytes, zeroed, reused after free. Pointers stay valid until reset().
class CellArena {
public:
    Epoch* allocate(uint32_t units);  // 1, 2, 4 or 8; aligned to 64 bytes
    void free(void* cells, uint32_t units) { free_[units].push_back(static_cast<Epoch*>(cells)); }
    void reset();  // all are free

private:
    std::vector<ZeroedMemory> chunks_;
    std::array<std::vector<Epoch*>, 9> free_;
    size_t chunk_ = 0;       // the one in use
    uint64_t used_ = 0;      // of it, in bytes
    bool recycled_ = false;  // chunks are no longer zero
};

// The sectors of one allocation or of one block's shared memory.
class Shadow {
public:
    explicit Shadow(uint64_t bytes);

    uint64_t bytes() const { return bytes_; }
    Sector& sector(uint64_t offset) const { return sectors_[offset >> kSectorBits]; }
    void wipe(uint64_t bytes);  // removes all entries; only the first `bytes` have been in use

    // What lists of deferred loads may take at most, in bytes, for shadows made from now on; for
    // tests.
    static void limit_deferred(uint64_t most) { most_deferred_ = most; }
    // Loads that have not entered the shadow yet, and the newest segment in which something stored
    // here, also atomically.
    DeferredReads& deferred() { return deferred_; }
    Segment written() const { return written_; }
    void note_write(Segment segment) { written_ = std::max(written_, segment); }

    // ---- one sector's roles, cell by cell; `byte` is 0 to 31
    static Epoch writer_at(const Sector& s, uint32_t byte) {
        return s.has(Sector::kWriterCells) ? s.writer_cells()[s.cell(byte)]
                                           : cell_of_pattern(s.writer, byte);
    }
    static Pair readers_at(const Sector& s, uint32_t byte) {
        if (s.has(Sector::kReaderCells)) return s.reader_cells()[s.cell(byte)];
        return {cell_of_pattern(s.reader, byte), cell_of_pattern(s.reader2, byte)};
    }
    // To change: these turn patterns into cells first.
    Epoch& writer_cell(Sector& s, uint32_t byte) {
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
    // For a sector with cells for readers. Cells without entries are freed: an array that is
    // updated in scattered order would otherwise keep four bytes of them for each byte.
    void forget_readers(Sector& s, uint32_t byte) {
        Pair* const pairs = s.reader_cells();
        pairs[s.cell(byte)] = {};
        if (s.has(Sector::kByteCells | Sector::kMoreReaders)) return;
        Epoch left = 0;
        for (uint32_t i = 0; i < 8; ++i) left |= pairs[i].first | pairs[i].second;
        if (!left) clear_readers(s);
    }
    void use_byte_cells(Sector& s);  // from now on; existing entries stay
    // Call before reading single words: a pattern may have several lanes for one word.
    void prepare_words(Sector& s) {
        if ((!s.has(Sector::kWriterCells) && needs_bytes(s.writer)) ||
            (!s.has(Sector::kReaderCells) && (needs_bytes(s.reader) || needs_bytes(s.reader2))))
            use_byte_cells(s);
    }
    // Frees cells whose entries are all older than `floor`.
    void tidy(Sector& s, Epoch floor);
    // Further entries of a cell or pattern that a pair had no room for.
    struct Spilled {
        Epoch entry;
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
    static uint32_t cell_units(const Sector& s) { return s.has(Sector::kByteCells) ? 4 : 1; }
    static uint32_t pair_units(const Sector& s) { return s.has(Sector::kByteCells) ? 8 : 2; }
    void split_writer(Sector& s);
    void split_readers(Sector& s);
    void add_atomics(Sector& s);

    CellArena arena_;
    static inline uint64_t most_deferred_ = ~uint64_t(0);
    DeferredReads deferred_;
    Segment written_ = 0;
    uint64_t bytes_;
    ZeroedMemory memory_;
    Sector* sectors_;
    std::unordered_map<uint64_t, std::vector<Spilled>> more_;
};

}  // namespace checks
