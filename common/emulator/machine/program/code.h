// SPDX-License-Identifier: MIT
// A decoded PTX function: instructions with handlers, and side tables for those that need more than
// rows. Created once per function of a loaded module, shared by all launches.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "machine/program/instr.h"
#include "machine/program/lane_pattern.h"
#include "machine/program/local_objects.h"
#include "machine/program/texture_op.h"

namespace machine {

class LaunchState;
struct Code;
struct Frame;
struct MatrixOp;
class ModuleImage;

// The scheduler's action at an instruction; all other instructions run through Instr::handler.
enum Control : uint8_t {
    kStraight,    // handler, next
    kGuarded,     // handler under @p
    kReconverge,  // no PTX instruction: diverged lanes may reconverge here
    kBranch,
    kBranchTable,
    kCall,
    kReturn,  // ret in a .func; in an .entry it is kExit
    kExit,
    kBarrier,
    kWarpOp,
    kTrap,
    kMissing,  // control reached the end of a function without a return
};

// Addresses in non-global spaces as generic 64-bit pointers: a tag in the top byte and the space's
// own 32-bit address in the low word, so that conversion is one addition.
constexpr uint64_t kSharedTag = 0x01, kLocalTag = 0x02, kParamTag = 0x03, kCodeTag = 0x04;
constexpr uint64_t generic_base(uint64_t tag) {
    return tag << 56;
}
// The bits between identify the thread that owns a generic address of local memory, or the block
// that owns one of shared memory. On a card the same address refers to different memory in each
// thread or block, so using another one's address is a bug. Of the 24 bits, the lowest seven depend
// on the others, so that an index that is wrong by multiples of 2^32 does not yield a valid owner.
constexpr unsigned kOwnerShift = 32;
constexpr uint32_t kOwnerMask = 0xffffff, kOwnerCheckMask = 0x7f, kOwnerBlockMask = 0x7f;
constexpr unsigned kOwnerThreadShift = 7, kOwnerBlockShift = 17;
constexpr uint32_t owner(uint32_t thread, uint32_t block) {
    return ((thread * 5 + block * 3 + 1) & kOwnerCheckMask) | thread << kOwnerThreadShift |
           block << kOwnerBlockShift;
}
constexpr uint32_t thread_of_owner(uint32_t owner) {
    return owner >> kOwnerThreadShift & 0x3ff;
}
constexpr bool is_owner(uint32_t value) {
    return value == owner(thread_of_owner(value), value >> kOwnerBlockShift);
}

struct BranchOp {
    uint32_t target = 0;
    uint32_t reconvergence = 0xffffffffu;  // pc of a kReconverge, or none
    std::vector<uint32_t> table;           // brx.idx
    uint32_t index_row = kNoRow;
};

// Storage of a .param variable of a call: every lane has `stride` bytes of its own.
struct Region {
    uint32_t offset = 0;  // in the frame's rows
    uint32_t bytes = 0, stride = 0;
};

struct CallOp {
    mutable Code* target = nullptr;  // resolved at the first call
    std::string name;                // symbol; empty for an indirect call
    uint32_t pointer_row = kNoRow;
    struct Slot {               // location of a caller's argument or result
        Region region;          // a .param variable ...
        uint32_t row = kNoRow;  // ... or a register or constant of `row_bytes` per lane
        uint32_t row_bytes = 0;
    };
    std::vector<Slot> arguments, results;
    // A function that the device runtime supplies (vprintf, malloc, ...), or null.
    void (*builtin)(LaunchState&, const Instr&, const CallOp&) = nullptr;
};

struct MemoryOp;
struct AccessRun;  // access_runs.h
// Moves data between rows and memory for the lanes of `mask`. Lane i's bytes are at
// bias + address[i] + i * lane_stride. Addresses have been validated.
using Mover = void (*)(LaunchState&, const MemoryOp&, uint32_t mask, uint64_t bias,
                       const uint64_t* address, uint64_t lane_stride, bool contiguous);

struct MemoryOp {
    ptx::Space space = ptx::Space::kNone;
    AccessKind kind = AccessKind::kLoad;
    MemoryOrder order = MemoryOrder::kWeak;
    Scope scope = Scope::kNone;
    bool conditional = false;  // compare-and-swap
    uint8_t element_bytes = 0, vector = 1, bytes = 0;
    enum class Base : uint8_t { kRow32, kRow64, kAbsolute, kLocal } base = Base::kRow64;
    uint32_t base_row = kNoRow;
    int64_t offset = 0;  // kAbsolute: the whole address
    uint32_t rows[8] = {kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow};
    uint8_t row_bytes = 0;                    // width of those rows
    uint32_t operands[2] = {kNoRow, kNoRow};  // atomics: b, c
    uint32_t dst = kNoRow;
    Mover mover = nullptr;
    Region region;       // .param of a function
    LocalObject object;  // of the depot: where the address points into, if it is local
    mutable Allocation* cache = nullptr;
    LanePattern* pattern = nullptr;  // of its latest accesses by whole warps; null: not followed
    // For accesses by one lane, see access_runs.h: the bytes of a value that is moved unchanged (4
    // or 8; 0: use the mover), the open run, the address of the latest access, its distance from
    // the one before, the number of consecutive runs that were too short to pay off, and the number
    // of chances that were skipped since.
    uint8_t plain_bytes = 0;
    mutable uint8_t short_runs = kUnproven, left_out = 0;
    static constexpr uint8_t kUnproven = 4;  // if less: the latest runs were long
    mutable AccessRun* run = nullptr;
    mutable uint64_t last_address = 0;
    mutable int64_t step = 0;
};

struct BarrierOp {
    enum class Kind : uint8_t { kSync, kArrive, kPopc, kAnd, kOr } kind = Kind::kSync;
    bool aligned = true;
    uint32_t id_row = kNoRow, count_row = kNoRow, predicate_row = kNoRow, dst = kNoRow;
    bool negated = false;
};

struct WarpOp {
    enum class Kind : uint8_t {
        kBarrier,
        kShuffleUp,
        kShuffleDown,
        kShuffleXor,
        kShuffleIndex,
        kAll,
        kAny,
        kUniform,
        kBallot,
        kMatchAny,
        kMatchAll,
        kReduceAdd,
        kReduceMin,
        kReduceMax,
        kReduceAnd,
        kReduceOr,
        kReduceXor,
        kElect,
        kMatrix,
    } kind = Kind::kBarrier;
    bool is_signed = false, negated = false;
    bool is_float = false, absolute = false, keeps_nan = false;  // redux.f32
    uint8_t width = 4;                                           // bytes of the operand
    uint32_t dst = kNoRow, dst_predicate = kNoRow;
    uint32_t a = kNoRow, b = kNoRow, c = kNoRow, mask_row = kNoRow;
    // kMatrix: what the lanes do together after they have met. `orders`: the lanes' accesses before
    // it happen before those after it, as with __syncwarp.
    void (*together)(LaunchState&, const MatrixOp&) = nullptr;
    const MatrixOp* matrix = nullptr;
    bool orders = false;
};
// The kind by which observers are notified.
WarpSyncKind sync_kind(WarpOp::Kind kind);

struct Code {
    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code();  // and its spare activations
    ModuleImage* module = nullptr;
    const ptx::Function* function = nullptr;
    std::string name;  // demangled
    bool is_entry = false;
    bool is_toolkit = false;  // a wrapper of the toolkit's headers, not inlined (-G)
    // For a toolkit's function that was not inlined, by PTX instruction: no level of its inlining
    // is in the user's source. Empty for all other functions.
    std::vector<bool> foreign;
    std::vector<Instr> instructions;
    // Executed once for each activation's rows and launch; see invariants.cpp.
    std::vector<Instr> invariants;
    struct Counted {
        uint32_t pc;  // the instruction that it is counted with
        SiteId site;
        bool in_double;
    };
    std::vector<Counted> counted_with;
    std::vector<uint32_t> register_rows;  // by index of the PTX register
    uint32_t row_bytes = 0;               // size of one activation's rows
    uint32_t constants_begin = 0;  // rows from here on hold constants: written once, never changed
    std::vector<std::byte> constants;
    uint32_t local_bytes = 0;  // .local depot of one activation, per lane
    std::vector<Region> parameters, results;

