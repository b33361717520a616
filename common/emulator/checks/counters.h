// SPDX-License-Identifier: MIT
// The counters of the emulated device: what every launch and every source line asked of memory, and
// how it ran. Deterministic integers, never a time. Rules: counters_rules.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/counters_rules.h"
#include "emulator_api.h"
#include "machine/observer.h"

namespace checks {

// One line of the user's source within one kernel. Global, shared and local accesses together,
// except `sectors` (global) and `wavefronts`, `conflicts` (shared).
struct CounterRow {
    std::string file;
    uint32_t line = 0;
    std::string kernel;
    uint64_t requests = 0;    // warp instructions that load, store or update memory
    uint64_t sectors = 0;     // 32-byte segments of global loads and stores
    uint64_t wavefronts = 0;  // of shared memory, atomics included
    uint64_t conflicts = 0;
    uint64_t bytes = 0;                    // that the threads asked for
    uint64_t atomics = 0;                  // one a thread
    uint64_t barriers = 0;                 // warps that arrived at one
    uint64_t branches = 0, divergent = 0;  // conditional ones, a warp each
    uint64_t warp_instructions = 0, thread_instructions = 0;
};

struct LaunchCounters {
    std::string kernel;
    machine::Dim3 grid, block;
    EmulatorCounters counters{};
};

constexpr uint32_t kCountersInterest =
    machine::kMemoryEvents | machine::kHostEvents | machine::kLaunchEvents | machine::kBlockEvents |
    machine::kGlobalAccess | machine::kSharedAccess | machine::kLocalAccess | machine::kSyncEvents;

class Counters final : public machine::Observer {
public:
    Counters() { reset(); }

    // Sums since the last reset(). A launch counts once it has ended.
    EmulatorCounters totals() const;
    // In order; of very many launches only the first kMostLaunches.
    const std::vector<LaunchCounters>& launches() const { return launches_; }
    static constexpr size_t kMostLaunches = 4096;
    // By kernel, file and line.
    std::vector<CounterRow> lines() const;
    void reset();
    // {"launches": [{"kernel", "grid", "block", "counters"}], "lines": [...], "totals": {...}}, one
    // object; with more launches than are kept, "launches_left_out" says how many.
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
    void on_streak(const machine::AccessEvent& first, int64_t step, uint64_t count) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;

private:
    struct Site {  // of the running launch
        uint64_t requests = 0, sectors = 0, wavefronts = 0, conflicts = 0, bytes = 0, atomics = 0;
        uint64_t barriers = 0, branches = 0, divergent = 0, warps = 0, threads = 0;
        bool touched = false;
    };
    Site& site(machine::SiteId id);
    void global(const machine::AccessEvent& event, Site& at);
    void shared(const machine::AccessEvent& event, Site& at);
    SharedCost cost_in_variable(const machine::AccessEvent& event);

    // What an access to shared memory cost, and the lanes' distances from the first one. The cost
    // of the same distances from another word is the same: all banks are turned by as many.
    struct Pattern {
        machine::SiteId site = 0;
        uint32_t mask = 0, part = 0;  // part of a word at which the first lane begins
        std::array<uint32_t, machine::kWarpSize> distance{};
        SharedCost cost;
    };

    EmulatorCounters totals_{}, current_{};
    std::array<Pattern, 64> patterns_;  // the latest of some sites
    std::vector<LaunchCounters> launches_;
    uint64_t left_out_ = 0;
    std::vector<Site> sites_;  // by site, of the running launch
    std::vector<machine::SiteId> touched_;
    // Of the launches that ended: kernel number << 32 | site.
    std::unordered_map<uint64_t, Site> ended_;
    std::vector<std::string> kernels_;
    std::unordered_map<std::string, uint32_t> kernel_number_;
};

}  // namespace checks
