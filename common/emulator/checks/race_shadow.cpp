// SPDX-License-Identifier: MIT
// Storage of the race checkers' shadow.
#include "checks/race_shadow.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace checks {

namespace {

// Several lanes to a word, which a word's cell could not tell apart.
bool shares_words(Entry pattern) { return pattern && (pattern & 7) < 2; }

}  // namespace

Entry* CellArena::allocate(uint32_t units) {
    auto& spare = free_[units];
    if (!spare.empty()) {
        Entry* cells = spare.back();
        spare.pop_back();
        std::memset(cells, 0, units * 64);
        return cells;
    }
    if (used_ + units > kChunk) {
        // What is left of the last chunk stays unused: at most seven units.
        void* memory = std::aligned_alloc(64, kChunk * 64);
        if (!memory) throw std::bad_alloc();
        std::memset(memory, 0, kChunk * 64);
        chunks_.emplace_back(static_cast<Entry*>(memory), &std::free);
        used_ = 0;
    }
    Entry* cells = chunks_.back().get() + size_t(used_) * 8;
    used_ += units;
    return cells;
}

Shadow::Shadow(CellArena& arena, uint64_t bytes) : arena_(arena), bytes_(bytes) {
    for (uint64_t i = 0; i < (bytes + kPageBytes - 1) / kPageBytes; ++i)
        pages_.emplace_back(nullptr, &std::free);
}

Shadow::Page Shadow::make_page() {
    auto* sectors = static_cast<Sector*>(std::calloc(kPageBytes / kSectorBytes, sizeof(Sector)));
    if (!sectors) throw std::bad_alloc();
    return Page(sectors, &std::free);
}

void Shadow::reset(Sector& s) {
    if (s.rest) {
        clear_writer(s);
        clear_readers(s);
        clear_atomics(s);
    }
    s = {};
}

void Shadow::clear() {
    more_.clear();
    for (Page& page : pages_) {
        if (!page) continue;
        for (uint64_t i = 0; i < kPageBytes / kSectorBytes; ++i) reset(page[i]);
        page.reset();
    }
}

void Shadow::wipe(uint64_t bytes) {
    if (!more_.empty()) more_.clear();
    for (uint64_t offset = 0; offset < bytes; offset += kSectorBytes)
        if (Sector* s = find(offset)) reset(*s);
}

void Shadow::clear_writer(Sector& s) {
    if (s.has(Sector::kWriterCells)) arena_.free(s.writer_cells(), cell_units(s));
    s.writer = 0;
    s.unset(Sector::kWriterCells);
}

void Shadow::clear_readers(Sector& s) {
    if (s.has(Sector::kReaderCells)) arena_.free(s.reader_cells(), pair_units(s));
    s.reader = s.reader2 = 0;
    s.unset(Sector::kReaderCells);
}

void Shadow::clear_atomics(Sector& s) {
    if (s.atomic_cells()) arena_.free(s.atomic_cells(), pair_units(s));
    s.rest &= Sector::kFlags;
}

void Shadow::add_atomics(Sector& s) {
    s.rest |= reinterpret_cast<uint64_t>(arena_.allocate(pair_units(s)));
}

void Shadow::split_writer(Sector& s) {
    const Entry pattern = s.writer;
    if (shares_words(pattern)) use_byte_cells(s);
    Entry* cells = arena_.allocate(cell_units(s));
    s.writer = reinterpret_cast<uint64_t>(cells);
    s.set(Sector::kWriterCells);
    if (!pattern) return;
    for (uint32_t i = 0; i < s.cells(); ++i) cells[i] = cell_of_pattern(pattern, i * s.cell_bytes());
}

void Shadow::split_readers(Sector& s) {
    const Entry first = s.reader, second = s.reader2;
    if (shares_words(first) || shares_words(second)) use_byte_cells(s);
    auto* pairs = reinterpret_cast<Pair*>(arena_.allocate(pair_units(s)));
    s.reader = reinterpret_cast<uint64_t>(pairs);
    s.reader2 = 0;
    s.set(Sector::kReaderCells);
    if (!(first | second)) return;
    for (uint32_t i = 0; i < s.cells(); ++i) {
        const uint32_t byte = i * s.cell_bytes();
        pairs[i] = {cell_of_pattern(first, byte), cell_of_pattern(second, byte)};
    }
}

void Shadow::use_byte_cells(Sector& s) {
    if (s.has(Sector::kByteCells)) return;
    const auto widened = [&](void* words, uint32_t entries, uint32_t units) {
        Entry* to = arena_.allocate(units * 4);
        const Entry* from = static_cast<Entry*>(words);
        for (uint32_t cell = 0; cell < 8; ++cell)
            for (uint32_t byte = 0; byte < 4; ++byte)
                std::copy_n(from + cell * entries, entries, to + (cell * 4 + byte) * entries);
        arena_.free(words, units);
        return reinterpret_cast<uint64_t>(to);
    };
    if (s.has(Sector::kWriterCells)) s.writer = widened(s.writer_cells(), 1, 1);
    if (s.has(Sector::kReaderCells)) s.reader = widened(s.reader_cells(), 2, 2);
    if (s.atomic_cells()) s.rest = s.flags() | widened(s.atomic_cells(), 2, 2);
    s.set(Sector::kByteCells);
}

}  // namespace checks