    std::deque<MemoryOp> memory;
    std::deque<LanePattern> patterns;
    std::deque<CallOp> calls;
    std::deque<BranchOp> branches;
    std::deque<BarrierOp> barriers;
    std::deque<WarpOp> warp_ops;
    std::vector<std::shared_ptr<void>> side_tables;  // for rarer instructions
    std::deque<TextureOp> textures;

    std::vector<uint32_t> shared;      // indexes into ModuleImage::shared that the body uses
    std::vector<std::string> callees;  // direct calls
    bool calls_indirectly = false;

    struct Delta {
        int64_t warps = 0, threads = 0;
        void add(int64_t times, int lanes) {
            warps += times;
            threads += times * lanes;
        }
    };
    // From each instruction to the next one after which control may continue elsewhere, inclusive.
    // Lanes that wait for others at a kReconverge on the way have executed the part before it.
    struct Run {
        Delta executed;
        uint32_t end = 0;
        // Its PTX instructions, including those that are fused with another one or run once per
        // launch.
        uint32_t instructions = 0;
    };
    std::vector<Run> runs;
    std::vector<Delta> deltas;  // in addition: +1 where lanes begin to count, -1 where they end
    std::vector<uint64_t> divergent;
    bool touched = false;
    std::vector<Frame*> spare_frames;  // activations for reuse, with their constants in place
    void reset_counts();
};

// Throws UnsupportedPtx with a list of everything in `function` that cannot run.
std::unique_ptr<Code> decode(ModuleImage& module, const ptx::Function& function);

}  // namespace machine
