// SPDX-License-Identifier: MIT
// uninitialized-global and uninitialized-shared: a thread reads memory that nothing has written.
//
// One bit per byte. Stores and atomics set it; so do memset and copies from the host; a copy from
// device to device carries the bits along, and copying to the host is no use yet. Variables of a
// module begin initialised (C++ zero-initialises them), and so does memory that the host can write
// unseen: managed, pinned, registered, array storage. Shared memory begins anew with every block.
//
// What counts as a read of nothing: a thread's access none of whose bytes was ever written. One
// that is written in part stays silent, because copying a struct or reading a float4 also
// moves its padding and its unused lanes, which correct programs never write. An atomic reads its
// operand too (the histogram whose bins nobody cleared); an exchange does not. A byte is
// reported once: it counts as written afterwards, so one omission is one finding. And where another
// thread writes the byte later without anything that orders the two, the missing barrier is the
// one finding (see PendingReads): hence the report waits for the barrier, or the kernel's end.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/bits.h"
#include "checks/pending_reads.h"
#include "checks/thread_findings.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class UninitializedGlobal final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kGlobalAccess | machine::kMemoryEvents |
                                           machine::kHostEvents | machine::kLaunchEvents |
                                           machine::kSyncEvents;

    UninitializedGlobal(Report& report, machine::Memory& memory)
        : findings_(report), memory_(memory),
          pending_(false, [this](const PendingReads::Read& read) { this->report(read); }) {}
    void on_alloc(const machine::Allocation& allocation) override;
    void on_free(const machine::Allocation& allocation) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_access(const machine::AccessEvent& event) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override {
        pending_.settle();
    }

    uint64_t shadow_bytes() const;

private:
    // The bits of an allocation; empty where all of it counts as written.
    Bits* shadow(const machine::Allocation& allocation) {
        return allocation.id < shadows_.size() && shadows_[allocation.id] ? &shadows_[allocation.id]
                                                                          : nullptr;
    }
    void touch(const machine::AccessEvent& event, const machine::Allocation& allocation, Bits& bits,
               uint32_t lanes);
    void report(const PendingReads::Read& read);

    ThreadFindings findings_;
    machine::Memory& memory_;
    PendingReads pending_;
    std::vector<Bits> shadows_;  // by allocation id
};

class UninitializedShared final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kSharedAccess | machine::kBlockEvents |
                                           machine::kLaunchEvents | machine::kSyncEvents;

    explicit UninitializedShared(Report& report)
        : findings_(report),
          pending_(true, [this](const PendingReads::Read& read) { this->report(read); }) {}
    void on_block_end(const machine::BlockInfo& block) override;
    void on_access(const machine::AccessEvent& event) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override;

private:
    Bits& shadow(const machine::BlockInfo& block);
    void touch(const machine::AccessEvent& event, const machine::SharedVariable& variable,
               Bits& bits, uint32_t lanes);
    void report(const PendingReads::Read& read);

    ThreadFindings findings_;
    PendingReads pending_;
    // Blocks that touched shared memory and have not ended; the bits of ended ones serve again.
    std::unordered_map<uint64_t, Bits> blocks_;
    std::vector<Bits> spare_;
    uint64_t current_ = 0;  // serial of the block in `current_bits_`
    Bits* current_bits_ = nullptr;
};

}  // namespace checks
