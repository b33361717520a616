// SPDX-License-Identifier: MIT
// Detects host accesses to managed and pinned memory that is used by work the host has not waited
// for: closes the pages to the host, and reports the loads and stores that fault. PagePolicy
// decides which bytes are in use. The faults are transparent to the program: the access completes.
//
// - A page whose bytes are all in use: the first conflicting access is reported, and the page stays
//   open until the next API call.
// - A page that also holds other bytes, in memory of the emulator: accesses to the other bytes are
//   executed one by one (the page opens for one instruction), and ranges that the system would
//   access are checked before (host_calls.h). Such pages are not closed once the program has a
//   second thread.
// - Memory of the program's own (cudaHostRegister): only pages that are in use as a whole are
//   closed.
//
// Pages that the emulator itself accesses during an API call stay open until the call ends. Nothing
// is closed while no such work is in flight, in a child process, or once a thread that calls the
// API has blocked SIGSEGV.
#pragma once

#include <array>
#include <cstdint>

#include "machine/memory.h"
#include "machine/platform/platform.h"

namespace runtime {

constexpr uint64_t kPageBytes = machine::kHostPageBytes;

// A bit for each byte of a page.
using PageBits = std::array<uint64_t, kPageBytes / 64>;

struct PageTouch {
    uint64_t address, bytes;
    bool writes;
    machine::HostSite site;
};

// All run with the runtime's lock held, and not in signal handlers.
struct PagePolicy {
    bool (*has_news)();                  // review() may have something to report
    bool (*in_flight)();                 // review() may call use_page()
    void (*review)();                    // calls use_page() or use_nothing()
    void (*on_touch)(const PageTouch&);  // the host has accessed bytes in use
    bool (*single_threaded)();           // the program has never had a second thread
};

void watch_host_pages(const PagePolicy& policy);

// From review(): which bytes were written, and which were accessed at all, by work in flight.
void use_page(const machine::Allocation& allocation, uint64_t page, const PageBits& written,
              const PageBits& touched);
void use_nothing();

// Surround everything that runs with the runtime's lock: accesses since the last call are reported,
// and pages are open to this thread; the last leave closes what is in use. Calls nest.
void enter_host_pages();
void leave_host_pages();
// The thread leaves all calls to run a function of the program, and enters as many again after it.
int suspend_host_pages();
void resume_host_pages(int calls);

// The allocation is freed: its pages stay open from now on.
void forget_host_pages(const machine::Allocation& allocation);
// At the end of the process: reports the last accesses, and opens all pages for good.
void finish_host_pages();
// In a child process: opens all pages, as far as that is possible there.
void abandon_host_pages();

// A range that the system is about to access for the host, which would fail on a closed page
// without a fault: opens its pages, and closes them again at the end of its life if none of its
// bytes is in use.
class HostRange {
public:
    HostRange(const void* start, uint64_t bytes, bool writes);
    ~HostRange();
    HostRange(const HostRange&) = delete;
    HostRange& operator=(const HostRange&) = delete;
    // The number of bytes that were accessed, counted from the first one.
    void used(uint64_t bytes) const;

private:
    uint64_t start_, end_;
    uint64_t in_use_ = ~0ull;  // the first byte in use
    bool writes_, opened_ = false;
};
// Whether a page is closed and therefore unreadable for the system.
bool is_closed_page(uint64_t address);

// The fault handler's hooks.
bool open_closed_page(const machine::HostFault& fault, void* context);
bool close_after_step(void* context);

}  // namespace runtime
