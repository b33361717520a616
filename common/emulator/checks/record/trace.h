// SPDX-License-Identifier: MIT
// Records which memory the threads of each launch access, in the order of execution, for pictures
// of a small run. EMULATOR_TRACE=file; the format is below.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_set>

#include "checks/text/json.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

// JSON, one object or array a line:
//   {"launch": {"serial", "kernel", "grid": [x,y,z], "block": [x,y,z], "shared": [{"name",
//               "offset", "bytes", "dynamic"}]}}
//   {"line": {"id", "file", "line"}}       before the first event of that line
//   {"array": {"id", "name", "subject", "element_bytes", "bytes", "extents"}}   likewise; global
//   ones
//   ["access", block, warp, line, space, kind, bytes, mask, bad mask, array, [offset of each lane]]
//       block: linear; space: "global", "shared", "local"; kind: "load", "store", "atomic"; masks:
//       numbers of 32 bits; array: the id, or for shared memory the variable's index in the launch,
//       or -1; offsets: bytes from the array's first element (shared: from the start of the block's
//       shared memory), for the lanes of the mask in order, negative or past the end where bad
//   ["barrier", block, id, [[warp, mask, line], ...]]
//   ["sync", block, warp, line, mask]      __syncwarp, shuffles, votes: lanes met
//   ["exit", block, warp, mask]
//   {"end": {"serial", "status"}}          0: ran to its end
//   {"cut": {"bytes"}}                     no more is written: the file has reached its limit
class Trace final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kMemoryEvents | machine::kLaunchEvents |
                                           machine::kBlockEvents | machine::kGlobalAccess |
                                           machine::kSharedAccess | machine::kSyncEvents;
    static constexpr uint64_t kMostBytes = 24ull << 20;

    // Takes `file`, which may be null: then nothing is written.
    Trace(machine::Memory& memory, std::FILE* file, uint64_t most_bytes = kMostBytes)
        : memory_(memory), file_(file), most_bytes_(most_bytes) {}
    ~Trace() override { close(); }
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    void close();
    void detach() { file_ = nullptr; }  // in a forked child: the file is the parent's
    bool cut() const { return cut_; }

    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_launch_end(const machine::LaunchInfo& launch,
                       const machine::LaunchSummary& summary) override;
    void on_access(const machine::AccessEvent& event) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;
    void on_exit(const machine::ExitEvent& event) override;

private:
    struct Named {
        int id = -1;
        uint64_t base = 0;
    };
    void write(const std::string& line);
    void write_entry(const char* kind, const JsonObject& entry);
    int line_id(machine::SiteId site);
    Named array_of(const machine::AccessEvent& event, const machine::Allocation& allocation);

    machine::Memory& memory_;
    std::FILE* file_;
    uint64_t most_bytes_, written_ = 0;
    bool cut_ = false;
    std::map<machine::SiteId, int> site_lines_;
    std::map<std::pair<std::string, uint32_t>, int> lines_;
    std::map<uint32_t, Named> arrays_;  // by allocation, of the running launch
    int next_array_ = 0;
};

}  // namespace checks
