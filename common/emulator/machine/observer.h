// SPDX-License-Identifier: MIT
// The only interface between the machine and its observers. The functions on_... are events: one
// for each warp instruction, sent from chokepoints (memory, scheduler, runtime API), const, and
// valid only during the call. Two functions are questions: foresee() and undefined_lanes(). Their
// answers decide how much the machine reports and which values it tracks, never what the program
// computes. Beyond that, an observer changes nothing: it does not print, throw, write to the
// machine, or depend on another observer. After an event the machine protects itself: a load out of
// range returns poison, a store is dropped, the run continues.
#pragma once

#include "machine/events.h"

namespace machine {

class Observer {
public:
    virtual ~Observer() = default;

    // Memory. on_alloc also for module variables and in-kernel malloc; on_free just before release.
    virtual void on_alloc(const Allocation&) {}
    virtual void on_free(const Allocation&) {}
    // From now on other processes can read and write the memory, which no event reports.
    virtual void on_share(const Allocation&) {}
    // The runtime (memcpy, memset, symbol copy) accessed device memory, in stream order.
    virtual void on_host_access(const HostAccess&) {}
    // Streams, events and device-wide waits, in the order in which the program called them.
    virtual void on_order(const OrderEvent&) {}
    // A call that the program should not have made, or a result that it should have checked.
    virtual void on_api(const ApiEvent&) {}
    // cudaDeviceReset: what is still allocated on the device was never freed. on_free follows for
    // each.
    virtual void on_device_reset(int /*device*/) {}
    // Once, when the process ends normally: what is still allocated is leaked.
    virtual void on_process_end() {}

    virtual void on_launch_begin(const LaunchInfo&) {}
    virtual void on_launch_end(const LaunchInfo&, const LaunchSummary&) {}
    virtual void on_block_begin(const BlockInfo&) {}
    virtual void on_block_end(const BlockInfo&) {}

    // Before every load, store and atomic of a warp. Spaces are resolved: a generic access fires
    // one event per space that its lanes hit; kNone is an address in no space at all.
    virtual void on_access(const AccessEvent&) {}
    // Asked when a single lane steps through memory while no other lane runs. Of its next accesses
    // by one instruction (`next`, then every `step` bytes, `most` in all), how many may be reported
    // later in one on_access_run? They are aligned, plain and in bounds; `next` has no values. The
    // answer holds until another lane runs. In between come only on_access and on_access_run of the
    // same lane, for other bytes where one of the two stores. 0: report each access.
    virtual uint64_t foresee(const AccessEvent& /*next*/, int64_t /*step*/, uint64_t /*most*/) {
        return 0;
    }
    // `count` accesses like `first`, each `step` bytes after the previous one. They have happened:
    // what they stored is in memory, and `first` has no values.
    virtual void on_access_run(const AccessEvent& /*first*/, int64_t /*step*/, uint64_t /*count*/) {
    }
    // Asked about a load while undefined values are tracked (AccessEvent::tracked), after on_access
    // for it: which lanes read bytes that nothing has written? Their values are tracked until
    // they matter (on_undefined_use) or are overwritten.
    virtual UndefinedLoad undefined_lanes(const AccessEvent&) { return {}; }
    // cp.async: its store, for which on_access was called at the start, takes place now.
    virtual void on_async_copy(const AsyncCopyEvent&) {}
    // membar/fence, and the fence half of .acquire/.release accesses is in AccessEvent::order.
    virtual void on_fence(const FenceEvent&) {}
    // A barrier of the block has completed: which lanes arrived where. Fires before any continues.
    virtual void on_block_barrier(const BarrierEvent&) {}
    // __syncwarp, shfl, vote, match, redux: lanes met, or the mask named the wrong ones.
    virtual void on_warp_sync(const WarpSyncEvent&) {}
    virtual void on_exit(const ExitEvent&) {}
    // assert(), trap, and faults that the machine itself found (stack overflow, bad call target).
    virtual void on_fault(const FaultEvent&) {}
    // An undefined value decides a branch, is an address, or is stored.
    virtual void on_undefined_use(const UndefinedUse&) {}
    // No lane can run (deadlock) or the budget is used up (hang): which lanes wait where.
    virtual void on_stall(const StallEvent&) {}
};

// The kinds of event that an observer asks for. Each kind has a list of its own, so an observer
// costs nothing for other events.
enum Interest : uint32_t {
    kMemoryEvents = 1,
    kHostEvents = 2,
    kLaunchEvents = 4,
    kBlockEvents = 8,
    kGlobalAccess = 16,
    kSharedAccess = 32,
    kLocalAccess = 64,
    kSyncEvents = 128,
    kFaultEvents = 256,
    kOnlyBadAccess = 512,  // accesses of any space, but only with bad_lanes or misaligned_lanes
    // on_undefined_use, and undefined_lanes for loads of the spaces whose accesses it asks for.
    // Tracking costs time in every access, so it is not part of kAllEvents.
    kUndefinedValues = 1024,
    kAllEvents = 0x1ff,
};

class Observers {
public:
    void add(Observer* observer, uint32_t interests);  // not owned; called in the order added
    void clear();

    std::vector<Observer*> memory, host, launch, block, global, shared, local, sync, fault, bad,
        undefined;
    // Those of `undefined` that answer undefined_lanes() for loads of the space.
    std::vector<Observer*> undefined_global, undefined_shared;
};

}  // namespace machine
