// SPDX-License-Identifier: MIT
// Emulated device memory. An allocation's address is a token in a reserved range that the host
// cannot touch, so the allocation of any address is found without a search, a wild index stays
// close to the array it came from, and a host dereference faults on an address we can name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace machine {

// A place in the host program (an API call); 0 is unknown. The runtime turns it into file and line.
using HostSite = uint32_t;

enum class MemoryKind : uint8_t {
    kDevice,      // cudaMalloc and friends: the host must not touch it
    kModule,      // a __device__ variable of a module
    kConst,       // a __constant__ variable
    kManaged,     // same address and bytes on host and device
    kPinned,      // host memory the device may use: cudaMallocHost, cudaHostAlloc
    kRegistered,  // cudaHostRegister: the program's own memory
    kHeap,        // malloc inside a kernel
    kArray,       // cudaArray storage
};

struct Allocation {
    uint32_t id = 0;  // dense, never reused; checkers index their shadow state by it
    MemoryKind kind = MemoryKind::kDevice;
    bool live = true;
    uint64_t address = 0;  // what kernels and the host see
    uint64_t bytes = 0;
    std::byte* host = nullptr;  // the backing bytes; null once freed
    int device = 0;
    std::string name;  // of a module variable, demangled; otherwise empty
    HostSite allocated_at = 0, freed_at = 0;
    uint32_t made_by = 0, freed_by = 0;  // of kHeap: the SiteId of the calls in kernels
    // Nobody else gets its address once it is freed: renew() puts the next allocation there.
    bool keeps_address = false;
    // Of a memory pool: which other devices may use it is up to the pool, not to peer access.
    bool of_pool = false;
    uint64_t shared_with = 0;  // bit per device
    bool of_graph = false;     // a graph frees it, so the program need not
    bool marked = false;       // managed memory that began as unwritten_word() everywhere
    // Other processes may map the same bytes (shared_file.h): the file, and a number that tells it
    // from all other files. Of `imported` memory, another process is the owner, and the program has
    // opened it as many times.
    int shared_file = -1;
    uint64_t shared_serial = 0;
    bool imported = false;
    unsigned opened = 0;
    // How it ends, in words: memory of another process lives on.
    const char* ended() const { return imported ? "closed" : "freed"; }
    // True when all `count` bytes from `start` lie inside; no overflow for any input.
    bool contains(uint64_t start, uint64_t count) const {
        return start >= address && count <= bytes && start - address <= bytes - count;
    }
    bool host_visible() const {
        return kind == MemoryKind::kManaged || kind == MemoryKind::kPinned ||
               kind == MemoryKind::kRegistered;
    }
};

// The fill pattern of managed memory at `address` (a multiple of 4). The host can write without an
// event, so a word that no longer holds the pattern counts as written. It is a NaN as a float, and
// differs from address to address.
constexpr uint32_t unwritten_word(uint64_t address) {
    uint64_t x = (address >> 2) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    return 0x7fa00000u | uint32_t(x * 0xbf58476d1ce4e5b9ull >> 44 << 1 & 0x1fffffu) | 1u;
}

// All allocations of the process. Slots of 64 GiB (data in the middle) first, of 4 GiB when those
// run out; freed slots rest in a first-in-first-out quarantine, so a stale pointer keeps naming
// its old allocation as long as possible. Not thread-safe: the runtime holds its lock.
class Memory {
public:
    static constexpr unsigned char kPoison =
        0xCD;  // garbage at first sight as int, float and double
    static constexpr uint64_t kLazyBytes = 1 << 20;
    static constexpr uint64_t kMarkedBytes = 64 << 20;
    // Programs touch a part of allocations above this: single pages then, not large ones.
    static constexpr uint64_t kSparseBytes = 1ull << 30;
    // From here on giving pages back is cheaper than storing zeros.
    static constexpr uint64_t kGivenBack = 64 << 20;

    Memory();
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // Null when `bytes` exceed what is left of `capacity()`, or the host has no memory. Addresses
    // are 256-byte aligned (`align`, a power of two, may ask for more). kModule and kConst start as
    // zeros. Other contents are undefined for the program, but the same in every run: kPoison for
    // small device allocations, zeros for those above kLazyBytes, whose pages appear on first
    // touch, unwritten_word() for managed ones up to kMarkedBytes.
    Allocation* allocate(MemoryKind kind, uint64_t bytes, int device, HostSite site,
                         uint64_t align = 256);
    // The next allocation at the address of a freed one that kept it; null as above.
    Allocation* renew(const Allocation& freed, HostSite site);
    // It keeps its address no longer.
    void give_up_address(Allocation& allocation);
    // cudaHostRegister: device address == host address.
    Allocation* register_host(void* host, uint64_t bytes, HostSite site);
    // From now on the bytes of device memory lie in a file, `shared_file`, which other processes
    // can map; contents stay, and pages that were never touched take no memory. False on failure,
    // as errno says.
    bool share(Allocation& allocation, uint64_t serial, const std::string& name);
    // Memory of another process, in its file: belongs to `device`, but takes nothing of its
    // capacity. The file is the allocation's from now on. Null, with the file closed, on failure.
    Allocation* import(int file, uint64_t serial, uint64_t bytes, int device, HostSite site);
    // Whether any live allocation is shared with other processes, which may change it at any time.
    bool shares() const { return sharing_ != 0; }
    // The size of the file for an allocation of `bytes`.
    static uint64_t shared_bytes(uint64_t bytes);
    // The bytes go; the Allocation object stays (live == false) to explain later accesses.
    void release(Allocation& allocation, HostSite site);

    // Zeros in [address, address + bytes) of a live allocation. Whole pages of large ranges go back
    // to the system, and appear again on first touch.
    void clear(Allocation& allocation, uint64_t address, uint64_t bytes);

    // The allocation (live or freed) whose slot contains `address`; null if there is none.
    // "Whose slot": also for an address outside [address, address+bytes), so that an overrun can be
    // named.
    Allocation* find(uint64_t address);
    const Allocation* find(uint64_t address) const {
        return const_cast<Memory*>(this)->find(address);
    }
    Allocation& by_id(uint32_t id) { return *all_[id]; }
    uint32_t count() const { return uint32_t(all_.size()); }

    // Any address of the reserved range, allocated or not: what a host fault handler asks.
    bool is_device_address(uint64_t address) const;

    uint64_t used(int device) const;
    // Bytes of all live allocations that take memory of the host when they are touched.
    uint64_t promised() const;
    uint64_t capacity() const { return capacity_; }  // bytes per device
    void set_capacity(uint64_t bytes) { capacity_ = bytes; }

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    std::vector<std::unique_ptr<Allocation>> all_;
    // Places and fills what `made` describes; null as allocate().
    Allocation* settle(std::unique_ptr<Allocation> made, uint64_t align);

    uint64_t capacity_;
    unsigned sharing_ = 0;
};

}  // namespace machine
