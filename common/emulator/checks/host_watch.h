// SPDX-License-Identifier: MIT
// The bytes of managed and pinned memory that are in use: by a kernel or copy that the host has not
// waited for. The emulated device executes at once, so the values are there; on a card they may not
// be. GlobalRaces knows which bytes these are; runtime/host_watch/host_pages.h reports the host's
// own loads and stores.
//
// Bytes are in use until the host has waited (device, stream, event, blocking copy or fill, free),
// a query has succeeded (cudaStreamQuery, cudaEventQuery, cudaEventElapsedTime), or a host function
// has run after the work, in its stream or in one that waits for it: it may notify any thread. Not
// in use are also:
//  - bytes that only volatile or system-wide loads have read, since that is how a kernel waits for
//    the host; and all bytes of a launch that stores to the host's memory in that way (or with any
//    strong store after a system-wide fence), since the host may learn the kernel's progress from
//    it;
//  - all bytes, once a kernel has failed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "machine/memory.h"
#include "machine/platform/platform.h"

namespace checks {

using machine::kHostPageBytes;

// One page of an allocation, a bit for each byte.
struct PageUse {
    using Bytes = std::array<uint64_t, kHostPageBytes / 64>;
    Bytes written{}, touched{};  // by work in flight; touched: written or read
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

    // Whether bytes in use may have changed since the last review().
    virtual bool has_news() const = 0;
    // Whether managed or pinned memory may be in use.
    virtual bool uses_host_memory() const = 0;
    // Calls `page` for every page whose bytes in use may have changed; `address` is a multiple of
    // kHostPageBytes, or of the allocation's first page. If no work is in flight, calls `nothing`
    // instead.
    using Page = std::function<void(const machine::Allocation&, uint64_t address, const PageUse&)>;
    virtual void review(const Page& page, const std::function<void()>& nothing) = 0;
    // The host has accessed bytes: a finding, if they are in use in a conflicting way.
    virtual void host_touched(const HostTouch& touch) = 0;
};

}  // namespace checks
