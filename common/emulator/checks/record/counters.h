// SPDX-License-Identifier: MIT
// The counters of the emulated device, for every launch and every source line: requests to memory
// and instructions executed. Deterministic integers, never a time. Rules: counter_rules.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/record/counter_fields.h"
#include "checks/record/counter_rules.h"
#include "machine/observer.h"

namespace checks {

// What one place in the code did. Global, shared and local accesses together, except `sectors`
// (global) and `wavefronts`, `conflicts` (shared).
struct PlaceCounts {
    struct Traffic {  // of plain global accesses
        uint64_t requests = 0, sectors = 0, bytes = 0;
        void operator+=(const Traffic& more);
    };
    uint64_t requests = 0;    // warp instructions that load, store or update memory
    uint64_t sectors = 0;     // 32-byte segments of global loads and stores
    uint64_t wavefronts = 0;  // of shared memory, atomics included
    uint64_t conflicts = 0;
    uint64_t bytes = 0;                    // that the threads asked for
    uint64_t atomics = 0;                  // one a thread
    uint64_t barriers = 0;                 // warps that arrived at one
    uint64_t branches = 0, divergent = 0;  // conditional ones, a warp each
    uint64_t warp_instructions = 0, thread_instructions = 0;
    Traffic loads, stores;
    uint64_t store_conflicts = 0;  // of `conflicts`
    void operator+=(const PlaceCounts& more);
};

// One line of the user's source within one kernel.
struct CounterRow : PlaceCounts {
    std::string file;
    uint32_t line = 0;
    std::string kernel;
};

struct LaunchCounters {
    std::string kernel;
    machine::Dim3 grid, block;
    Counts counters{};
};

constexpr uint32_t kCountersInterest =
    machine::kMemoryEvents | machine::kHostEvents | machine::kLaunchEvents | machine::kBlockEvents |
    machine::kGlobalAccess | machine::kSharedAccess | machine::kLocalAccess | machine::kSyncEvents;

class Counters final : public machine::Observer {
public:
    Counters() { reset(); }

    // Sums since the last reset(). A launch counts once it has ended.
    Counts totals() const;
    // In order; of very many launches only the first kMostLaunches.
    const std::vector<LaunchCounters>& launches() const { return launches_; }
    static constexpr size_t kMostLaunches = 4096;
    // By kernel, file and line.
    std::vector<CounterRow> lines() const;
    void reset();
    // {"launches": [{"kernel", "grid", "block", "counters"}], "lines": [...], "totals": {...}}, one
    // object; "launches_left_out" is the number of launches beyond kMostLaunches.
    std::string to_json() const;

    void on_alloc(const machine::Allocation& allocation) override;
    void on_free(const machine::Allocation& allocation) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_launch_end(const machine::LaunchInfo& launch,
                       const machine::LaunchSummary& summary) override;
    void on_block_begin(const machine::BlockInfo& block) override;
    void on_access(const machine::AccessEvent& event) override;
    uint64_t foresee(const machine::AccessEvent&, int64_t, uint64_t most) override { return most; }
    void on_access_run(const machine::AccessEvent& first, int64_t step, uint64_t count) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;

private:
    struct Site : PlaceCounts {  // of the running launch
        bool touched = false;
    };
    Site& site(machine::SiteId id) {
        return id < sites_.size() && sites_[id].touched ? sites_[id] : new_site(id);
    }
    Site& new_site(machine::SiteId id);
    void global(const machine::AccessEvent& event, Site& at);
    void shared(const machine::AccessEvent& event, Site& at);
    SharedCost cost_in_variable(const machine::AccessEvent& event);
    uint32_t sectors_of(const machine::AccessEvent& event);

    // The cost of an access to shared memory, and the lanes' distances from the first one. The same
    // distances from another word cost the same: all banks are rotated by the same number.
    struct Pattern {
        machine::SiteId site = 0;
        uint32_t mask = 0, part = 0;  // part of a word at which the first lane begins
        std::array<uint32_t, machine::kWarpSize> distance{};
        SharedCost cost;
    };

    // What an access costs whose pattern the machine knows: it depends on nothing but the pattern
    // and the place of the first lane in a word, or in a sector.
    struct Known {
        uint64_t serial = 0;  // LanePattern::serial
        uint32_t part = 0;
        SharedCost cost;
        uint32_t sectors = 0;
    };

    Counts totals_{}, current_{};
    std::array<Pattern, 64> patterns_;                     // the latest of some sites
    std::array<Known, 1024> known_shared_, known_global_;  // by serial, the latest ones
    std::vector<LaunchCounters> launches_;
    uint64_t left_out_ = 0;
    std::vector<Site> sites_;  // by site, of the running launch
    std::vector<machine::SiteId> touched_;
    // Of the launches that ended: kernel number << 32 | site.
    std::unordered_map<uint64_t, PlaceCounts> ended_;
    std::vector<std::string> kernels_;
    std::unordered_map<std::string, uint32_t> kernel_number_;
};

}  // namespace checks
