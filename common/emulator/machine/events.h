// SPDX-License-Identifier: MIT
// The data of every event that an Observer can receive: here those of the device, in host_events.h
// those of the host. observer.h says when each one fires.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/host_events.h"
#include "machine/memory.h"
#include "ptx/module.h"

namespace machine {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;
// The shared space is cut into windows of 1 MiB, one per variable, with the variable in the middle.
constexpr uint32_t kSharedWindowBits = 20;

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t(x) * y * z; }
    bool operator==(const Dim3&) const = default;
};

// Set in the ids of streams that stand for branches of a graph.
constexpr uint64_t kGraphBranch = uint64_t(1) << 62;

// One decoded PTX instruction of one loaded function; dense and unique in the process, so it can
// key per-line tables and fit into shadow state (fewer than 2^24). code_site() explains it.
using SiteId = uint32_t;

struct CodeSite {
    std::string function;  // demangled name of the PTX function it is in, without parameters
    std::string mangled;
    ptx::SourceLine user;                // the line to blame
    bool library = false;                // that line is a toolkit's: none is in a user's file
    std::vector<ptx::SourceLine> chain;  // innermost first
    std::string_view opcode;             // as written in PTX
    uint32_t ptx_line = 0;
};
const CodeSite& code_site(SiteId site);  // resolved on first use, valid for ever

// A .shared variable of the running kernel. Each has a virtual window of its own, so an overrun of
// one never silently lands in the next; `offset` is where it lies on hardware (bank = offset/4 %
// 32).
struct SharedVariable {
    std::string name;      // demangled, innermost component: `tile`
    std::string function;  // the plain name of the function that declares it, or empty
    uint64_t address = 0;  // in the 32-bit shared space, as the kernel computes with it
    uint32_t offset = 0;   // compact offset in the block's shared memory
    uint32_t bytes = 0;
    bool dynamic = false;   // extern __shared__: sized by the launch
    bool reserved = false;  // the system's, which does not count as the kernel's own
    // If the compiler has split an array into several variables: which of them. -1: not split.
    int32_t part = -1;
};

struct LaunchInfo {
    uint64_t serial = 0;  // 1, 2, 3, ... in the process
    std::string kernel;   // demangled, without parameters and template noise: `tree_reduction`
    std::string mangled;
    Dim3 grid, block;
    uint32_t dynamic_shared_bytes = 0;
    uint64_t stream = 0;  // the runtime's own id, 0 for the default stream
    int device = 0;
    bool cooperative = false;
    HostSite launched_at = 0;
    const std::vector<ptx::Parameter>* parameters = nullptr;
    std::span<const std::byte> arguments;  // laid out as `parameters` say
    const std::vector<SharedVariable>* shared = nullptr;
    uint32_t shared_bytes = 0;  // compact total, static and dynamic
    ptx::SourceLine declared;   // first line of the kernel's body, file empty if unknown
};

// Executions of one instruction in a launch, for the instruction and divergence counters.
struct SiteCount {
    SiteId site;
    uint64_t warps;                 // times that a warp executed it
    uint64_t threads;               // sum of active lanes
    bool divergent_branch = false;  // a conditional branch whose lanes went both ways ...
    uint64_t divergent = 0;         // ... this many times
    bool in_double = false;         // arithmetic on 64-bit floating point
    uint32_t matrix_products = 0;   // of two elements, in each execution of wmma.mma or mma
};

enum class LaunchStatus : uint8_t {
    kOk,
    kIllegalAddress,
    kMisaligned,
    kAssert,
    kTrap,
    kDeadlock,
    kBudget,
    kStackOverflow,
    kUnsupported,
};

struct LaunchSummary {
    LaunchStatus status = LaunchStatus::kOk;
    uint64_t warp_instructions = 0, thread_instructions = 0;
    uint64_t busiest_warp_instructions = 0;  // of the warp that executed the most
    std::span<const SiteCount> sites;        // only those executed; empty if not counted
};

struct BlockInfo {
    const LaunchInfo* launch = nullptr;
    uint64_t serial = 0;  // unique in the process
    uint64_t linear = 0;  // blockIdx flattened, x fastest
    Dim3 index{0, 0, 0};
    uint32_t threads = 0, warps = 0;
};

struct WarpInfo {
    const BlockInfo* block = nullptr;
    uint32_t index = 0;   // in the block
    uint32_t valid = 0;   // lanes that exist (the last warp of a block may be short)
    uint32_t exited = 0;  // lanes that have returned
    uint32_t thread(uint32_t lane) const {
        return index * kWarpSize + lane;
    }  // linear in the block
};
Dim3 thread_index(const BlockInfo& block, uint32_t linear_thread);

