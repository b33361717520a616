// SPDX-License-Identifier: MIT
// The data of events on the host's side: accesses to memory, what orders streams, and misuse of the
// API. events.h has those of the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/memory.h"

namespace machine {

struct HostAccess {
    // kCopy: device to device. kFree: in the order of a stream; the free itself follows. kAllocate:
    // the same for an allocation; other streams may use it only after that.
    enum class Kind : uint8_t { kRead, kWrite, kCopy, kFree, kAllocate } kind;
    const char* api;               // "cudaMemcpy"
    const Allocation* allocation;  // destination (kWrite, kCopy) or source (kRead)
    uint64_t address, bytes;
    const Allocation* source;  // kCopy only
    uint64_t source_address;
    uint64_t stream;
    HostSite site;
    // kAsync: the call returns before the work is done (cudaMemcpyAsync). kGraphNode: a node of a
    // graph, whose launch returns before. kLibrary: a kernel of a library accesses memory, and
    // nothing is copied to or from the host.
    enum class Ordering : uint8_t { kBlocking, kAsync, kGraphNode, kLibrary } ordering;
    const char* operand = nullptr;  // kLibrary: the name of the function's parameter, "A"
    bool fill = false;              // cudaMemset and relatives: they return before the fill is done
    // The other end of a transfer, if that is pinned host memory. Null: pageable memory, or no
    // transfer.
    const Allocation* pinned = nullptr;
    uint64_t pinned_address = 0;
    bool writes_pinned = false;
    bool continued = false;  // another row of the copy or fill that the event before began

    // A blocking copy from pageable memory: the call returns when the bytes have been staged, and
    // the transfer itself may go on (CUDA Runtime API, "API synchronization behavior").
    bool staged() const {
        return kind == Kind::kWrite && ordering == Ordering::kBlocking && !fill && !pinned &&
               allocation && !allocation->host_visible();
    }
};

struct OrderEvent {
    enum class Kind : uint8_t {
        kDeviceSync,
        kStreamSync,
        kEventRecord,
        kEventSync,
        kStreamWaitEvent,
        kStreamCreate,
        kStreamDestroy,
        // The host has not waited, but may know that the work of the stream (or before the event,
        // where one is named) is done, because a host function after it runs.
        kHostSees,
        // Around the nodes of a graph that is launched into `stream`.
        kGraphBegin,
        kGraphEnd,
        // Around the launches of a collective of several devices, one for each rank: `bytes` and
        // `steps`.
        kCollectiveBegin,
        kCollectiveEnd,
    } kind;
    uint64_t stream = 0, event = 0;
    bool non_blocking = false;  // kStreamCreate: does not synchronise with the default stream
    int device = 0;
    HostSite site = 0;  // of a call in which the host waits
    // kStreamSync by such a copy: the host has waited for what was in the stream before it.
    bool staged = false;
    // Streams that meet in a collective: no call of the program, and no work for the host.
    bool within_collective = false;
    uint64_t bytes = 0;  // that each device of a collective sends over its links
    uint32_t steps = 0;  // messages of it that follow one another
};

struct ApiEvent {
    enum class Kind : uint8_t {
        kInvalidLaunch,  // the limit, what was asked and what is allowed are in `message`
        kInvalidCopy,
        kInvalidFree,
        kDoubleFree,
        kEarlyFree,  // of memory that another process has open
        kHostDereference,
        kUncheckedError,
        kUnsupported,
        kEndless,         // a loop of a graph
        kLibraryOperand,  // memory that a library's function must not access
        kLibraryMisuse,
        kCollectiveDeadlock,  // ranks that wait for others; `ranks` says who where
        kCollectiveMismatch,  // the ranks' calls do not belong together
    } kind;
    const char* api;       // "cudaMemcpy", "<<<>>>"
    int error = 0;         // cudaError_t
    std::string message;   // one sentence, backticks round names
    uint64_t address = 0;  // the pointer in question, 0 if none
    const Allocation* allocation = nullptr;
    HostSite site = 0, other_site = 0;  // other: the earlier free, the launch that failed, ...
    std::string kernel;                 // kInvalidLaunch
    // What is wrong, where the kind alone does not tell.
    enum class Reason : uint8_t {
        kUnknown,
        kNullPointer,
        kNoAllocation,    // the address is not one of CUDA's
        kFreed,           // the memory has been freed
        kOutOfRange,      // more bytes than the memory has
        kWrongDirection,  // host memory given as the device's, or the reverse
        kVariableName,    // a __device__ variable where a device pointer belongs
        kNoVariable,      // something else where the name of a variable belongs
        kInside,          // not the start of an allocation
        kWrongFunction,   // the free function of another kind of memory
        kEmptyGrid,       // 0 blocks, or 0 threads
        kTooManyThreads,
        kTooMuchShared,
        kHostFree,       // free() or delete of device memory
        kOpenElsewhere,  // another process has opened the memory
    } reason = Reason::kUnknown;
    // kOutOfRange: the bytes that were asked for, and those that there are from the address on (of
    // host memory) or in all (of the allocation).
    uint64_t asked = 0, available = 0;
    std::string detail;  // kLibraryOperand: the parameter's name; kLibraryMisuse: what kind
    // Of a collective: what a rank does, and where.
    struct Rank {
        HostSite site;
        std::string text;
    };
    std::vector<Rank> ranks = {};
};

}  // namespace machine
