// SPDX-License-Identifier: MIT
// Closes pages of managed and pinned memory to the host while work that it has not waited for uses
// them, and tells of the host's loads and stores there. Which bytes are in use is for others to
// say (PageJudge); here it is seen to that nobody notices: the access happens after all.
//
// A page whose bytes are all in use: every access that conflicts is told, and the page opens until
// the next call of the API. One with other bytes, too, in memory that is ours: the accesses to
// those are let pass one by one (the page opens for one instruction and closes again), and what the
// system would read or write itself is looked at before (host_calls.h); such pages are left alone
// once the program has a second thread. Memory of the program's own
// (cudaHostRegister) is only closed in whole pages, which have no other bytes.
//
// The emulator's own accesses, in a call of the API, open pages until the call ends. Nothing is
// closed while no such work is in flight; nothing in a child process, nothing any more once a
// thread that calls the API has SIGSEGV blocked.
#pragma once

#include <array>
#include <cstdint>

#include "machine/memory.h"
#include "machine/platform.h"

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
struct PageJudge {
    bool (*has_news)();                  // review() may have something to say
    bool (*in_flight)();                 // it may call use_page()
    void (*review)();                    // calls use_page() or use_nothing()
    void (*on_touch)(const PageTouch&);  // the host has touched bytes in use
    bool (*single_threaded)();           // the program has never had a second thread
};

void watch_host_pages(const PageJudge& judge);

// From review(): which bytes work in flight has written, and touched at all.
void use_page(const machine::Allocation& allocation, uint64_t page, const PageBits& written,
              const PageBits& touched);
void use_nothing();

// Round everything that runs with the runtime's lock: what was touched meanwhile is told, and pages
// are open to this thread; the last leave closes what is in use. Both nest.
void enter_host_pages();
void leave_host_pages();
// The thread leaves all calls, to run a function of the program, and comes back to as many.
int suspend_host_pages();
void resume_host_pages(int calls);

// The allocation goes: its pages are open from now on.
void forget_host_pages(const machine::Allocation& allocation);
// The last things are told, and all pages open for good: at the end of the process.
void finish_host_pages();
// In a child process: opens all pages, as far as that can be done there.
void abandon_host_pages();

// A range that the system is about to read or write for the host, where a closed page would not
// fault but fail: its pages open, for as long as this lives if none of its bytes is in use.
class HostRange {
public:
    HostRange(const void* start, uint64_t bytes, bool writes);
    ~HostRange();
    HostRange(const HostRange&) = delete;
    HostRange& operator=(const HostRange&) = delete;
    // That many bytes from the first one on were really used.
    void used(uint64_t bytes) const;

private:
    uint64_t start_, end_;
    uint64_t in_use_ = ~0ull;  // the first byte in use
    bool writes_, opened_ = false;
};
// Whether a page is closed, so that the system says it cannot be read.
bool is_closed_page(uint64_t address);

// The fault handler's hooks.
bool open_closed_page(const machine::HostFault& fault, void* context);
bool close_after_step(void* context);

}  // namespace runtime