enum class AccessKind : uint8_t {
    kLoad,
    kStore,
    kAtomic /* atom: read, modify, write */,
    kReduction /* red */
};
// kVolatile is relaxed with system scope (PTX ISA "Memory Consistency Model"). kUnstated: an atomic
// that names no order, such as atomicAdd(); PTX treats it as relaxed.
enum class MemoryOrder : uint8_t {
    kWeak,
    kVolatile,
    kUnstated,
    kRelaxed,
    kAcquire,
    kRelease,
    kAcqRel
};
enum class Scope : uint8_t { kNone, kCta, kCluster, kGpu, kSys };

// What Observer::undefined_lanes() answers: the lanes of a load that read undefined bytes. The
// machine then tracks these values.
struct UndefinedLoad {
    uint32_t lanes = 0;
    const void* by = nullptr;  // the observer, and its own number for the read: UndefinedOrigin
    uint64_t token = 0;
    uint32_t origin = 0;  // instead: the value was stored with this origin
};

// A matrix of wmma.load or wmma.store whose address or stride is not as the instruction demands.
struct MisplacedMatrix {
    uint32_t rows, columns;
    bool column_major;
    uint64_t stride;                             // bytes from a row, or a column, to the next
    uint32_t address_multiple, stride_multiple;  // what each must be a multiple of, in bytes
    // All lanes must give the same address and stride: the lanes that differ from the first, and
    // what that one gives.
    uint32_t strayed = 0;
    uint32_t first_lane = 0;
    uint64_t first_address = 0, first_stride = 0;
};

struct LanePattern;  // program/lane_pattern.h

struct AccessEvent {
    const WarpInfo* warp;
    SiteId site;         // the place to blame: in a toolkit's function, the call that led there
    SiteId instruction;  // the load, store or atomic itself
    ptx::Space space;    // kGlobal, kShared, kLocal, kConst, or kNone for an address of no space
    AccessKind kind;
    MemoryOrder order;
    Scope scope;
    bool wrote_only_if_equal;  // compare-and-swap: may not have stored
    uint8_t bytes;             // per lane, all elements of a vector together: 1 to 16
    uint8_t element_bytes;
    uint32_t mask;            // active lanes, never 0
    const uint64_t* address;  // [32], valid where mask is set. kShared: in the 32-bit shared space
    // The one live allocation (kGlobal, kConst) or variable (kShared) that holds every active
    // lane's whole range; null when the lanes differ or some are bad: check each lane.
    const Allocation* allocation;
    const SharedVariable* variable;
    // The lowest and highest address of the active lanes, where known; else both 0.
    uint64_t lowest = 0, highest = 0;
    bool contiguous;  // lane i is at address[0] + i * bytes, all 32 lanes active
    // All 32 lanes are active, not contiguous, and repeat a pattern of the instruction. Else null.
    const LanePattern* pattern = nullptr;
    uint32_t bad_lanes;         // range not wholly inside one live allocation or variable
    uint32_t misaligned_lanes;  // address not a multiple of `bytes`
    // kLocal: the variable that the address is derived from, where known; else both 0. A lane that
    // leaves it is bad, even where it reaches another variable of its thread, as on hardware.
    uint32_t object_begin, object_end;
    // Stores: lane i's bytes are at values + i * value_stride (before the store). Else null.
    const std::byte* values;
    uint32_t value_stride;
    // Atomics: the same for their first operand (what a compare-and-swap compares with). Else null.
    const std::byte* operand = nullptr;
    uint32_t operand_stride = 0;
    // Only for observers of bad accesses: this event is about the whole matrix, not an access.
    const MisplacedMatrix* misplaced = nullptr;
    bool texture = false;  // by a texture or surface instruction: not the path of ld and st

    // Undefined values. Loads: whether the machine tracks what they read, and therefore asks
    // Observer::undefined_lanes(). Stores: the lanes that store one, and its origin; their bytes
    // still count as unwritten.
    bool tracked = false;
    uint32_t undefined_store, undefined_origin;

    // Offset in the block's compact shared memory; only for lanes that are not bad.
    uint32_t shared_offset(uint32_t lane) const {
        return uint32_t(address[lane] - variable->address) + variable->offset;
    }
};
// The variable of the running launch that holds `address` (any byte of its window), or null.
const SharedVariable* shared_variable_at(const LaunchInfo& launch, uint64_t address);
// The current bytes at a lane's address; null for a bad lane. Shared memory is that of the event's
// block.
const std::byte* current_bytes(const AccessEvent& event, uint32_t lane);

// A cp.async of some lanes. Between the two events, an access to those bytes by any thread, also
// the same one, meets a copy in progress.
struct AsyncCopyEvent {
    enum class Kind : uint8_t { kStarted, kCompleted } kind;
    const AccessEvent* store;  // the access to shared memory, by the lanes that copy
};

