// SPDX-License-Identifier: MIT
#include "runtime/host_watch/host_pages.h"

#include <algorithm>
#include <csignal>

#include <gnu/libc-version.h>
#include <link.h>

#include <unistd.h>

#include "runtime/host_watch/fault_handler.h"
#include "runtime/host_watch/host_calls.h"
#include "runtime/host_watch/host_page_regions.h"

namespace runtime {
HostPages& host_pages() {
    static auto& instance = *new HostPages;
    return instance;
}

namespace {

Region* region_of(const machine::Allocation& allocation) {
    const auto found = host_pages().by_allocation.find(allocation.id);
    return found == host_pages().by_allocation.end() ? nullptr : found->second;
}

Region& make_region(const machine::Allocation& allocation) {
    const uint64_t first = allocation.address / kPageBytes;
    const uint64_t pages = (allocation.address + allocation.bytes - 1) / kPageBytes - first + 1;
    Region* region = host_pages().regions;
    while (region && (region->taken || region->room < pages || region->room > 2 * pages))
        region = region->next;
    if (!region) {
        region = new Region;
        region->actual = std::make_unique<std::atomic<uint8_t>[]>(pages);
        region->wanted = std::make_unique<std::atomic<uint8_t>[]>(pages);
        region->mixed = std::make_unique<std::atomic<Mixed*>[]>(pages);
        region->room = pages;
        region->next = host_pages().regions;
        host_pages().regions.store(region, std::memory_order_release);
    }
    region->taken = true;
    host_pages().by_allocation[allocation.id] = region;
    region->first = first;
    region->pages = pages;
    return *region;
}

void drop_mixed(Region& region, uint64_t page) {
    Mixed* const old = region.mixed[page].exchange(nullptr);
    if (old) host_pages().spare_mixed.push_back(old);
}

// Called with the lock held.
void report_touches() {
    HostPages& self = host_pages();
    while (self.reported < kMostTouches && self.touches[self.reported].ready.load()) {
        Touch& touch = self.touches[self.reported++];
        const PageTouch event{touch.address, touch.bytes, touch.writes, host_site_of(touch.path)};
        touch.ready = false;
        self.policy.on_touch(event);
    }
    uint32_t reported = self.reported;
    if (reported && self.touched.compare_exchange_strong(reported, 0)) self.reported = 0;
}

bool is_blocked(int signal) {
    sigset_t blocked;
    return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, signal);
}

// Sets the protection of pages that may differ from the wanted one.
void apply(Region& region) {
    HostPages& self = host_pages();
    const uint64_t low = region.low.exchange(~0ull), pages = region.pages;
    const uint64_t high = std::min(region.high.exchange(0), pages);
    for (uint64_t page = low; page < high;) {
        const uint8_t wanted = region.wanted[page];
        if (region.actual[page] == wanted) {
            ++page;
            continue;
        }
        uint64_t end = page + 1;
        while (end < high && region.wanted[end] == wanted && region.actual[end] != wanted) ++end;
        const bool closes = wanted != kOpen;
        const bool fits = !closes || ++self.stretches < kMostStretches;
        // Set before the system call: a thread that faults must find the page closed.
        for (uint64_t i = page; fits && i < end; ++i) region.actual[i] = wanted;
        if (fits && !protect(region, page, end - page, wanted))
            for (uint64_t i = page; i < end; ++i) region.actual[i] = kOpen;
        page = end;
    }
}

void open_all() {
    HostPages& self = host_pages();
    for (Region* r = self.regions; r; r = r->next) {
        const uint64_t pages = r->pages;
        for (uint64_t page = 0; page < pages; ++page) {
            if (r->wanted[page] == kOpen) continue;
            r->wanted[page] = kOpen;
            drop_mixed(*r, page);
            r->look_at(page, page + 1);
        }
        apply(*r);
    }
    self.any = false;
    self.stretches = 0;
}

// In a program with several threads, one may be in a system call while another one closes the page,
// or may have SIGSEGV blocked: then only pages that are in use as a whole are closed.
bool is_single_threaded() {
    return host_pages().policy.single_threaded();
}

void open_mixed() {
    HostPages& self = host_pages();
    if (self.all_mixed.size() == self.spare_mixed.size()) return;
    for (Region* r = self.regions; r; r = r->next) {
        const uint64_t pages = r->pages;
        for (uint64_t page = 0; page < pages; ++page) {
            if (!r->mixed[page]) continue;
            drop_mixed(*r, page);
            r->wanted[page] = kOpen;
            r->look_at(page, page + 1);
        }
    }
}

void stop_watching() {
    open_all();
    host_pages().watching = false;
}

}  // namespace

void watch_host_pages(const PagePolicy& policy) {
    if (kPageBytes % uint64_t(sysconf(_SC_PAGESIZE)) != 0) return;
    HostPages& self = host_pages();
    self.policy = policy;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
            auto& found = *static_cast<HostPages*>(argument);
            const auto here = uint64_t(&gnu_get_libc_version);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& segment = info->dlpi_phdr[i];
                const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
                if (segment.p_type != PT_LOAD || here - begin >= segment.p_memsz) continue;
                found.libc_begin = begin;
                found.libc_end = begin + segment.p_memsz;
            }
            return 0;
        },
        &self);
    host_pages().watching = true;
}

