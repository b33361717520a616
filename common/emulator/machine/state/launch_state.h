// SPDX-License-Identifier: MIT
// The state of a running launch, as handlers see it: activations, the diverged parts of warps,
// warps, resident blocks and the parameters of the launch. The Executor extends it with the
// interpreter loop and the scheduler.
//
// kernel<<<8, 96>>> with `__shared__ float tile[96]`, in block 5, after warp 0 has diverged at
// `if (threadIdx.x < 8)`; pc is an index into Code::instructions:
//
//   LaunchState
//     block --> BlockState
//                 shared       384 bytes: tile
//                 barriers     [0] .. [15]: bar.sync 0 is __syncthreads()
//                 warps        [0]         [1]         [2]
//                               |          lanes 0 .. 31 of each: threads 32 .. 63, 64 .. 95
//                               v
//     warp ------------------> WarpState
//                                local     32 x local_stride() bytes, one part for each lane
//                                splits    [0] mask 0xffffff00, pc 52    skips the body, later
//                                          [1] mask 0x000000ff, pc 31    the last one runs
//                                           |                  |
//                                     frame v                  v join
//                                         Frame              ReconvergencePoint
//                                           rows               pc 52, after the body
//                                           caller             expected 0xffffffff
//                                           local_base         arrived 0
//     rows --> a row of 32 lanes for each register of the activation:
//                lane       0     1     2   ...   31
//                %r1     [  0 ][  1 ][  2 ] ... [ 31 ]    32 x 4 bytes
//                %rd1    [    ][    ][    ] ... [    ]    32 x 8 bytes
//                %p1     one word, a bit for each lane
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/program/module_image.h"
#include "machine/program/sites.h"

namespace machine {

struct UndefinedRegisters;
class UndefinedValues;  // definedness/undefined.h

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
    uint32_t dynamic_bytes = 0;                 // after the depot, by alloca: the most of any lane
    std::array<uint32_t, kWarpSize> dynamic{};  // ... of each lane, from dynamic_base() on
    UndefinedRegisters* undefined = nullptr;    // null: all registers are defined
    SiteId blame = 0;   // in a toolkit's function: the call in the user's code that led to it
    uint32_t refs = 0;  // splits, joins and callees that refer to it
    uint32_t local_end() const { return local_base + code->local_bytes + dynamic_bytes; }
    uint32_t dynamic_base() const { return (local_base + code->local_bytes + 15) & ~15u; }
};

// A point where diverged lanes wait for each other. PTX has no instruction for it; hardware uses
// convergence barriers (Volta and later).
struct ReconvergencePoint {
    ReconvergencePoint* parent = nullptr;
    Frame* frame = nullptr;
    uint32_t pc = 0;
    uint32_t expected = 0, arrived = 0;
    uint32_t refs = 0;  // splits and child joins
};

enum class SplitState : uint8_t { kRunnable, kBarrier, kWarpSync };

// Lanes of a warp that execute together.
struct WarpSplit {
    Frame* frame = nullptr;
    ReconvergencePoint* join = nullptr;
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
    std::vector<WarpSplit> splits;           // the last runnable one runs next
    std::vector<ReconvergencePoint*> joins;  // with lanes waiting in them
    std::byte* local = nullptr;  // 32 x LaunchState::local_stride(), mapped on first use
    SiteId exit_site = 0;
    uint64_t executed = 0;                // warp instructions so far
    std::shared_ptr<AsyncCopies> copies;  // null: none was started in this block
    // When undefined values are tracked: by byte of local memory, the lanes in which it is
    // undefined, and the origins of undefined values that were stored there.
    std::vector<uint32_t> undefined_local;
    std::unordered_map<uint32_t, uint32_t> undefined_from;
    uint32_t live() const { return info.valid & ~info.exited; }
};

struct BarrierState {
    std::vector<Arrival> arrivals;
    uint32_t arrived = 0, expected = 0;  // threads; expected 0: all live ones
    bool aligned = false;
    bool reduces = false;                 // bar.red: a thread waits for a result
    uint32_t popc = 0, all = 1, any = 0;  // of bar.red
    // The first warp to arrive determines how many threads the barrier waits for.
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
    uint32_t open_barriers = 0;  // bit per id: some threads have arrived
    bool spinning = false;
};

class LaunchState : public Lanes {
public:
    LaunchState(Memory& memory, Observers& observers, const Limits& limits,
                UndefinedValues& undefined);
    ~LaunchState();

    Memory& memory;
    Observers& observers;
    const Limits& limits;
    const TextureTable* textures = nullptr;  // of the runtime; null: there are none
    uint64_t reachable = ~uint64_t(0);       // bit per device whose memory may be accessed
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
    uint64_t changes = 0;       // of memory, and reads of a clock: signs of progress
    uint64_t near_changes = 0;  // those that no other block can see
    uint64_t far_polls = 0;     // polls of memory that other blocks write
    // The state when the clock was last read, and since when nothing else has changed.
    struct {
        uint64_t launch = 0, changes = 0, since = 0;  // nanoseconds
        uint64_t reads = 0;
        uint64_t counted = 0;  // of `changes`: reads of a clock
        // Of the cycle counter: other changes up to the latest read, the number of consecutive
        // reads without any, when these began, and by how much it is ahead of the instructions.
        uint64_t others = 0, quiet_reads = 0, began = 0, ahead = 0;
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
    bool asked_for_grid = false;  // grid synchronisation in a launch that is not cooperative
    uint64_t heap_bytes = 8 << 20, heap_used = 0;
    std::vector<Allocation*> heap;  // by in-kernel malloc, in all launches
    static LaunchState* running;    // of this thread, for current_bytes()

    bool follows = false;  // an observer asked for kUndefinedValues
    UndefinedValues& undefined;

    // The place that a finding about `in` names: in the user's code, also for the toolkit's
    // functions.
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
        // A card would have stopped here. Run on for a while, to find more errors.
        most_instructions_ = std::min(most_instructions_, warp_instructions + (uint64_t(1) << 21));
    }
    // Ends the launch now.
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
    // Reports lanes whose generic addresses are another thread's local or block's shared memory.
    void check_owners(const uint64_t* address, uint32_t lanes, AccessKind kind, uint64_t tag);
    // Makes [address, +bytes) of a lane's generic address readable: host pointer or null.
    std::byte* peek(uint64_t generic, uint64_t bytes, uint32_t lane);

    // Asynchronous: the launch ends at its next branch.
    void interrupt() {
        interrupted_.store(true, std::memory_order_relaxed);
        std::atomic_ref(most_instructions_).store(0, std::memory_order_relaxed);
    }

protected:
    void set_local_stride(uint32_t stride);
    void give_back_local(std::byte* memory) { local_pool_.push_back(memory); }

    std::atomic<bool> interrupted_ = false;
    uint64_t most_instructions_ = 0;  // of warps: where the budget is used up, or 0 after a stop
    uint32_t local_stride_ = 0;

private:
    std::vector<std::byte*> local_pool_;
};

inline LaunchState& launch_state(Lanes& lanes) {
    return static_cast<LaunchState&>(lanes);
}

}  // namespace machine
