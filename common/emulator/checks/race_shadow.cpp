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

uint32_t CellArena::allocate(uint32_t units) {
    auto& spare = free_[units];
    if (!spare.empty()) {
        const uint32_t index = spare.back();
        spare.pop_back();
        std::memset(cells(index), 0, units * 64);
        return index;
    }
    if (used_ + units > kChunk) {
        // What is left of the last chunk stays unused: at most seven units.
        chunks_.push_back(std::make_unique<Entry[]>(size_t(kChunk) * 8));
        used_ = chunks_.size() == 1 ? 8 : 0;  // index 0 means none
    }
    const uint32_t index = uint32_t(chunks_.size() - 1) << kChunkBits | used_;
    used_ += units;
    return index;
}

void CellArena::free(uint32_t index, uint32_t units) { free_[units].push_back(index); }

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
    clear_writer(s);
    clear_readers(s);
    clear_atomics(s);
    s.flags = 0;
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
    if (s.flags & Sector::kWriterCells) arena_.free(uint32_t(s.writer), cell_units(s));
    s.writer = 0;
    s.flags &= ~uint32_t(Sector::kWriterCells);
}

void Shadow::clear_readers(Sector& s) {
    if (s.flags & Sector::kReaderCells) arena_.free(uint32_t(s.reader), pair_units(s));
    s.reader = s.reader2 = 0;
    s.flags &= ~uint32_t(Sector::kReaderCells);
}

void Shadow::clear_atomics(Sector& s) {
    if (s.atomics) arena_.free(s.atomics, pair_units(s));
    s.atomics = 0;
}

void Shadow::split_writer(Sector& s) {
    const Entry pattern = s.writer;
    if (shares_words(pattern)) use_byte_cells(s);
    s.writer = arena_.allocate(cell_units(s));
    s.flags |= Sector::kWriterCells;
    if (!pattern) return;
    Entry* cells = writer_cells(s);
    for (uint32_t i = 0; i < cell_count(s); ++i) cells[i] = cell_of_pattern(pattern, i * cell_bytes(s));
}

void Shadow::split_readers(Sector& s) {
    const Entry first = s.reader, second = s.reader2;
    if (shares_words(first) || shares_words(second)) use_byte_cells(s);
    s.reader = arena_.allocate(pair_units(s));
    s.reader2 = 0;
    s.flags |= Sector::kReaderCells;
    if (!(first | second)) return;
    Pair* pairs = reader_cells(s);
    for (uint32_t i = 0; i < cell_count(s); ++i) {
        const uint32_t byte = i * cell_bytes(s);
        pairs[i] = {cell_of_pattern(first, byte), cell_of_pattern(second, byte)};
    }
}

void Shadow::use_byte_cells(Sector& s) {
    if (s.flags & Sector::kByteCells) return;
    const auto widened = [&](uint32_t index, uint32_t words, uint32_t units) {
        const uint32_t wide = arena_.allocate(units * 4);
        const Entry* from = arena_.cells(index);
        Entry* to = arena_.cells(wide);
        for (uint32_t cell = 0; cell < 8; ++cell)
            for (uint32_t byte = 0; byte < 4; ++byte)
                std::copy_n(from + cell * words, words, to + (cell * 4 + byte) * words);
        arena_.free(index, units);
        return wide;
    };
    if (s.flags & Sector::kWriterCells) s.writer = widened(uint32_t(s.writer), 1, 1);
    if (s.flags & Sector::kReaderCells) s.reader = widened(uint32_t(s.reader), 2, 2);
    if (s.atomics) s.atomics = widened(s.atomics, 2, 2);
    s.flags |= Sector::kByteCells;
}

}  // namespace checks
