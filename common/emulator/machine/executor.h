// SPDX-License-Identifier: MIT
// The state of a running launch: activations, diverged parts of warps, warps, resident blocks, and
// the interpreter loop. One Executor per machine; it runs one launch at a time on one thread.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "machine/module_image.h"
#include "machine/sites.h"
#include "machine/streaks.h"
#include "machine/undefined.h"

namespace machine {

// One activation of a function by some lanes of a warp. Its rows belong to a pool of the Code.
struct Frame {
    Code* code = nullptr;
    std::byte* rows = nullptr;
    Frame* caller = nullptr;
    uint32_t return_pc = 0;
    const CallOp* call = nullptr;
    uint32_t local_base = 0;  // of this activation's depot, in each lane's local space
    uint32_t depth = 0;
    uint64_t prepared = 0;                      // the launch whose invariants are in the rows
    uint32_t dynamic_bytes = 0;                 // behind the depot, by alloca: the most of any lane
    std::array<uint32_t, kWarpSize> dynamic{};  // ... of each lane, from dynamic_base() on
    UndefinedRegisters* undefined = nullptr;    // null: nothing here is undefined
    SiteId blame = 0;   // for what is a toolkit's here: the call in the user's code that led here
    uint32_t refs = 0;  // splits, joins and callees that point here
    uint32_t local_end() const { return local_base + code->local_bytes + dynamic_bytes; }
    uint32_t dynamic_base() const { return (local_base + code->local_bytes + 15) & ~15u; }
};

// A point where lanes that went different ways wait for each other: PTX has no instruction for it,
// hardware uses convergence barriers (Volta and later).
struct Join {
    Join* parent = nullptr;
    Frame* frame = nullptr;
    uint32_t pc = 0;
    uint32_t expected = 0, arrived = 0;
    uint32_t refs = 0;  // splits and child joins
};

enum class SplitState : uint8_t { kRunnable, kBarrier, kWarpSync };

// Lanes of a warp that execute together.
struct Split {
    Frame* frame = nullptr;
    Join* join = nullptr;
    uint32_t pc = 0, mask = 0;
    SplitState state = SplitState::kRunnable;
    uint32_t barrier = 0;  // id, while waiting at one
    uint32_t named = 0;    // mask operand, while in a warp sync
};

struct BlockState;
struct AsyncCopies;  // async_copy.h

struct WarpState {
    WarpInfo info;
    BlockState* block = nullptr;
    std::vector<Split> splits;   // the last runnable one runs next
    std::vector<Join*> joins;    // with lanes waiting in them
    std::byte* local = nullptr;  // 32 x Executor::local_stride(), mapped on first use
    SiteId exit_site = 0;
    std::shared_ptr<AsyncCopies> copies;  // null: none was started in this block
    // When undefined values are followed: the lanes whose byte of local memory has none, and the
    // origins of those that were stored there.
    std::vector<uint32_t> undefined_local;
    std::unordered_map<uint32_t, uint32_t> undefined_from;
    uint32_t live() const { return info.valid & ~info.exited; }
};

struct BarrierState {
    std::vector<Arrival> arrivals;
    uint32_t arrived = 0, expected = 0;  // threads; expected 0: all live ones
    bool aligned = false;
    bool reduces = false;                 // bar.red: somebody waits for a result
    uint32_t popc = 0, all = 1, any = 0;  // of bar.red
    // The first to arrive says how many threads it waits for.
    void open(uint32_t threads) {
        arrived = 0;
        aligned = reduces = false;
        popc = any = 0;
        all = 1;
        expected = threads;
    }
};

struct BlockState {
    BlockInfo info;
    std::vector<WarpState> warps;
    std::vector<std::byte> shared;
    std::array<BarrierState, 16> barriers;
    uint32_t live_threads = 0;
    uint32_t open_barriers = 0;  // bit per id: somebody has arrived
    bool spinning = false;
};

enum class RunResult : uint8_t { kFinished, kBlocked, kSpinning, kAborted };

class Executor : public Lanes {
public:
    Executor(Memory& memory, Observers& observers, const Limits& limits);
    ~Executor();

