// SPDX-License-Identifier: MIT
// Internal: shared by host_pages.cpp, which decides with the runtime's lock what is closed, and
// host_page_faults.cpp, which handles accesses in the middle of any code.
#pragma once

#include <atomic>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/host_sites.h"

namespace runtime {

enum Guard : uint8_t { kOpen, kNoWrite, kNoAccess };

inline constexpr uint32_t kMostTouches = 256;  // between two API calls
constexpr uint64_t kMostMixed = 4096;          // pages that also hold bytes not in use
// Single steps until the next API call; after that pages stay open.
constexpr uint32_t kMostSteps = 20000;
// Closed ranges: each may cost the process a mapping, and 65530 are available.
constexpr uint64_t kMostStretches = 8192;
constexpr uint64_t kDevicePages = 256;  // opened at once by an access of the emulator itself

// The bytes of a page that the host may not write, or not access at all.
struct Mixed {
    PageBits no_write, no_access;
    bool forbids(bool writes, uint64_t address) const {
        const uint64_t byte = address % kPageBytes;
        return (writes ? no_write : no_access)[byte / 64] >> byte % 64 & 1;
    }
};

// The pages of one allocation. Signal handlers may use it at any time, so it is never freed but
// reused for another allocation.
struct Region {
    std::atomic<uint64_t> first{0}, pages{0};  // numbers of pages
    uint64_t room = 0;
    bool taken = false;
    std::unique_ptr<std::atomic<uint8_t>[]> actual;  // Guard: the current protection
    std::unique_ptr<std::atomic<uint8_t>[]> wanted;  // Guard: the protection while no API call runs
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
    PagePolicy policy{};
    std::atomic<bool> watching{false};
    std::atomic<bool> any{false};  // a page is closed or must be closed
    std::atomic<Region*> regions{nullptr};
    Touch touches[kMostTouches];
    std::atomic<uint32_t> touched{0};
    uint32_t reported = 0;
    std::atomic<uint32_t> steps{0};
    uint64_t stretches = 0;
    uint64_t libc_begin = 0, libc_end = 0;  // the C library's code
    std::unordered_map<uint32_t, Region*> by_allocation;
    bool calls_watched = false, stepping = false;
    std::vector<std::unique_ptr<Mixed>> all_mixed;
    std::vector<Mixed*> spare_mixed;
};

HostPages& host_pages();  // never destroyed

// API calls that this thread is in. initial-exec, since a signal handler must not allocate
// thread-local storage.
extern thread_local int calls_inside __attribute__((tls_model("initial-exec")));

// False: the system call failed.
bool protect(Region& region, uint64_t page, uint64_t count, uint8_t guard);

}  // namespace runtime
