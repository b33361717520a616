// SPDX-License-Identifier: MIT
// What the host may not touch yet: bytes of managed and pinned memory that a kernel or a copy uses
// which the host has not waited for. The emulated device runs everything at once, so the values are
// there; on a card they may not be. RaceGlobal knows; runtime/host_pages.h makes the host's own
// loads and stores visible.
//
// Bytes count as in use until the host has waited (device, stream, event, blocking copy or fill,
// free), has asked with success (cudaStreamQuery, cudaEventQuery, cudaEventElapsedTime), or until a
// host function of the stream, or of one that waits for it, has run behind the work: that may have
// told any thread. Not in use are, beyond that:
//  - what only volatile or system-wide loads have read, for that is how a kernel listens to the
//    host, and everything in a launch that stores to the host's memory in such a way (or with any
//    strong store after a system-wide fence): the host may learn from that how far the kernel is;
//  - everything, once a kernel has failed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "machine/memory.h"
#include "machine/platform.h"

namespace checks {

using machine::kHostPageBytes;

// One page of an allocation, a bit for each byte.
struct PageUse {
    using Bytes = std::array<uint64_t, kHostPageBytes / 64>;
    Bytes written{}, touched{};  // by work in flight: written; written or read
};

// One load or store of the host, or a range of a system call.
struct HostTouch {
    uint64_t address = 0, bytes = 1;
    bool writes = false;
    machine::HostSite site = 0;
};

class HostWatch {
public:
    virtual ~HostWatch() = default;

    // Something has happened since the last review() that it may want to tell.
    virtual bool has_news() const = 0;
    // Managed or pinned memory may be in use.
    virtual bool uses_host_memory() const = 0;
    // Calls `page` for every page whose bytes in use may have changed; `address` is a multiple of
    // kHostPageBytes, or of the allocation's first page. Calls `nothing` instead of all these when
    // no work is in flight at all.
    using Page = std::function<void(const machine::Allocation&, uint64_t address, const PageUse&)>;
    virtual void review(const Page& page, const std::function<void()>& nothing) = 0;
    // The host has touched bytes: a finding, if they are in use by what conflicts.
    virtual void host_touched(const HostTouch& touch) = 0;
};

}  // namespace checks