    LaunchSummary launch(KernelImage& kernel, const LaunchRequest& request, uint64_t budget,
                         uint32_t stack_bytes, void (*printf_sink)(const char*, size_t));

    // ---- what handlers use ---------------------------------------------------------------
    Memory& memory;
    Observers& observers;
    const Limits& limits;
    const TextureTable* textures = nullptr;  // of the runtime; null: there are none
    uint64_t reachable = ~uint64_t(0);       // bit per device whose memory may be touched
    LaunchInfo info;
    BlockState* block = nullptr;
    WarpState* warp = nullptr;
    Frame* frame = nullptr;
    const Instr* current = nullptr;  // the instruction being executed, for events
    std::vector<std::byte> arguments;
    std::vector<const SharedVariable*> windows;  // by window number
    std::vector<SharedVariable> layout;
    // threadIdx of every lane of a block, by warp: the same for all blocks of a launch.
    struct ThreadIds {
        alignas(64) uint32_t axis[3][kWarpSize];
    };
    std::vector<ThreadIds> thread_ids;
    uint64_t changes = 0;       // memory changed, time was read: not a dead spin
    uint64_t near_changes = 0;  // those that no other block can see
    uint64_t far_polls = 0;     // polls of memory that other blocks write
    // How things were when the clock was read last, and since when nothing else has changed.
    struct {
        uint64_t launch = 0, changes = 0, since = 0;  // nanoseconds
        uint64_t reads = 0;
    } clock;
    uint32_t waits = 0;   // polls of the warp since it was resumed or changed something
    uint32_t polls = 0;   // all since it was resumed
    uint64_t polled = 0;  // the global address of the latest poll; 0: none in this launch
    LaunchStatus status = LaunchStatus::kOk;
    bool abort = false;
    uint64_t warp_instructions = 0;
    uint32_t run_begins = 0;  // pc of the straight run that is not in `warp_instructions` yet
    void (*printf_sink)(const char*, size_t) = nullptr;
    Allocation* grid_workspace = nullptr;
    bool asked_for_grid = false;  // by a launch that has none
    uint64_t heap_bytes = 8 << 20, heap_used = 0;
    std::vector<Allocation*> heap;  // by in-kernel malloc, in all launches
    static Executor* running;       // of this thread, for current_bytes()

    bool follows = false;  // somebody asked for kUndefinedValues
    UndefinedValues undefined{*this};
    Streaks streaks{*this};

    // The place to blame for what `in` does: the user's, also inside the toolkit's functions.
    static SiteId blamed(const Frame* frame, const Instr& in) {
        if (!frame || !frame->blame) return in.site;
        return frame->code->foreign[instruction_of_site(in.site)] ? frame->blame : in.site;
    }
    // Memory of another device is out of reach until peer access is enabled (of a pool: until the
    // pool shares it); the host's is not.
    bool can_reach(const Allocation& a) const {
        if (a.of_pool && a.device != info.device) [[unlikely]]
            return a.shared_with >> (unsigned(info.device) & 63) & 1;
        return reachable >> (unsigned(a.device) & 63) & 1 || a.host_visible();
    }
    void fail(LaunchStatus what) {
        if (status != LaunchStatus::kOk) return;
        status = what;
        // A card would have stopped here. What else there is to find comes soon or never.
        most_instructions_ = std::min(most_instructions_, warp_instructions + (uint64_t(1) << 21));
    }
    // Nothing more of the launch runs.
    void stop(LaunchStatus what) {
        fail(what);
        abort = true;
        most_instructions_ = 0;
    }
    void fault(FaultKind kind, uint32_t lanes, std::string message = {}, std::string file = {},
               uint32_t line = 0, std::string function = {}, SiteId other = 0);
    uint32_t local_stride() const { return local_stride_; }
    std::byte* local_memory();
    // Of the local memory of a lane of the current warp, as in generic addresses.
    uint32_t local_owner(uint32_t lane) const {
        return owner(warp->info.index * kWarpSize + lane,
                     uint32_t(block->info.serial) & kOwnerBlockMask);
    }
    // Of the shared memory of the current block.
    uint32_t shared_owner() const {
        return owner(0, uint32_t(block->info.serial) & kOwnerBlockMask);
    }
    // These lanes use generic addresses of local or shared memory: is it theirs?
    void check_owners(const uint64_t* address, uint32_t lanes, AccessKind kind, uint64_t tag);
    // Makes [address, +bytes) of a lane's generic address readable: host pointer or null.
    std::byte* peek(uint64_t generic, uint64_t bytes, uint32_t lane);
    void exit_lanes(uint32_t lanes);  // of the current warp, at the current instruction