struct FenceEvent {
    const WarpInfo* warp;
    SiteId site;
    uint32_t mask;
    Scope scope;
};

struct Arrival {
    uint32_t warp, mask;  // which lanes of which warp
    SiteId site;          // at which barrier instruction
    bool arrive_only;     // bar.arrive: did not wait
};

struct BarrierEvent {
    const BlockInfo* block;
    uint32_t id;        // 0 to 15; 0 is __syncthreads
    uint32_t expected;  // threads asked for by the instruction; 0: the whole block
    bool aligned;       // bar.sync and barrier.sync.aligned: whole warps must come together
    std::span<const Arrival> arrivals;
    std::span<const uint32_t> exited;   // per warp: lanes that have returned
    std::span<const SiteId> exit_site;  // per warp: where the last of them returned
};

// kMatrix: wmma, mma, ldmatrix and others that a warp executes as one.
enum class WarpSyncKind : uint8_t { kBarrier, kShuffle, kVote, kMatch, kReduce, kMatrix };
struct WarpSyncEvent {
    const WarpInfo* warp;
    SiteId site;
    WarpSyncKind kind;
    uint32_t named;              // the mask operand
    uint32_t arrived;            // lanes that met here (all in `named`, unless `strangers`)
    uint32_t strangers;          // lanes whose own mask does not name them
    uint32_t missing_exited;     // named but already returned
    uint32_t missing_waiting;    // named, but waiting elsewhere: the others continued without them
    uint32_t undefined_sources;  // shfl: lanes that read from a lane that did not participate
    uint32_t strayed = 0;        // lanes at an operation of the same family, but not the same one
    SiteId strayed_site = 0;     // where
};

struct ExitEvent {
    const WarpInfo* warp;
    SiteId site;
    uint32_t mask;
};

enum class FaultKind : uint8_t {
    kAssert,
    kTrap,
    kStackOverflow,
    kBadCall,
    kHeapExhausted,
    kSurface,         // outside of a surface with boundary mode trap; see `message`
    kBadObject,       // a handle of no texture or surface object
    kBadFree,         // free() in a kernel of a pointer that is not allocated; see `message`
    kForeignAddress,  // of another thread's local or block's shared memory; see `message`
};
struct FaultEvent {
    FaultKind kind;
    const WarpInfo* warp;
    SiteId site;
    uint32_t mask;
    std::string message{};  // assert: the condition as written
    std::string file{};     // assert: as compiled in
    uint32_t line = 0;
    std::string function{};
    SiteId other = 0;  // kBadFree: the free() before
    bool without_grid =
        false;  // kTrap: a launch that is not cooperative has asked for its grid's barrier
};

// Where an undefined value came from.
struct UndefinedOrigin {
    enum class Kind : uint8_t {
        kRegister,  // a variable that the compiler keeps in a register
        kLocal,     // a variable in the thread's own memory
        kLoad,      // an observer's answer about a load: `by`, `token`
        kShuffle,   // from a lane that did not participate
    } kind = Kind::kRegister;
    SiteId site = 0;
    const void* by = nullptr;
    uint64_t token = 0;
    bool computed = false;  // it was used in a computation, not only copied
    uint32_t reported = 0;  // lanes
};
// Where the value matters. Copying an undefined value, also through memory, is harmless.
struct UndefinedUse {
    enum class How : uint8_t { kBranch, kAddress, kStored } how;
    const WarpInfo* warp;
    SiteId site;
    uint32_t lanes;
    const UndefinedOrigin* origin;
};

enum class WaitReason : uint8_t { kRunning, kBarrier, kWarpSync, kReconvergence };
struct Waiter {
    const BlockInfo* block;
    uint32_t warp, mask;
    SiteId site;
    WaitReason reason;
    uint32_t barrier;  // id, for kBarrier
    uint32_t named;    // mask, for kWarpSync
};
struct StallEvent {
    enum class Kind : uint8_t { kDeadlock, kBudget } kind;
    const LaunchInfo* launch;
    std::span<const Waiter> waiters;
    uint64_t exited_threads;
    // kBudget: thread-instructions that have been used up, of the whole launch or (`quiet`) since
    // it last changed memory or finished a block. 0 where the whole launch polls.
    uint64_t budget;
    bool quiet = false;
    // The whole launch polls and nothing changes: the memory polled last, where known. Otherwise
    // only memory that other processes can write.
    const Allocation* polled = nullptr;
    // The process was asked to end (SIGTERM): the budget is not used up.
    bool interrupted = false;
};

}  // namespace machine
