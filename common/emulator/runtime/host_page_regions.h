// SPDX-License-Identifier: MIT
// Internal to host_pages.cpp, which decides with the runtime's lock what is closed, and
// host_page_faults.cpp, which meets accesses in the middle of any code: what both share.
#pragma once

#include <atomic>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/host_pages.h"
#include "runtime/host_sites.h"

namespace runtime {

enum Guard : uint8_t { kOpen, kNoWrite, kNoAccess };

inline constexpr uint32_t kMostTouches = 256;  // between two calls of the API
constexpr uint64_t kMostMixed = 4096;          // pages with other bytes, for which bits are kept
// Single steps until the next call of the API; then pages stay open.
constexpr uint32_t kMostSteps = 20000;
// Closed stretches: each may cost the process a mapping, of which it can have 65530.
constexpr uint64_t kMostStretches = 8192;
constexpr uint64_t kDevicePages = 256;  // that an access by the emulator itself opens at once

// The bytes of a page that the host may not write, or not touch at all.
struct Mixed {
    PageBits no_write, no_access;
    bool forbids(bool writes, uint64_t address) const {
        const uint64_t byte = address % kPageBytes;
        return (writes ? no_write : no_access)[byte / 64] >> byte % 64 & 1;
    }
};

// The pages of one allocation. Found by signal handlers, so it stays for ever, and is used again
// for another allocation.
struct Region {
    std::atomic<uint64_t> first{0}, pages{0};  // numbers of pages
    uint64_t room = 0;
    bool taken = false;
    std::unique_ptr<std::atomic<uint8_t>[]> actual;  // Guard: as the system has it
    std::unique_ptr<std::atomic<uint8_t>[]> wanted;  // Guard: while no call of the API runs
    std::unique_ptr<std::atomic<Mixed*>[]> mixed;    // null: all bytes are in use
    // Pages whose `actual` and `wanted` may differ.
    std::atomic<uint64_t> low{~0ull}, high{0};
    Region* next = nullptr;

    void look_at(uint64_t from, uint64_t to) {
        for (uint64_t l = low; from < l && !low.compare_exchange_weak(l, from);) {
        }
        for (uint64_t h = high; to > h && !high.compare_exchange_weak(h, to);) {
        }
    }
};

struct Touch {
    uint64_t address, bytes;
    bool writes;
    HostPath path;
    std::atomic<bool> ready{false};
};

struct HostPages {
    PageJudge judge{};
    std::atomic<bool> watching{false};
    std::atomic<bool> any{false};  // something is, or should be, closed
    std::atomic<Region*> regions{nullptr};
    Touch touches[kMostTouches];
    std::atomic<uint32_t> touched{0};
    uint32_t told = 0;
    std::atomic<uint32_t> steps{0};
    uint64_t stretches = 0;
    uint64_t libc_begin = 0, libc_end = 0;  // the C library's code
    std::unordered_map<uint32_t, Region*> by_allocation;
    bool calls_watched = false, stepping = false;
    std::vector<std::unique_ptr<Mixed>> all_mixed;
    std::vector<Mixed*> spare_mixed;
};

HostPages& host_pages();  // never destroyed

// Calls of the API that this thread is in. Where it lies is known from the start, as no signal
// handler may ask for room.
extern thread_local int calls_inside __attribute__((tls_model("initial-exec")));

// False: the system refuses.
bool protect(Region& region, uint64_t page, uint64_t count, uint8_t guard);

}  // namespace runtime