    // ---- warp operations (warp_ops.cpp) --------------------------------------------------
    struct Party {
        Frame* frame;
        const Instr* instr;
        uint32_t mask;
    };
    void run_warp_op(std::span<const Party> parties, uint32_t named, uint32_t missing_waiting);
    void tell_of_warp_op(std::span<const Party> parties, WarpOp::Kind kind, uint32_t named,
                         uint32_t lanes, uint32_t missing_waiting, uint32_t undefined);
    void run_together(std::vector<Party> parties);

private:
    friend class Decoder;
    void run_grid();
    RunResult run_block(BlockState& state);
    RunResult run_warp(WarpState& state);
    enum class Stop : uint8_t { kGone, kBlocked, kSpin, kAbort };
    Stop run_split(size_t index);
    enum class Run : uint8_t { kEnded, kSpin, kAbort };
    template <bool one_lane>
    Run run_straight(Split& split, Code& code, uint32_t& first, const Instr*& next,
                     uint32_t& turns);
    uint32_t guarded_lanes(const Instr& in) const {
        return in.guard_negated ? ~predicate(in.guard) : predicate(in.guard);
    }
    bool account(Code& code, uint32_t first, uint32_t lanes);
    bool account_until(Code& code, uint32_t first, uint32_t end, uint32_t lanes);
    void out_of_budget();
    void start_block(uint64_t linear, BlockState& state);
    void finish_block(BlockState& state);
    void diverge(Split& split, uint32_t taken, uint32_t target, uint32_t fall, uint32_t meeting);
    bool arrive(Split& split);  // at its join: true when the split goes on
    void complete_join(WarpState& state, Join* join);
    void lanes_left(Join* join, uint32_t lanes);
    void release_joins(WarpState& state);
    bool call(Split& split, const Instr& in);
    void do_return(Split& split);
    Stop barrier(Split& split, const Instr& in);
    Stop rare_barrier(Split& split, const Instr& in);
    void check_barrier(BlockState& state, uint32_t id);
    void complete_barrier(BlockState& state, uint32_t id);
    Stop warp_sync(Split& split, const Instr& in);
    void try_warp_sync(WarpState& state, bool force);
    void merge_splits(WarpState& state);
    void report_stall(StallEvent::Kind kind, bool idle = false);
    uint64_t fingerprint() const;  // of all that runs, memory aside
    void collect_counts(LaunchSummary& summary);

    void execute_invariants(Frame& activation);
    Frame* make_frame(Code& code, Frame* caller);
    void ref(Frame* f) {
        if (f) ++f->refs;
    }
    void unref(Frame* f);
    Join* make_join(Join* parent, Frame* frame, uint32_t pc, uint32_t mask);
    void unref(Join* join);
    void drop_split(WarpState& state, size_t index);

    std::vector<std::unique_ptr<BlockState>> resident_;
    std::vector<std::unique_ptr<BlockState>> spare_;
    std::vector<Join*> join_pool_;
    std::vector<std::byte*> local_pool_;
    std::vector<Code*> touched_;
    std::vector<SiteCount> site_counts_;
    Code* entry_ = nullptr;
    uint64_t budget_ = 0;             // of the launch, in thread-instructions
    uint64_t most_instructions_ = 0;  // of warps: where it is used up, or 0 after a stop
    uint32_t local_stride_ = 0;
    uint64_t serial_ = 0, block_serial_ = 0;
};

inline Executor& executor(Lanes& lanes) {
    return static_cast<Executor&>(lanes);
}

// The functions that the device runtime supplies; null when `name` is not one.
using Builtin = void (*)(Executor&, const Instr&, const CallOp&);
Builtin find_builtin(std::string_view name);

}  // namespace machine
