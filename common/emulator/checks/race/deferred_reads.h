// SPDX-License-Identifier: MIT
// Plain loads that have not entered the shadow yet. While nothing writes to an array, its loads
// race with nothing: they are only listed, in order, and enter the shadow before anything else
// looks at it. More often a barrier (in shared memory) or the end of the launch comes first. From
// then on they race with nothing that follows either, and are dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checks/race/clock.h"
#include "machine/events.h"

namespace checks {

class DeferredReads {
public:
    // A load, with what its warp and block had reached when it was executed.
    struct Load {
        Segment segment, warp_floor, block_floor, block_first;
        uint32_t warp;  // its number in the launch
        machine::SiteId id;
        uint32_t lanes;
        uint8_t bytes;
        // The warp consists of groups of so many lanes, at one address (`same`) or side by side.
        uint8_t group;
        bool same;
    };

    // `most`: bytes of memory that the list may take.
    explicit DeferredReads(uint64_t most) : most_(most / sizeof(uint32_t)) {}

    // The list is about one region of a run, which starts with segment `region`. Within it, either
    // all loads so far are here, or it is closed: loads enter the shadow at once.
    void begin(Segment region, bool open, uint32_t warps_per_block) {
        region_ = region;
        open_ = open;
        warps_per_block_ = warps_per_block;
        clear();
    }
    Segment region() const { return region_; }
    uint32_t warps_per_block() const { return warps_per_block_; }
    bool open() const { return open_; }
    void close() { open_ = false; }

    bool empty() const { return used_ == 0; }
    void clear() {
        used_ = 0;
        newest_ = 0;
    }
    Segment newest() const { return newest_; }  // segment in the list
    // `address[lane] + shift` is the offset in the shadow, below 4 GiB. False: the list is full.
    bool add(const Load& load, const uint64_t* address, uint64_t shift) {
        const uint64_t end = used_ + kHead + machine::kWarpSize / load.group;
        if (end > words_.size() && !grow(end)) return false;
        newest_ = std::max(newest_, load.segment);
        uint32_t* const to = words_.data() + used_;
        to[0] = load.segment;
        to[1] = load.warp_floor;
        to[2] = load.block_floor;
        to[3] = load.block_first;
        to[4] = load.warp;
        to[5] = load.id;
        to[6] = load.lanes;
        to[7] = uint32_t(load.bytes) << 16 | uint32_t(load.group) << 8 | uint32_t(load.same);
        if (load.group == 1) {
            for (uint32_t i = 0; i < machine::kWarpSize; ++i)
                to[kHead + i] = uint32_t(address[i] + shift);
        } else {
            for (uint32_t i = 0, k = kHead; i < machine::kWarpSize; i += load.group)
                to[k++] = uint32_t(address[i] + shift);
        }
        used_ = end;
        return true;
    }
    // f(load, offset of each lane), in the order in which they were added.
    template <class F>
    void each(F&& f) const {
        uint64_t offset[machine::kWarpSize];
        for (uint64_t at = 0; at < used_;) {
            const uint32_t* const from = words_.data() + at;
            const Load load{from[0],
                            from[1],
                            from[2],
                            from[3],
                            from[4],
                            from[5],
                            from[6],
                            uint8_t(from[7] >> 16),
                            uint8_t(from[7] >> 8),
                            (from[7] & 1) != 0};
            for (uint32_t i = 0; i < machine::kWarpSize; ++i)
                // Wraps where a group begins before the array and only its later lanes are in it.
                offset[i] = uint32_t(from[kHead + i / load.group] +
                                     (load.same ? 0 : i % load.group * load.bytes));
            f(load, offset);
            at += kHead + machine::kWarpSize / load.group;
        }
    }

private:
    static constexpr uint64_t kHead = 8, kFirst = 4 << 10;

    bool grow(uint64_t words) {
        if (words > most_) return false;
        words_.resize(std::min(std::max({words, words_.size() * 2, kFirst}), most_));
        return true;
    }

    std::vector<uint32_t> words_;
    uint64_t used_ = 0, most_;
    Segment region_ = 0, newest_ = 0;
    uint32_t warps_per_block_ = 1;
    bool open_ = false;
};

}  // namespace checks
