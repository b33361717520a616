// SPDX-License-Identifier: MIT
#include "checks/race/history.h"

namespace checks {
namespace {

constexpr size_t kMostSpilled = 64;  // entries of one sector

}  // namespace

void spill(const AccessContext& c, Sector& s, uint32_t byte, bool pattern, Epoch e,
           Sector::Flag more) {
    auto& list = c.shadow.spilled(c.offset, more);
    s.set(more);
    const Epoch same = ~(Epoch(0xffffff) << 10);  // whatever the instruction
    for (Shadow::Spilled& known : list)
        if (known.byte == byte && known.pattern == pattern && ((known.entry ^ e) & same) == 0)
            return;
    if (list.size() >= kMostSpilled) {
        std::erase_if(list, [&](const Shadow::Spilled& known) { return known.entry < c.floor; });
        if (list.size() >= kMostSpilled) list.erase(list.begin());
    }
    list.push_back({e, uint8_t(byte), pattern});
}

bool spilled_ordered(const AccessContext& c, Sector& s, Epoch mine, Sector::Flag more) {
    const bool load = more == Sector::kMoreReaders;
    auto& list = c.shadow.spilled(c.offset, more);
    for (const Shadow::Spilled& known : list) {
        if (known.entry < c.floor) continue;
        const bool ordered =
            known.pattern
                ? pattern_ordered(c, known.entry, mine, load)
                : unordered_lane(
                      c, known.entry, lane_of(cell_of_pattern(mine, known.byte)), load) == kNoLane;
        if (!ordered) return false;
    }
    if (c.role == AccessRole::kStore) {
        list.clear();
        s.unset(more);
    }
    return true;
}

// Why two entries are enough while only whole barriers and whole-warp syncs order anything. Let
// `first` be the newest access and t the next thread. If some access x is unordered with t, but
// `first` is not, then `first` is t's own, or of t's warp (block) and before the last sync
// (barrier) of it; so is every older access there, and x is of another lane, warp or block.
// `second` is kept by how far away it is from `first`, and then by age, so it is unordered with t
// as well. With partial syncs and fences this does not hold, and what is dropped goes to the side
// table.
void remember_more(const AccessContext& c, Sector& s, Pair& pair, Epoch mine, uint32_t byte,
                   Sector::Flag more) {
    const uint32_t lane = lane_of(mine);
    if (segment_of(pair.first) == segment_of(mine) &&
        second_lane_of(pair.first) == lane_of(pair.first) && lane_of(pair.first) == lane) {
        pair.first = mine;  // the same thread again, elsewhere
        return;
    }
    const uint32_t first = rank(c, pair.first, lane), second = rank(c, pair.second, lane);
    if (c.partial && first && second)
        spill(c, s, byte, false, first >= second ? pair.second : pair.first, more);
    pair.second = first | second ? (first >= second ? pair.first : pair.second) : 0;
    pair.first = mine;
}

bool remember_pattern(const AccessContext& c, Sector& s, Epoch mine) {
    const bool second_lives = s.reader2 >= c.floor;
    if (!same_bytes(s.reader, mine) || (second_lives && !same_bytes(s.reader2, mine))) {
        // Different members of the structs: two of them fit.
        if (second_lives) return false;
        s.reader2 = s.reader;
        s.reader = mine;
        return true;
    }
    if (!c.partial && second_lives && s.reader2 < c.block_first) {
        s.reader = mine;  // and reader2, of another block, stays
        return true;
    }
    const uint32_t first = pattern_rank(c, s.reader, mine);
    if (first == 1) return false;  // other lanes of this warp: use cells
    const uint32_t second = second_lives ? pattern_rank(c, s.reader2, mine) : 0;
    if (c.partial && first && second)
        spill(c, s, 0, true, first >= second ? s.reader2 : s.reader, Sector::kMoreReaders);
    s.reader2 = first | second ? (first >= second ? s.reader : s.reader2) : 0;
    s.reader = mine;
    return true;
}

}  // namespace checks
