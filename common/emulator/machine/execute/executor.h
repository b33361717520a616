// SPDX-License-Identifier: MIT
// Runs launches: the interpreter loop, calls, barriers, and the scheduler of blocks, which all work
// on the same warps. One Executor per machine; it runs one launch at a time on one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "machine/definedness/undefined.h"
#include "machine/execute/access_runs.h"
#include "machine/execute/divergence.h"
#include "machine/execute/recurrence.h"
#include "machine/state/launch_state.h"
#include "machine/units/warp_ops.h"

namespace machine {

enum class RunResult : uint8_t { kFinished, kBlocked, kSpinning, kAborted };

class Executor : public LaunchState {
public:
    Executor(Memory& memory, Observers& observers, const Limits& limits);
    ~Executor();

    LaunchSummary launch(KernelImage& kernel, const LaunchRequest& request, uint64_t budget,
                         uint32_t stack_bytes, void (*printf_sink)(const char*, size_t));

    void run_library_kernel(const std::string& name, const LaunchRequest& request,
                            const std::function<void()>& work);

    void exit_lanes(uint32_t lanes);  // of the current warp, at the current instruction

    AccessRuns access_runs{*this};

private:
    void run_grid();
    RunResult run_block(BlockState& state);
    RunResult run_warp(WarpState& state);
    RunResult run_splits(WarpState& state);
    enum class Stop : uint8_t { kEnded, kBlocked, kSpin, kAbort };
    Stop run_split(size_t index);
    bool branch_by_table(WarpSplit& split, const Instr& in, uint32_t active);
    Stop exit_split(WarpSplit& split, uint32_t active);
    enum class Run : uint8_t { kEnded, kSpin, kAbort };
    // Iterations of loops since a split was resumed, and the states of the latest.
    struct Turns {
        static constexpr uint32_t kFirstLook = 1u << 13;
        uint32_t taken = 0;
        uint32_t look_at = kFirstLook;  // at which iteration to look whether the loop only waits
        uint64_t changes = 0;
        Recurrence states;
    };
    std::optional<Stop> run_together(WarpSplit*& split, const Instr& in, uint32_t active,
                                     Turns& turns);
    bool spins(const WarpSplit& split, Turns& turns);
    template <bool one_lane>
    Run run_straight(WarpSplit& split, Code& code, uint32_t& first, const Instr*& next,
                     Turns& turns);
    uint32_t guarded_lanes(const Instr& in) const {
        return in.guard_negated ? ~predicate(in.guard) : predicate(in.guard);
    }
    bool account(Code& code, uint32_t first, uint32_t lanes);
    bool account_until(Code& code, uint32_t first, uint32_t end, uint32_t lanes);
    bool goes_on();
    void start_block(uint64_t linear, BlockState& state);
    void finish_block(BlockState& state);
    bool call(WarpSplit& split, const Instr& in);
    void do_return(WarpSplit& split);
    Stop barrier(WarpSplit& split, const Instr& in);
    Stop rare_barrier(WarpSplit& split, const Instr& in);
    void check_barrier(BlockState& state, uint32_t id);
    void complete_barrier(BlockState& state, uint32_t id);
    Stop warp_sync(WarpSplit& split, const Instr& in);
    void try_warp_sync(WarpState& state, bool force);
    void merge_splits(WarpState& state);
    void report_stall(StallEvent::Kind kind, bool idle = false);
    uint64_t fingerprint() const;  // of all running warps, without memory
    static void add_state(Fingerprint& print, const WarpSplit& split);
    void describe(KernelImage& kernel, const LaunchRequest& request);
    void reset(uint64_t budget);
    void prepare_grid_barrier(const LaunchRequest& request);
    void number_threads(const Dim3& size);
    void collect_counts(LaunchSummary& summary);

    void execute_invariants(Frame& activation);
    Frame* make_frame(Code& code, Frame* caller);

    UndefinedValues undefined_values_{*this};
    FrameReferences frame_references_{undefined_values_};
    Divergence divergence_{frame_references_};
    std::vector<std::unique_ptr<BlockState>> resident_;
    std::vector<std::unique_ptr<BlockState>> spare_;
    std::vector<Code*> touched_;
    std::vector<SiteCount> site_counts_;
    Code* entry_ = nullptr;
    uint64_t busiest_warp_ = 0;  // warp instructions of the busiest warp of the launch
    uint64_t progress_ = 0;      // when the budget was last checked
    uint64_t budget_ = 0;        // of the launch, in thread-instructions
    uint64_t serial_ = 0, block_serial_ = 0;
};

inline Executor& executor(Lanes& lanes) {
    return static_cast<Executor&>(lanes);
}

}  // namespace machine
