// SPDX-License-Identifier: MIT
// What the scripts of event_player.h access, and how: arrays, and kinds of accesses by name.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "machine/memory.h"
#include "machine/observer.h"

namespace player {

using machine::AccessKind;
using machine::MemoryOrder;
using machine::Scope;

using Addresses = std::function<uint64_t(uint32_t lane)>;

// Elements of 4 bytes unless said otherwise.
struct ArrayOf {
    uint64_t address = 0;
    uint32_t element = 4;
    ptx::Space space = ptx::Space::kGlobal;
    machine::Allocation* allocation = nullptr;
    uint64_t operator[](int64_t i) const { return address + uint64_t(i * int64_t(element)); }
    // Lane i: element first + i * stride.
    Addresses from(int64_t first, int64_t stride = 1) const {
        return [a = *this, first, stride](uint32_t lane) { return a[first + lane * stride]; };
    }
    Addresses all(int64_t i) const {
        return [at = (*this)[i]](uint32_t) { return at; };
    }
};

// What an access does besides moving data.
struct How {
    AccessKind kind = AccessKind::kLoad;
    MemoryOrder order = MemoryOrder::kWeak;
    Scope scope = Scope::kNone;
    const char* opcode = "";
    machine::SiteId instruction = 0;  // of real PTX, for who looks at that
    bool only_if_equal = false;       // a compare-and-swap, said to be one
};
// The call by its name, and what the runtime says of it.
inline void called(machine::HostAccess& access, const char* api) {
    using Ordering = machine::HostAccess::Ordering;
    const std::string_view name = api ? api : "";
    access.api = api;
    access.ordering = name.find("Graph") != name.npos   ? Ordering::kGraphNode
                      : name.find("Async") != name.npos ? Ordering::kAsync
                                                        : Ordering::kBlocking;
    access.fill = name.find("Memset") != name.npos;
}

constexpr How kLoad{AccessKind::kLoad}, kStore{AccessKind::kStore};
constexpr How kAtomic{AccessKind::kAtomic, MemoryOrder::kUnstated, Scope::kGpu};
constexpr How kBlockAtomic{AccessKind::kAtomic, MemoryOrder::kUnstated, Scope::kCta};
constexpr How kReduction{AccessKind::kReduction, MemoryOrder::kRelaxed, Scope::kGpu};
constexpr How kVolatileLoad{AccessKind::kLoad, MemoryOrder::kVolatile, Scope::kSys};
constexpr How kVolatileStore{AccessKind::kStore, MemoryOrder::kVolatile, Scope::kSys};
constexpr How kRelaxedLoad{AccessKind::kLoad, MemoryOrder::kRelaxed, Scope::kGpu};
constexpr How kRelaxedStore{AccessKind::kStore, MemoryOrder::kRelaxed, Scope::kGpu};
constexpr How kAcquireLoad{AccessKind::kLoad, MemoryOrder::kAcquire, Scope::kGpu};
constexpr How kReleaseStore{AccessKind::kStore, MemoryOrder::kRelease, Scope::kGpu};
constexpr How kReleaseStoreBlock{AccessKind::kStore, MemoryOrder::kRelease, Scope::kCta};
constexpr How kReleaseAdd{AccessKind::kAtomic, MemoryOrder::kRelease, Scope::kGpu};
constexpr How kReleaseReduction{AccessKind::kReduction, MemoryOrder::kRelease, Scope::kGpu};
constexpr How kRelaxedAdd{AccessKind::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu};
constexpr How kAcqRelAdd{AccessKind::kAtomic, MemoryOrder::kAcqRel, Scope::kGpu};

}  // namespace player
