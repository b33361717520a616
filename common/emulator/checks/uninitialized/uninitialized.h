// SPDX-License-Identifier: MIT
// uninitialized-global and uninitialized-shared: a thread reads memory that nothing has written.
//
// One bit per byte. Stores and atomics set it, as do memset and copies from the host; a copy from
// device to device copies the bits. Copying to the host is a use only if none of the copied
// bytes was ever written: a warning, for a launch that was forgotten or wrote elsewhere. Variables
// of a module start as initialised (C++ zero-initialises them), as does memory that the host can
// write unobserved: pinned, registered. Managed memory is filled with a pattern
// (machine::unwritten_word); a word that differs from it counts as written. Each block starts with
// unwritten shared memory.
//
// A read is reported if none of the bytes of a thread's access was ever written and the value is
// used: it decides a branch, is an address, or is stored after a computation (see
// machine/definedness/undefined.h). Copying is not a use: the copy is as unwritten as its source.
// An access that is written in part is not reported, because copying a struct or reading a float4
// also moves its padding and its unused lanes, which correct programs never write. An atomic reads
// its operand, too (a histogram whose bins were not cleared); an exchange does not. A byte is
// reported once and counts as written afterwards, so one omission is one finding. If another thread
// writes the byte later and nothing orders the two, the missing barrier is the only finding (see
// PendingReads); therefore reports wait for the barrier or the end of the kernel.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/report/thread_findings.h"
#include "checks/uninitialized/bits.h"
#include "checks/uninitialized/pending_reads.h"
#include "checks/uninitialized/unwritten.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class UninitializedGlobal final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kGlobalAccess | machine::kMemoryEvents |
                                           machine::kHostEvents | machine::kLaunchEvents |
                                           machine::kSyncEvents | machine::kUndefinedValues;

    UninitializedGlobal(Report& report, machine::Memory& memory)
        : report_(report), findings_(report), memory_(memory),
          pending_(false, [this](const PendingReads::Read& read) { this->report(read); }) {}
    void on_alloc(const machine::Allocation& allocation) override;
    void on_free(const machine::Allocation& allocation) override;
    void on_share(const machine::Allocation& allocation) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_access(const machine::AccessEvent& event) override {
        if (!event.tracked) access(event, nullptr);
    }
    machine::UndefinedLoad undefined_lanes(const machine::AccessEvent& event) override {
        machine::UndefinedLoad answer;
        access(event, &answer);
        return answer;
    }
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most) override;
    void on_access_run(const machine::AccessEvent& first, int64_t step, uint64_t count) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override {
        pending_.settle();
        pending_.forget();
        left_.clear();
    }
    void on_undefined_use(const machine::UndefinedUse& use) override {
        if (use.origin->by == this) pending_.use(use.origin->token, use.lanes);
    }

    uint64_t shadow_bytes() const;

private:
    // A tracked load comes with an answer for the machine, any other access with null.
    void access(const machine::AccessEvent& event, machine::UndefinedLoad* answer);
    // The bits of an allocation; null if all of it counts as written.
    Bits* shadow(const machine::Allocation& allocation) {
        return allocation.id < shadows_.size() && shadows_[allocation.id] ? &shadows_[allocation.id]
                                                                          : nullptr;
    }
    void touch(const machine::AccessEvent& event, const machine::Allocation& allocation, Bits& bits,
               uint32_t lanes, machine::UndefinedLoad* answer);
    void copied_to_host(const machine::HostAccess& access);
    void read_by_library(const machine::HostAccess& access);
    // Sets the bits of managed memory that the host has written; `bits` covers all of `allocation`.
    static void take_host_writes(const machine::Allocation& allocation, Bits& bits, uint64_t start,
                                 uint64_t count);
    void report(const PendingReads::Read& read);

    Report& report_;
    ThreadFindings findings_;
    machine::Memory& memory_;
    LeftValues left_;
    PendingReads pending_;
    std::vector<Bits> shadows_;  // by allocation id
};

class UninitializedShared final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kSharedAccess | machine::kBlockEvents |
                                           machine::kLaunchEvents | machine::kSyncEvents |
                                           machine::kUndefinedValues;

    explicit UninitializedShared(Report& report)
        : findings_(report),
          pending_(true, [this](const PendingReads::Read& read) { this->report(read); }) {}
    void on_block_end(const machine::BlockInfo& block) override;
    void on_access(const machine::AccessEvent& event) override {
        if (!event.tracked) access(event, nullptr);
    }
    machine::UndefinedLoad undefined_lanes(const machine::AccessEvent& event) override {
        machine::UndefinedLoad answer;
        access(event, &answer);
        return answer;
    }
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most) override;
    void on_access_run(const machine::AccessEvent& first, int64_t step, uint64_t count) override;
    void on_block_barrier(const machine::BarrierEvent& event) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override;
    void on_undefined_use(const machine::UndefinedUse& use) override {
        if (use.origin->by == this) pending_.use(use.origin->token, use.lanes);
    }

private:
    // A tracked load comes with an answer for the machine, any other access with null.
    void access(const machine::AccessEvent& event, machine::UndefinedLoad* answer);
    Bits& shadow(const machine::BlockInfo& block);
    void touch(const machine::AccessEvent& event, const machine::SharedVariable& variable,
               Bits& bits, uint32_t lanes, machine::UndefinedLoad* answer);
    void report(const PendingReads::Read& read);

    ThreadFindings findings_;
    PendingReads pending_;
    LeftValues left_;
    // Blocks that accessed shared memory and have not ended; the bits of ended ones are reused.
    std::unordered_map<uint64_t, Bits> blocks_;
    std::vector<Bits> spare_;
    uint64_t current_ = 0;  // serial of the block in `current_bits_`
    Bits* current_bits_ = nullptr;
};

}  // namespace checks
