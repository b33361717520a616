// SPDX-License-Identifier: MIT
// The pages of managed and pinned memory that the device has used since the host last waited for
// it. Candidates for review, not exact to the byte.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "checks/host_watch.h"

namespace checks {

class TouchedPages {
public:
    // The bytes [begin, end) of an allocation.
    void add(const machine::Allocation& a, uint64_t begin, uint64_t end) {
        const uint64_t first = begin / kHostPageBytes, last = (end - 1) / kHostPageBytes;
        if (last_id_ == a.id + 1 && first >= last_first_ && last <= last_last_) return;
        Pages& pages = allocations_[a.id];
        if (pages.fresh.empty()) {
            pages.first = a.address / kHostPageBytes;
            const uint64_t count = (a.address + a.bytes - 1) / kHostPageBytes - pages.first + 1;
            pages.fresh.resize(count / 64 + 1);
            pages.in_use.resize(count / 64 + 1);
        }
        for (uint64_t page = first - pages.first; page <= last - pages.first; ++page)
            pages.fresh[page / 64] |= uint64_t(1) << page % 64;
        last_id_ = a.id + 1;
        last_first_ = first;
        last_last_ = last;
        news_ = true;
    }
    void forget(const machine::Allocation& a) {
        allocations_.erase(a.id);
        last_id_ = 0;
    }
    void clear() {
        allocations_.clear();
        news_ = false;
        last_id_ = 0;
    }
    bool any() const { return !allocations_.empty(); }
    bool has_news() const { return news_; }

    // Calls in_use(allocation id, address of the page) for the pages added since the last time, or
    // for `all` that are left; those where it says no are forgotten.
    template <class F>
    void review(bool all, F&& in_use) {
        for (auto& [id, pages] : allocations_) {
            for (size_t i = 0; i < pages.fresh.size(); ++i) {
                uint64_t look = pages.fresh[i] | (all ? pages.in_use[i] : 0);
                pages.fresh[i] = 0;
                for (; look; look &= look - 1) {
                    const uint64_t bit = look & (0 - look);
                    const uint64_t page = pages.first + i * 64 + uint64_t(__builtin_ctzll(look));
                    const bool keep = in_use(id, page * kHostPageBytes);
                    pages.in_use[i] = keep ? pages.in_use[i] | bit : pages.in_use[i] & ~bit;
                }
            }
        }
        news_ = false;
        last_id_ = 0;
    }

private:
    struct Pages {
        uint64_t first = 0;                   // number of the allocation's first page
        std::vector<uint64_t> fresh, in_use;  // a bit for each page
    };
    std::map<uint32_t, Pages> allocations_;  // by id
    bool news_ = false;
    // The range that add() had last: accesses come close together.
    uint64_t last_id_ = 0, last_first_ = 0, last_last_ = 0;
};

}  // namespace checks
