// SPDX-License-Identifier: MIT
// Which bytes of shared memory a cp.async is still writing: started, and not yet waited for by the
// thread that started it. Part of the checker for races in shared memory.
#pragma once

#include <unordered_map>
#include <vector>

#include "checks/race/happens_before.h"
#include "machine/observer.h"

namespace checks {

class AsyncShadow {
public:
    struct Copy {
        machine::SiteId site = 0;
        uint32_t warp = 0, lane = 0;
        Segment segment = 0;
    };

    bool empty() const { return blocks_.empty(); }
    void clear() { blocks_.clear(); }
    void end_block(uint64_t serial) { blocks_.erase(serial); }

    void start(const machine::AccessEvent& store, Segment segment) {
        Block& block = blocks_[store.warp->block->serial];
        if (block.words.empty())
            block.words.resize(store.warp->block->launch->shared_bytes / 4 + 1);
        for_words(store, [&](uint32_t lane, uint64_t, uint32_t word) {
            block.words[word] = {store.site, store.warp->index, lane, segment};
            ++block.open;
            return true;
        });
    }
    void complete(const machine::AccessEvent& store) {
        const auto found = blocks_.find(store.warp->block->serial);
        if (found == blocks_.end()) return;
        Block& block = found->second;
        for_words(store, [&](uint32_t lane, uint64_t, uint32_t word) {
            Copy& copy = block.words[word];
            if (copy.site && copy.lane == lane && copy.warp == store.warp->index) {
                copy = {};
                --block.open;
            }
            return true;
        });
        if (block.open == 0) blocks_.erase(found);
    }
    // Calls f(lane, address, copy) once for every lane of the access that meets a copy under way.
    template <class F>
    void overlaps(const machine::AccessEvent& event, F&& f) const {
        const auto found = blocks_.find(event.warp->block->serial);
        if (found == blocks_.end()) return;
        for_words(event, [&](uint32_t lane, uint64_t address, uint32_t word) {
            const Copy& copy = found->second.words[word];
            if (copy.site) f(lane, address, copy);
            return copy.site == 0;
        });
    }

private:
    struct Block {
        std::vector<Copy> words;  // by word of the compact layout; site 0: none
        uint64_t open = 0;
    };
    // f(lane, address, word) for the words of every good lane, until it returns false for a lane.
    template <class F>
    static void for_words(const machine::AccessEvent& event, F&& f) {
        for (uint32_t m = event.mask & ~event.bad_lanes; m; m &= m - 1) {
            const uint32_t lane = uint32_t(__builtin_ctz(m));
            const uint64_t address = event.address[lane];
            const auto* variable =
                event.variable ? event.variable
                               : machine::shared_variable_at(*event.warp->block->launch, address);
            if (!variable) continue;
            const uint64_t first = address - variable->address + variable->offset;
            for (uint64_t word = first / 4; word <= (first + event.bytes - 1) / 4; ++word)
                if (!f(lane, address, uint32_t(word))) break;
        }
    }

    std::unordered_map<uint64_t, Block> blocks_;  // by serial
};

}  // namespace checks
