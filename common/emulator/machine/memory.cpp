// SPDX-License-Identifier: MIT
// Where emulated allocations live. Three regions of one address range, by slot size: 64 GiB for the
// first allocations of a process, 4 GiB after that, and 1 MiB for in-kernel malloc and as a last
// resort.
#include "machine/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "machine/address_region.h"
#include "machine/address_space.h"
#include "machine/platform/platform.h"
#include "machine/shared_file.h"

namespace machine {
namespace {

constexpr uint64_t kGiB = 1ull << 30;
constexpr unsigned kWideShift = 36, kNarrowShift = 32, kFineShift = 20;
// Freed runs of wide or narrow slots that stay untouched before one of them is used again.
constexpr size_t kQuarantine = 256;

uint64_t align_up(uint64_t value, uint64_t to) {
    return (value + to - 1) & ~(to - 1);
}
uint64_t physical_bytes() {
    static const uint64_t bytes = uint64_t(sysconf(_SC_PHYS_PAGES)) * page_bytes();
    return bytes;
}

}  // namespace

struct Memory::Impl {
    uint64_t base = 0;
    uint64_t narrow_at = 0, fine_at = 0, total = 0;  // offsets from `base`
    bool reserved = false;                           // see AddressSpace
    AddressRegion wide, narrow, fine;
    struct Home {
        AddressRegion* region = nullptr;  // null: registered host memory
        AddressRegion::Run run{};
        uint64_t mapped = 0;  // bytes of an mmap, 0 when the storage is from the heap
    };
    std::deque<Home> homes;                      // by allocation id
    std::map<uint64_t, Allocation*> registered;  // by start; may hold freed ones
    std::map<int, uint64_t> used;
    uint64_t visible = 0;   // managed and pinned: not counted in `used`
    uint64_t imported = 0;  // of other processes, likewise

    void open() {
        const AddressSpace bytes = reserve_address_space();
        base = bytes.base;
        reserved = bytes.reserved;
        narrow_at = bytes.wide;
        fine_at = bytes.wide + bytes.narrow;
        wide.open(base, bytes.wide, kWideShift);
        narrow.open(base + narrow_at, bytes.narrow, kNarrowShift);
        fine.open(base + fine_at, bytes.fine, kFineShift);
        total = fine_at + bytes.fine;
    }

    // Finds a run of slots, preferring addresses that were never used.
    bool place(MemoryKind kind, uint64_t bytes, Home& home) {
        if (kind != MemoryKind::kHeap) {
            for (AddressRegion* region : {&wide, &narrow}) {
                const uint64_t count = region->slots_for(bytes);
                if (!region->has_fresh(count)) continue;
                home.region = region;
                home.run = region->take_fresh(count);
                return true;
            }
            for (AddressRegion* region : {&wide, &narrow}) {
                if (region->freed.size() <= kQuarantine) continue;
                if (!region->take_freed(region->slots_for(bytes), home.run)) continue;
                home.region = region;
                return true;
            }
        }
        const uint64_t count = fine.slots_for(bytes);
        home.region = &fine;
        if (fine.has_fresh(count)) {
            home.run = fine.take_fresh(count);
            return true;
        }
        if (fine.take_freed(count, home.run)) return true;
        for (AddressRegion* region : {&wide, &narrow}) {
            if (!region->take_freed(region->slots_for(bytes), home.run)) continue;
            home.region = region;
            return true;
        }
        return false;
    }

    // Storage for a new allocation, mapped at its own address when the host may look at it.
    std::byte* storage(const Allocation& allocation, Home& home) {
        if (allocation.imported) {
            home.mapped = shared_bytes(allocation.bytes);
            return map_shared_file(allocation.shared_file, home.mapped);
        }
        const bool visible = allocation.host_visible();
        if (visible || allocation.bytes > kLazyBytes) {
            home.mapped = shared_bytes(allocation.bytes);
            const int fixed = !visible ? 0 : reserved ? MAP_FIXED : MAP_FIXED_NOREPLACE;
            void* at = mmap(visible ? reinterpret_cast<void*>(allocation.address) : nullptr,
                            home.mapped,
                            PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed,
                            -1,
                            0);
            if (at == MAP_FAILED) return nullptr;
            if (visible && uint64_t(at) != allocation.address) {
                munmap(at, home.mapped);
                return nullptr;
            }
            if (home.mapped > kSparseBytes) madvise(at, home.mapped, MADV_NOHUGEPAGE);
            return static_cast<std::byte*>(at);
        }
        void* at = std::aligned_alloc(256, align_up(std::max<uint64_t>(allocation.bytes, 1), 256));
        if (!at) return nullptr;
        const bool zero =
            allocation.kind == MemoryKind::kModule || allocation.kind == MemoryKind::kConst;
        std::memset(at, zero ? 0 : kPoison, allocation.bytes);
        return static_cast<std::byte*>(at);
    }

