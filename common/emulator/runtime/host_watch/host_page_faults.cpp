// SPDX-License-Identifier: MIT
// Handles host accesses to closed pages: in a fault, or in a range that is passed to the system.
// Takes no locks and allocates nothing.
#include <algorithm>
#include <csignal>

#include <sys/mman.h>
#include <ucontext.h>

#include "runtime/host_watch/host_page_regions.h"

namespace runtime {

thread_local int calls_inside __attribute__((tls_model("initial-exec"))) = 0;

bool protect(Region& region, uint64_t page, uint64_t count, uint8_t guard) {
    constexpr int kProtection[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
    void* const at = reinterpret_cast<void*>((region.first + page) * kPageBytes);
    return mprotect(at, count * kPageBytes, kProtection[guard]) == 0;
}

namespace {

// Pages that are open for one instruction.
struct Step {
    Region* region;
    uint64_t page;
    uint8_t guard;
};
__attribute__((tls_model("initial-exec"))) thread_local Step steps[4];
__attribute__((tls_model("initial-exec"))) thread_local uint32_t stepping = 0;
// The last fault on a page that was already open, and how often it occurred.
__attribute__((tls_model("initial-exec"))) thread_local uint64_t open_address = 0, open_pc = 0;
__attribute__((tls_model("initial-exec"))) thread_local uint32_t open_times = 0;

// Null if the address is in no allocation with pages in use.
Region* region_at(uint64_t address) {
    const uint64_t page = address / kPageBytes;
    for (Region* r = host_pages().regions.load(std::memory_order_acquire); r; r = r->next)
        if (page - r->first.load() < r->pages.load()) return r;
    return nullptr;
}

void record(uint64_t address, uint64_t bytes, bool writes, const HostPath& path) {
    HostPages& self = host_pages();
    uint32_t at = self.touched;
    do {
        if (at >= kMostTouches) return;
    } while (!self.touched.compare_exchange_weak(at, at + 1));
    Touch& touch = self.touches[at];
    touch.address = address;
    touch.bytes = bytes;
    touch.writes = writes;
    touch.path = path;
    touch.ready.store(true, std::memory_order_release);
}

// Opens the page for one instruction. False: it stays open.
bool step_over(Region& region, uint64_t page, uint8_t guard, void* context) {
    const auto* blocked = &static_cast<const ucontext_t*>(context)->uc_sigmask;
    if (stepping >= std::size(steps) || sigismember(blocked, SIGTRAP) || !host_pages().stepping ||
        host_pages().steps.fetch_add(1) > kMostSteps || !machine::begin_single_step(context))
        return false;
    steps[stepping++] = {&region, page, guard};
    return true;
}

// The C library's string functions read up to a few vectors past the end of a string, within a
// page, and ignore what is there. Its other functions do not.
bool may_be_read_ahead(const Mixed& mixed, uint64_t address, uint64_t pc) {
    constexpr uint64_t kReadAhead = 256;
    const HostPages& self = host_pages();
    if (pc < self.libc_begin || pc >= self.libc_end) return false;
    const uint64_t offset = address % kPageBytes;
    for (uint64_t back = 1; back <= std::min(offset, kReadAhead); ++back)
        if (!mixed.forbids(false, address - back)) return true;
    return false;
}

}  // namespace

HostRange::HostRange(const void* start, uint64_t bytes, bool writes)
    : start_(uint64_t(start)), end_(start_ + bytes), writes_(writes) {
    if (calls_inside || !host_pages().any || end_ < start_) return;
    for (uint64_t at = start_, next; at < end_; at = next) {
        next = std::min(end_, (at / kPageBytes + 1) * kPageBytes);
        Region* const region = region_at(at);
        if (!region) continue;
        const uint64_t page = at / kPageBytes - region->first;
        const uint8_t guard = region->actual[page];
        if (guard == kOpen || (guard == kNoWrite && !writes)) continue;
        const Mixed* const mixed = region->mixed[page];
        for (uint64_t byte = at; in_use_ == ~0ull && byte < next; ++byte)
            if (!mixed || mixed->forbids(writes, byte)) in_use_ = byte;
        opened_ = true;
        region->actual[page] = kOpen;
        protect(*region, page, 1, kOpen);
        region->look_at(page, page + 1);
    }
}

HostRange::~HostRange() {
    if (!opened_ || in_use_ != ~0ull) return;
    for (uint64_t at = start_; at < end_; at = (at / kPageBytes + 1) * kPageBytes) {
        Region* const region = region_at(at);
        if (!region) continue;
        const uint64_t page = at / kPageBytes - region->first;
        const uint8_t guard = region->wanted[page];
        if (guard == kOpen || region->actual[page] != kOpen) continue;
        region->actual[page] = guard;
        if (!protect(*region, page, 1, guard)) region->actual[page] = kOpen;
    }
}

void HostRange::used(uint64_t bytes) const {
    bytes = std::min(bytes, end_ - start_);
    if (in_use_ == ~0ull || in_use_ - start_ >= bytes) return;
    HostPath path;
    walk_from_here(path);
    record(in_use_, start_ + bytes - in_use_, writes_, path);
}

bool is_closed_page(uint64_t address) {
    const Region* const region = region_at(address);
    return region && region->actual[address / kPageBytes - region->first] != kOpen;
}

bool open_closed_page(const machine::HostFault& fault, void* context) {
    const uint64_t address = fault.address, pc = fault.pc;
    const bool writes = fault.kind == machine::HostFault::Kind::kWrite;
    Region* const region = region_at(address);
    if (!region) return false;
    const uint64_t page = address / kPageBytes - region->first;
    const uint8_t guard = region->actual[page];
    if (guard == kOpen || (guard == kNoWrite && !writes)) {
        // Another thread has opened the page in the meantime, or is about to close it. If the fault
        // persists, the program itself has protected the page.
        const bool same = open_address == address && open_pc == pc;
        open_address = address;
        open_pc = pc;
        open_times = same ? open_times + 1 : 0;
        return open_times < 8 && protect(*region, page, 1, guard);
    }
    open_address = 0;
    if (calls_inside) {
        uint64_t end = page;
        const uint64_t most = std::min<uint64_t>(region->pages, page + kDevicePages);
        while (end < most && region->actual[end] == guard) region->actual[end++] = kOpen;
        region->look_at(page, end);
        return protect(*region, page, end - page, kOpen);
    }
    const Mixed* const mixed = region->mixed[page];
    const bool in_use = !mixed || (mixed->forbids(writes, address) &&
                                   (writes || !may_be_read_ahead(*mixed, address, pc)));
    region->actual[page] = kOpen;
    if (!protect(*region, page, 1, kOpen)) return false;
    if (!in_use && step_over(*region, page, guard, context)) return true;
    region->look_at(page, page + 1);
    if (in_use) {
        // On this stack: the stack for reports cannot be unwound to the program's frames.
        HostPath path;
        walk_from_instruction(pc, path);
        record(address, 1, writes, path);
    }
    return true;
}

bool close_after_step(void* context) {
    if (!stepping) return false;
    machine::end_single_step(context);
    while (stepping) {
        const Step step = steps[--stepping];
        if (step.region->wanted[step.page] != step.guard) continue;
        step.region->actual[step.page] = step.guard;
        if (!protect(*step.region, step.page, 1, step.guard))
            step.region->actual[step.page] = kOpen;
    }
    return true;
}

}  // namespace runtime
