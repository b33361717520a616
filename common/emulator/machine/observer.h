// SPDX-License-Identifier: MIT
// The one contract between the machine and whoever watches it. Events are per warp instruction,
// fire from chokepoints (memory, scheduler, runtime API), are const, and live only during the call.
// An observer never prints, throws or changes the machine. The machine protects itself afterwards:
// a load that is out of range gives poison, such a store is dropped, and the run goes on.
#pragma once

#include "machine/events.h"

namespace machine {

class Observer {
public:
    virtual ~Observer() = default;

    // Memory. on_alloc also for module variables and in-kernel malloc; on_free just before release.
    virtual void on_alloc(const Allocation&) {}
    virtual void on_free(const Allocation&) {}
    // The runtime (memcpy, memset, symbol copy) touched device memory, in stream order.
    virtual void on_host_access(const HostAccess&) {}
    // Streams, events and device-wide waits, in the order in which the program called them.
    virtual void on_order(const OrderEvent&) {}
    // A call that the program should not have made, or a result that it should have looked at.
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
    // One lane goes through memory with nobody else about: of so many of its next accesses by one
    // instruction (`next` and those every `step` bytes behind it, `most` in all), how many the
    // observer is content to hear of together and later, by on_streak. They are aligned, plain, in
    // bounds, and `next` has no values. What it says holds until the lane stops being alone; in
    // between comes nothing but on_access and on_streak of the same lane, of other bytes where one
    // of the two stores. 0, for those who do not care: none.
    virtual uint64_t foresee(const AccessEvent& /*next*/, int64_t /*step*/, uint64_t /*most*/) {
        return 0;
    }
    // `count` accesses like `first`, each `step` bytes behind the one before. They have happened:
    // what they stored is in memory, and `first` has no values.
    virtual void on_streak(const AccessEvent& /*first*/, int64_t /*step*/, uint64_t /*count*/) {}
    // cp.async: its store, of which on_access told when it was started, takes place only now.
    virtual void on_async_copy(const AsyncCopyEvent&) {}
    // membar/fence, and the fence half of .acquire/.release accesses is in AccessEvent::order.
    virtual void on_fence(const FenceEvent&) {}
    // A barrier of the block completed: who arrived where. Fires before anybody continues.
    virtual void on_block_barrier(const BarrierEvent&) {}
    // __syncwarp, shfl, vote, match, redux: lanes met (or were wrongly named).
    virtual void on_warp_sync(const WarpSyncEvent&) {}
    virtual void on_exit(const ExitEvent&) {}
    // assert(), trap, and faults that the machine itself found (stack overflow, bad call target).
    virtual void on_fault(const FaultEvent&) {}
    // A value that nothing had defined decides a branch, is an address, or is stored.
    virtual void on_undefined_use(const UndefinedUse&) {}
    // Nothing can run any more (deadlock) or the budget is used up (hang): who waits where.
    virtual void on_stall(const StallEvent&) {}
};

// Fans events out. Each kind has its own list, so an observer costs nothing for events it has not
// asked for in `Interest`.
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
    kOnlyBadAccess = 512,     // accesses of any space, but only with bad_lanes or misaligned_lanes
    kUndefinedValues = 1024,  // costs time in every access, so nobody gets it unasked
    kAllEvents = 0x1ff,
};

class Observers {
public:
    void add(Observer* observer, uint32_t interests);  // not owned; calls come in the order added
    void clear();

    std::vector<Observer*> memory, host, launch, block, global, shared, local, sync, fault, bad,
        undefined;
};

}  // namespace machine