void use_page(const machine::Allocation& allocation, uint64_t page, const PageBits& written,
              const PageBits& touched) {
    HostPages& self = host_pages();
    const bool own = allocation.kind != machine::MemoryKind::kRegistered;
    Region* region = region_of(allocation);
    uint8_t guard = kOpen;
    bool whole = true;
    // A page of the emulator's memory contains nothing after the end of the allocation; memory
    // beside the program's own belongs to the program and stays open.
    PageBits all{};
    const uint64_t begin = std::max(page, allocation.address);
    const uint64_t end = std::min(page + kPageBytes, allocation.address + allocation.bytes);
    for (uint64_t at = own ? begin - page : 0; at < (own ? end - page : kPageBytes);) {
        const uint64_t count = at % 64 || kPageBytes - at < 64 || end - page - at < 64 ? 1 : 64;
        all[at / 64] |= count == 64 ? ~0ull : 1ull << at % 64;
        at += count;
    }
    bool all_written = true, all_touched = true, any_written = false, any_touched = false;
    for (size_t i = 0; i < all.size(); ++i) {
        all_written &= (written[i] & all[i]) == all[i], any_written |= written[i] != 0;
        all_touched &= (touched[i] & all[i]) == all[i], any_touched |= touched[i] != 0;
    }
    const bool mixed_allowed =
        own && self.calls_watched && self.all_mixed.size() - self.spare_mixed.size() < kMostMixed;
    if (all_written) {
        guard = kNoAccess;
    } else if (any_written && mixed_allowed) {
        guard = kNoAccess;
        whole = false;
    } else if (all_touched) {
        guard = kNoWrite;
    } else if (any_touched && mixed_allowed) {
        guard = kNoWrite;
        whole = false;
    }
    if (!region && guard == kOpen) return;
    if (!region) region = &make_region(allocation);
    const uint64_t index = page / kPageBytes - region->first;
    drop_mixed(*region, index);
    if (!whole) {
        if (self.spare_mixed.empty()) {
            self.all_mixed.push_back(std::make_unique<Mixed>());
            self.spare_mixed.push_back(self.all_mixed.back().get());
        }
        Mixed* const mixed = self.spare_mixed.back();
        self.spare_mixed.pop_back();
        mixed->no_access = written;
        mixed->no_write = touched;
        region->mixed[index] = mixed;
    }
    region->wanted[index] = guard;
    region->look_at(index, index + 1);
    if (guard != kOpen) self.any = true;
}

void use_nothing() {
    if (host_pages().any) open_all();
}

void enter_host_pages() {
    ++calls_inside;
    HostPages& self = host_pages();
    if (calls_inside > 1 || !self.any) return;
    report_touches();
    // The emulator's own accesses would fault, and the system ends a thread that faults while the
    // signal is blocked.
    if (is_blocked(SIGSEGV)) return stop_watching();
    refresh_fault_handler();
}

void leave_host_pages() {
    if (--calls_inside > 0) return;
    HostPages& self = host_pages();
    if (!self.watching) return;
    if (self.any) report_touches();
    if (self.policy.has_news()) {
        self.calls_watched = self.policy.in_flight() && watch_host_calls();
        self.policy.review();
    }
    if (!self.any) return;
    if (is_blocked(SIGSEGV)) return stop_watching();
    refresh_fault_handler();
    if (!is_single_threaded()) open_mixed();
    if (!self.stepping && self.all_mixed.size() > self.spare_mixed.size()) self.stepping = true;
    if (self.stepping) take_step_signal();
    self.steps = 0;
    for (Region* r = self.regions; r; r = r->next)
        if (r->low < r->high) apply(*r);
}

int suspend_host_pages() {
    const int calls = calls_inside;
    calls_inside = 1;
    leave_host_pages();
    return calls;
}

void resume_host_pages(int calls) {
    enter_host_pages();
    calls_inside = calls;
}

void forget_host_pages(const machine::Allocation& allocation) {
    Region* const region = region_of(allocation);
    if (!region) return;
    const uint64_t pages = region->pages;
    for (uint64_t page = 0; page < pages; ++page) {
        region->wanted[page] = kOpen;
        drop_mixed(*region, page);
    }
    region->look_at(0, pages);
    apply(*region);
    region->pages = 0;
    region->taken = false;
    host_pages().by_allocation.erase(allocation.id);
}

void finish_host_pages() {
    if (!host_pages().watching) return;
    report_touches();
    stop_watching();
}

void abandon_host_pages() {
    HostPages& self = host_pages();
    self.watching = false;
    for (Region* r = self.regions; r; r = r->next) {
        for (uint64_t page = 0; page < r->pages; ++page)
            if (r->actual[page].exchange(kOpen) != kOpen) protect(*r, page, 1, kOpen);
    }
    self.any = false;
}

}  // namespace runtime
