// SPDX-License-Identifier: MIT
// Storage of the race checkers' shadow.
#include "checks/race/shadow.h"

#include <algorithm>
#include <cstring>

namespace checks {
namespace {

constexpr uint64_t kFirstChunk = 4 << 10, kLargestChunk = 16 << 20;
// What a list of deferred loads may take: in a large array about as much as cells for them.
constexpr uint64_t kDeferred = 4 << 20, kDeferredPerByte = 2;

}  // namespace

Epoch* CellArena::allocate(uint32_t units) {
    auto& spare = free_[units];
    if (!spare.empty()) {
        Epoch* cells = spare.back();
        spare.pop_back();
        std::memset(cells, 0, units * 64);
        return cells;
    }
    while (chunk_ < chunks_.size() && used_ + units * 64 > chunks_[chunk_].bytes()) {
        ++chunk_;  // the rest of the last one stays unused: less than 512 bytes
        used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
        chunks_.emplace_back(std::min(kFirstChunk << std::min<size_t>(chunk_, 31), kLargestChunk));
        used_ = 0;
    }
    auto* cells = static_cast<std::byte*>(chunks_[chunk_].get()) + used_;
    used_ += units * 64;
    if (recycled_) std::memset(cells, 0, units * 64);
    return reinterpret_cast<Epoch*>(cells);
}

void CellArena::reset() {
    for (auto& spare : free_) spare.clear();
    recycled_ |= chunk_ > 0 || used_ > 0;
    chunk_ = 0;
    used_ = 0;
}

Shadow::Shadow(uint64_t bytes)
    : deferred_(std::min(most_deferred_, std::max(kDeferred, bytes * kDeferredPerByte))),
      bytes_(bytes), memory_((bytes / kSectorBytes + 1) * sizeof(Sector)),
      sectors_(static_cast<Sector*>(memory_.get())) {}

void Shadow::wipe(uint64_t bytes) {
    std::memset(static_cast<void*>(sectors_),
                0,
                (bytes + kSectorBytes - 1) / kSectorBytes * sizeof(Sector));
    arena_.reset();
    deferred_.begin(0, false, 1);
    written_ = 0;
    if (!more_.empty()) more_.clear();
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

void Shadow::tidy(Sector& s, Epoch floor) {
    const auto old = [&](const Epoch* cells, uint32_t count) {
        return std::all_of(cells, cells + count, [&](Epoch e) { return e < floor; });
    };
    if (s.has(Sector::kWriterCells) && old(s.writer_cells(), s.cells())) clear_writer(s);
    if (s.has(Sector::kReaderCells) && old(&s.reader_cells()->first, 2 * s.cells()))
        clear_readers(s);
    if (s.atomic_cells() && old(&s.atomic_cells()->first, 2 * s.cells())) clear_atomics(s);
    const bool cells = s.has(Sector::kWriterCells | Sector::kReaderCells) || s.atomic_cells();
    if (!cells) s.unset(Sector::kByteCells);
}

void Shadow::add_atomics(Sector& s) {
    s.rest |= reinterpret_cast<uint64_t>(arena_.allocate(pair_units(s)));
}

void Shadow::split_writer(Sector& s) {
    const Epoch pattern = s.writer;
    Epoch* cells = arena_.allocate(cell_units(s));
    s.writer = reinterpret_cast<uint64_t>(cells);
    s.set(Sector::kWriterCells);
    if (!pattern) return;
    for (uint32_t i = 0; i < s.cells(); ++i)
        cells[i] = cell_of_pattern(pattern, i * s.cell_bytes());
}

void Shadow::split_readers(Sector& s) {
    const Epoch first = s.reader, second = s.reader2;
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
        Epoch* to = arena_.allocate(units * 4);
        const Epoch* from = static_cast<Epoch*>(words);
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