    void give_back(Allocation& allocation, Home& home) {
        if (!allocation.host) return;
        if (!home.mapped) {
            std::free(allocation.host);
        } else if (!allocation.host_visible()) {
            munmap(allocation.host, home.mapped);
        } else if (reserved) {
            mmap(allocation.host,
                 home.mapped,
                 PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                 -1,
                 0);
        } else {
            munmap(allocation.host, home.mapped);
        }
        allocation.host = nullptr;
        if (allocation.shared_file >= 0) close_shared_file(allocation.shared_file);
    }

    // Where the bytes of an allocation are counted.
    uint64_t& total_of(const Allocation& allocation);
};

// Counted against the device's capacity; managed memory may exceed it, as on hardware.
static bool counts(MemoryKind kind) {
    return kind != MemoryKind::kManaged && kind != MemoryKind::kPinned &&
           kind != MemoryKind::kRegistered;
}

uint64_t& Memory::Impl::total_of(const Allocation& allocation) {
    return allocation.imported       ? imported
           : counts(allocation.kind) ? used[allocation.device]
                                     : visible;
}

uint64_t Memory::shared_bytes(uint64_t bytes) {
    return align_up(std::max<uint64_t>(bytes, 1), std::max(page_bytes(), kHostPageBytes));
}

Memory::Memory() : impl_(std::make_unique<Impl>()), capacity_(4 * kGiB) {
    impl_->open();
}

Memory::~Memory() {
    for (auto& allocation : all_)
        if (impl_->homes[allocation->id].region)
            impl_->give_back(*allocation, impl_->homes[allocation->id]);
    for (AddressRegion* region : {&impl_->wide, &impl_->narrow, &impl_->fine})
        std::free(region->tenant);
    if (impl_->reserved) munmap(reinterpret_cast<void*>(impl_->base), impl_->total);
}

Allocation* Memory::allocate(MemoryKind kind, uint64_t bytes, int device, HostSite site,
                             uint64_t align) {
    if (counts(kind) ? bytes > capacity_ - std::min(capacity_, used(device))
                     : bytes > physical_bytes())
        return nullptr;
    auto made = std::make_unique<Allocation>();
    made->kind = kind;
    made->bytes = bytes;
    made->device = device;
    made->allocated_at = site;
    return settle(std::move(made), align);
}

Allocation* Memory::settle(std::unique_ptr<Allocation> made, uint64_t align) {
    Impl::Home home;
    if (!impl_->place(made->kind, made->bytes, home)) return nullptr;
    const AddressRegion& region = *home.region;
    made->id = count();
    made->address = align_up(region.base + (home.run.first << region.shift) + region.offset(),
                             std::max<uint64_t>(align, 256));
    made->host = impl_->storage(*made, home);
    if (!made->host) {
        home.region->freed.push_back(home.run);
        return nullptr;
    }
    if (made->kind == MemoryKind::kManaged && made->bytes <= kMarkedBytes) {
        made->marked = true;
        for (uint64_t at = 0; at + 4 <= made->bytes; at += 4) {
            const uint32_t word = unwritten_word(made->address + at);
            std::memcpy(made->host + at, &word, 4);
        }
    }
    std::fill_n(region.tenant + home.run.first, home.run.count, made.get());
    impl_->total_of(*made) += made->bytes;
    impl_->homes.push_back(home);
    all_.push_back(std::move(made));
    return all_.back().get();
}

bool Memory::share(Allocation& allocation, uint64_t serial, const std::string& name) {
    const uint64_t mapped = shared_bytes(allocation.bytes);
    const int file = make_shared_file(name, mapped);
    if (file < 0) return false;
    std::byte* const at = map_shared_file(file, mapped);
    if (!at) {
        const int error = errno;
        close_shared_file(file);
        errno = error;
        return false;
    }
    Impl::Home& home = impl_->homes[allocation.id];
    copy_to_new_pages(at, allocation.host, allocation.bytes, home.mapped != 0);
    impl_->give_back(allocation, home);
    allocation.host = at;
    allocation.shared_file = file;
    allocation.shared_serial = serial;
    home.mapped = mapped;
    ++sharing_;
    return true;
}

Allocation* Memory::import(int file, uint64_t serial, uint64_t bytes, int device, HostSite site) {
    auto made = std::make_unique<Allocation>();
    made->bytes = bytes;
    made->device = device;
    made->allocated_at = site;
    made->imported = true;
    made->shared_file = file;
    made->shared_serial = serial;
    made->opened = 1;
    Allocation* const settled = settle(std::move(made), 256);
    if (settled)
        ++sharing_;
    else
        close_shared_file(file);
    return settled;
}

Allocation* Memory::register_host(void* host, uint64_t bytes, HostSite site) {
    auto allocation = std::make_unique<Allocation>();
    allocation->id = count();
    allocation->kind = MemoryKind::kRegistered;
    allocation->address = uint64_t(host);
    allocation->bytes = bytes;
    allocation->host = static_cast<std::byte*>(host);
    allocation->allocated_at = site;
    // Earlier registrations of these bytes have ended: remove them.
    auto& map = impl_->registered;
    auto next = map.lower_bound(allocation->address);
    if (next != map.begin() &&
        std::prev(next)->second->address + std::prev(next)->second->bytes > allocation->address)
        --next;
    while (next != map.end() && next->first < allocation->address + bytes) next = map.erase(next);
    map[allocation->address] = allocation.get();
    impl_->homes.emplace_back();
    all_.push_back(std::move(allocation));
    return all_.back().get();
}

void Memory::release(Allocation& allocation, HostSite site) {
    if (!allocation.live) return;
    Impl::Home& home = impl_->homes[allocation.id];
    allocation.live = false;
    allocation.freed_at = site;
    if (!home.region) {
        allocation.host = nullptr;
        return;
    }
    impl_->total_of(allocation) -= allocation.bytes;
    if (allocation.shared_file >= 0) --sharing_;
    impl_->give_back(allocation, home);
    allocation.shared_file = -1;
    if (!allocation.keeps_address) home.region->freed.push_back(home.run);
}

void Memory::clear(Allocation& allocation, uint64_t address, uint64_t bytes) {
    std::byte* const first = allocation.host + (address - allocation.address);
    std::byte* const end = first + bytes;
    const Impl::Home& home = impl_->homes[allocation.id];
    if (bytes >= kGivenBack && home.mapped && !allocation.host_visible()) {
        const uint64_t from = align_up(uint64_t(first), page_bytes());
        const uint64_t to = uint64_t(end) & ~(page_bytes() - 1);
        const auto clear_rest = [&] {
            std::memset(first, 0, from - uint64_t(first));
            std::memset(reinterpret_cast<void*>(to), 0, uint64_t(end) - to);
        };
        if (allocation.shared_file >= 0) {  // where the other processes see it, too
            const uint64_t offset = from - uint64_t(allocation.host);
            if (clear_shared_pages(allocation.shared_file, offset, to - from)) return clear_rest();
            std::memset(first, 0, bytes);
            return;
        }
        // New pages in place of the old ones. (Processor emulators ignore MADV_DONTNEED.)
        void* const fresh = mmap(reinterpret_cast<void*>(from),
                                 to - from,
                                 PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                                 -1,
                                 0);
        if (fresh != MAP_FAILED) {
            if (home.mapped > kSparseBytes) madvise(fresh, to - from, MADV_NOHUGEPAGE);
            return clear_rest();
        }
    }
    std::memset(first, 0, bytes);
}

Allocation* Memory::renew(const Allocation& freed, HostSite site) {
    if (counts(freed.kind) && freed.bytes > capacity_ - std::min(capacity_, used(freed.device)))
        return nullptr;
    auto allocation = std::make_unique<Allocation>(freed);
    allocation->id = count();
    allocation->live = true;
    allocation->allocated_at = site;
    allocation->freed_at = 0;
    Impl::Home home = impl_->homes[freed.id];
    home.mapped = 0;
    allocation->host = impl_->storage(*allocation, home);
    if (!allocation->host) return nullptr;
    std::fill_n(home.region->tenant + home.run.first, home.run.count, allocation.get());
    impl_->total_of(*allocation) += freed.bytes;
    impl_->homes.push_back(home);
    all_.push_back(std::move(allocation));
    return all_.back().get();
}

void Memory::give_up_address(Allocation& allocation) {
    if (!std::exchange(allocation.keeps_address, false) || allocation.live) return;
    const Impl::Home& home = impl_->homes[allocation.id];
    home.region->freed.push_back(home.run);
}

Allocation* Memory::find(uint64_t address) {
    const uint64_t offset = address - impl_->base;
    if (offset < impl_->narrow_at) return impl_->wide.tenant[offset >> kWideShift];
    if (offset < impl_->fine_at)
        return impl_->narrow.tenant[(offset - impl_->narrow_at) >> kNarrowShift];
    if (offset < impl_->total) return impl_->fine.tenant[(offset - impl_->fine_at) >> kFineShift];
    if (impl_->registered.empty()) return nullptr;
    // A page of slack after the end, so that a small overrun is still attributed to it.
    auto next = impl_->registered.upper_bound(address);
    if (next == impl_->registered.begin()) return nullptr;
    Allocation* before = std::prev(next)->second;
    return address - before->address < before->bytes + 4096 ? before : nullptr;
}

bool Memory::is_device_address(uint64_t address) const {
    return address - impl_->base < impl_->total;
}

uint64_t Memory::promised() const {
    uint64_t sum = impl_->visible;
    for (const auto& [device, bytes] : impl_->used) sum += bytes;
    return sum;
}

uint64_t Memory::used(int device) const {
    const auto found = impl_->used.find(device);
    return found == impl_->used.end() ? 0 : found->second;
}

}  // namespace machine
