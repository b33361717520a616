// SPDX-License-Identifier: MIT
// What an address means to one lane: its local memory, the owner of a generic address of local or
// shared memory, and where the bytes of a generic address are. Also reports a kernel's faults.
#include <sys/mman.h>

#include "machine/state/launch_state.h"

namespace machine {

LaunchState* LaunchState::running = nullptr;

LaunchState::LaunchState(Memory& memory_, Observers& observers_, const Limits& limits_,
                         UndefinedValues& undefined_)
    : Lanes{}, memory(memory_), observers(observers_), limits(limits_), undefined(undefined_) {}

LaunchState::~LaunchState() {
    set_local_stride(0);
}

void LaunchState::set_local_stride(uint32_t stride) {
    if (stride == local_stride_) return;
    for (std::byte* p : local_pool_) munmap(p, size_t(local_stride_) * kWarpSize);
    local_pool_.clear();
    local_stride_ = stride;
}

void LaunchState::fault(FaultKind kind, uint32_t lanes, std::string message, std::string file,
                        uint32_t line, std::string function, SiteId other) {
    FaultEvent event{kind,
                     warp ? &warp->info : nullptr,
                     current ? blamed(frame, *current) : 0,
                     lanes,
                     std::move(message),
                     std::move(file),
                     line,
                     std::move(function),
                     other,
                     kind == FaultKind::kTrap && asked_for_grid};
    for (Observer* o : observers.fault) o->on_fault(event);
}

std::byte* LaunchState::local_memory() {
    if (!warp->local) {
        if (!local_pool_.empty()) {
            warp->local = local_pool_.back();
            local_pool_.pop_back();
        } else {
            void* base = mmap(nullptr,
                              size_t(local_stride_) * kWarpSize,
                              PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1,
                              0);
            warp->local = base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
        }
    }
    return warp->local;
}

void LaunchState::check_owners(const uint64_t* address, uint32_t lanes, AccessKind kind,
                               uint64_t tag) {
    const bool is_local = tag == kLocalTag;
    uint32_t foreign = 0, first = 0;
    for_lanes(lanes, [&](uint32_t i) {
        const uint32_t named = uint32_t(address[i] >> kOwnerShift) & kOwnerMask;
        if (named == (is_local ? local_owner(i) : shared_owner()) || !is_owner(named)) return;
        if (!foreign) first = named;
        foreign |= 1u << i;
    });
    if (!foreign) return;
    const std::string does = kind == AccessKind::kLoad ? "reads" : "writes";
    if (!is_local)
        return fault(FaultKind::kForeignAddress,
                     foreign,
                     does + " through the address of a shared variable of another block: each "
                            "block has shared memory of its own, which is what it reaches");
    const bool here = first >> kOwnerBlockShift == local_owner(0) >> kOwnerBlockShift;
    const Dim3 thread = thread_index(block->info, thread_of_owner(first));
    const auto text = [](uint32_t number) { return std::to_string(number); };
    fault(FaultKind::kForeignAddress,
          foreign,
          does + " through the address of a local variable of " +
              (here
                   ? "thread (" + text(thread.x) + "," + text(thread.y) + "," + text(thread.z) + ")"
                   : "a thread of another block") +
              ": local memory is private, so what it reaches is some variable of its own");
}

std::byte* LaunchState::peek(uint64_t generic, uint64_t bytes, uint32_t lane) {
    const uint64_t tag = generic >> 56;
    if (tag == kSharedTag) {
        const uint32_t address = uint32_t(generic);
        const SharedVariable* v = windows[address >> kSharedWindowBits];
        if (!v || address < v->address || address - v->address + bytes > v->bytes) return nullptr;
        return block->shared.data() + v->offset + (address - v->address);
    }
    if (tag == kLocalTag) {
        const uint32_t address = uint32_t(generic);
        if (address + bytes > local_stride_) return nullptr;
        std::byte* base = local_memory();
        return base ? base + size_t(lane) * local_stride_ + address : nullptr;
    }
    if (tag == kParamTag) {
        const uint32_t address = uint32_t(generic);
        return address + bytes <= arguments.size() ? arguments.data() + address : nullptr;
    }
    if (tag != 0) return nullptr;
    const Allocation* a = memory.find(generic);
    if (!a || !a->live || !a->contains(generic, bytes)) return nullptr;
    return a->host + (generic - a->address);
}

const std::byte* current_bytes(const AccessEvent& event, uint32_t lane) {
    if (event.bad_lanes >> lane & 1 || !LaunchState::running) return nullptr;
    LaunchState& ex = *LaunchState::running;
    uint64_t address = event.address[lane];
    if (event.space == ptx::Space::kShared)
        address = generic_base(kSharedTag) + uint32_t(address);
    else if (event.space == ptx::Space::kLocal)
        address = generic_base(kLocalTag) + uint32_t(address);
    return ex.peek(address, event.bytes, lane);
}

}  // namespace machine
