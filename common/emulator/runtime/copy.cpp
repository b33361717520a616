// SPDX-License-Identifier: MIT
// Checks both ends of a copy or fill against the live allocations, says what is wrong in a
// sentence, and moves the bytes.
#include "runtime/copy.h"

#include <cstdio>
#include <cstring>

#include "ptx/demangle.h"
#include "runtime/host_memory.h"
#include "runtime/registry.h"

namespace runtime {

using machine::Allocation;
using machine::MemoryKind;

std::string hex(uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

static std::string count(uint64_t bytes) {
    // Nobody has so much: a negative number was converted.
    if (bytes > ~0ull >> 1)
        return std::to_string(int64_t(bytes)) + " bytes (as a size: " + std::to_string(bytes) + ")";
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string describe(const Allocation& allocation) {
    if (!allocation.name.empty())
        return "`" + allocation.name + "` (" + count(allocation.bytes) + ")";
    switch (allocation.kind) {
    case MemoryKind::kManaged:
        return "managed memory of " + count(allocation.bytes);
    case MemoryKind::kPinned:
        return "pinned host memory of " + count(allocation.bytes);
    case MemoryKind::kRegistered:
        return "registered host memory of " + count(allocation.bytes);
    case MemoryKind::kArray:
        return "an array of " + count(allocation.bytes);
    default:
        return "an allocation of " + count(allocation.bytes);
    }
}

namespace {

enum class Role { kHost, kDevice, kEither };

// One end of a copy after it has been looked at.
struct End {
    Allocation* allocation = nullptr;  // null: plain host memory
    std::byte* bytes = nullptr;        // where the region starts in this process
    bool on_device() const { return allocation && !allocation->host_visible(); }
};

// Bytes from the first to the last one touched; the largest number when that overflows.
uint64_t span_of(const Box& box, const Extent& extent) {
    uint64_t slices = 0, rows = 0, sum = 0;
    if (__builtin_mul_overflow(extent.depth - 1, box.slice, &slices) ||
        __builtin_mul_overflow(extent.height - 1, box.pitch, &rows) ||
        __builtin_add_overflow(slices, rows, &sum) ||
        __builtin_add_overflow(sum, extent.width, &sum))
        return ~0ull;
    return sum;
}

class Checker {
public:
    Checker(Call& call, const char* api, machine::HostSite site)
        : call_(call), api_(api), site_(site) {}

    cudaError_t end(const Box& box, const Extent& extent, Role role, bool reads, End& result) {
        const uint64_t bytes = span_of(box, extent);
        const std::string verb = reads ? "reads from " : "writes to ";
        if (!box.address) return wrong(box, nullptr, verb + "a null pointer");
        machine::Memory& memory = call_.global.memory;
        Allocation* found = memory.find(box.address);
        if (found && found->kind == MemoryKind::kRegistered &&
            (!found->live || !found->contains(box.address, 1)))
            found = nullptr;  // the program's own memory, whatever was registered near it
        if (!found) {
            if (memory.is_device_address(box.address))
                return wrong(
                    box, nullptr, verb + hex(box.address) + ", which lies in no allocation");
            const VariableRecord* variable = variable_shadowed_at(box.address);
            if (role == Role::kDevice && variable) {
                const std::string symbol = ptx::demangled_variable(variable->mangled);
                return wrong(box,
                             nullptr,
                             verb + "`" + symbol + "`, a " +
                                 (variable->constant ? "__constant__" : "__device__") +
                                 " variable, whose name is no device pointer in host code: "
                                 "cudaMemcpyToSymbol, cudaMemcpyFromSymbol and "
                                 "cudaGetSymbolAddress find its place on the device");
            }
            if (role == Role::kDevice)
                return wrong(box,
                             nullptr,
                             verb + hex(box.address) +
                                 " as device memory, but it is host memory that "
                                 "CUDA does not know" +
                                 (verb_hint_.empty() ? "" : "; " + verb_hint_));
            if (const uint64_t there = readable_bytes(box.address, bytes); there < bytes)
                return wrong(box,
                             nullptr,
                             (reads ? "reads " : "writes ") + count(bytes) + " of host memory at " +
                                 hex(box.address) +
                                 (there ? ", of which only the first " + count(there) +
                                              " belong to the program"
                                        : ", which does not belong to the program"));
            result.bytes = reinterpret_cast<std::byte*>(box.address);
            return cudaSuccess;
        }
        if (!found->live)
            return wrong(
                box, found, verb + describe(*found) + " that has been freed", found->freed_at);
        if (role == Role::kHost && !found->host_visible())
            return wrong(box,
                         found,
                         verb + describe(*found) + " as host memory, but it is device memory" +
                             (verb_hint_.empty() ? "" : "; " + verb_hint_));
        if (!found->contains(box.address, bytes)) {
            // Only the part that is registered has bounds that we know; a host copy may go past it.
            if (found->kind == MemoryKind::kRegistered && role != Role::kDevice) {
                result.bytes = reinterpret_cast<std::byte*>(box.address);
                return cudaSuccess;
            }
            return wrong(box, found, range_text(*found, box, extent, bytes, reads));
        }
        result.allocation = found;
        result.bytes = found->host + (box.address - found->address);
        return cudaSuccess;
    }

    std::string verb_ = "copies", verb_hint_;

private:
    std::string range_text(const Allocation& allocation, const Box& box, const Extent& extent,
                           uint64_t bytes, bool reads) const {
        std::string text = verb_ + " " + count(bytes);
        if (extent.height > 1 || extent.depth > 1) {
            text += " (" + std::to_string(extent.height * extent.depth) + " rows of " +
                    count(extent.width) + ", " + std::to_string(box.pitch) + " apart)";
        }
        text += verb_ == "fills" ? " of " : reads ? " out of " : " into ";
        text += describe(allocation);
        const int64_t offset = int64_t(box.address - allocation.address);
        if (offset > 0 && uint64_t(offset) <= allocation.bytes)
            text += ", from its byte " + std::to_string(offset) + " on";
        else if (offset != 0)
            text += ", starting " +
                    count(uint64_t(offset < 0 ? -offset : offset - int64_t(allocation.bytes))) +
                    (offset < 0 ? " before it" : " behind its end");
        return text;
    }

    cudaError_t wrong(const Box& box, const Allocation* allocation, const std::string& what,
                      machine::HostSite other = 0) {
        machine::ApiEvent event{};
        event.kind = machine::ApiEvent::Kind::kInvalidCopy;
        event.api = api_;
        event.error = cudaErrorInvalidValue;
        event.message = "`" + std::string(api_) + "` " + what;
        event.address = box.address;
        event.allocation = allocation;
        event.site = site_;
        event.other_site = other ? other : allocation ? allocation->allocated_at : 0;
        call_.told();
        call_.global.fire(event);
        return cudaErrorInvalidValue;
    }

    Call& call_;
    const char* api_;
    machine::HostSite site_;
};

// Calls row(to offset, from offset, bytes) for every run of consecutive bytes.
template <class F>
void for_rows(const Box& to, const Box& from, const Extent& extent, F&& row) {
    const bool rows_join = to.pitch == extent.width && from.pitch == extent.width;
    const bool slices_join =
        rows_join && to.slice == extent.width * extent.height && from.slice == to.slice;
    if (slices_join) return row(0, 0, extent.width * extent.height * extent.depth);
    for (uint64_t z = 0; z < extent.depth; ++z) {
        if (rows_join) {
            row(z * to.slice, z * from.slice, extent.width * extent.height);
            continue;
        }
        for (uint64_t y = 0; y < extent.height; ++y)
            row(z * to.slice + y * to.pitch, z * from.slice + y * from.pitch, extent.width);
    }
}

// Single rows and slices make pitches meaningless: give them the packed value.
void normalise(Box& box, const Extent& extent) {
    if (extent.height == 1) box.pitch = extent.width;
    if (extent.depth == 1) box.slice = box.pitch * extent.height;
}

// `pinned`: the other end of a transfer, where it is memory of the host that CUDA knows.
void tell(Call& call, const char* api, machine::HostSite site, const Stream& stream, const End& to,
          const End& from, uint64_t to_address, uint64_t from_address, uint64_t bytes,
          const Allocation* pinned = nullptr) {
    if (!to.allocation && !from.allocation) return;
    machine::HostAccess event{};
    event.api = api;
    event.bytes = bytes;
    event.stream = stream.id;
    event.site = site;
    if (to.allocation && from.allocation) {
        event.kind = machine::HostAccess::Kind::kCopy;
        event.allocation = to.allocation;
        event.address = to_address;
        event.source = from.allocation;
        event.source_address = from_address;
    } else {
        event.kind =
            to.allocation ? machine::HostAccess::Kind::kWrite : machine::HostAccess::Kind::kRead;
        event.allocation = to.allocation ? to.allocation : from.allocation;
        event.address = to.allocation ? to_address : from_address;
        event.pinned = pinned;
        event.pinned_address = to.allocation ? from_address : to_address;
        event.writes_pinned = !to.allocation;
    }
    call.global.fire(event);
}

}  // namespace

cudaError_t copy_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Box to, Box from, Extent extent, cudaMemcpyKind kind) {
    Role to_role = Role::kEither, from_role = Role::kEither;
    const char* kind_name = nullptr;
    switch (kind) {
    case cudaMemcpyHostToHost:
        to_role = Role::kHost, from_role = Role::kHost, kind_name = "cudaMemcpyHostToHost";
        break;
    case cudaMemcpyHostToDevice:
        to_role = Role::kDevice, from_role = Role::kHost, kind_name = "cudaMemcpyHostToDevice";
        break;
    case cudaMemcpyDeviceToHost:
        to_role = Role::kHost, from_role = Role::kDevice, kind_name = "cudaMemcpyDeviceToHost";
        break;
    case cudaMemcpyDeviceToDevice:
        to_role = Role::kDevice, from_role = Role::kDevice, kind_name = "cudaMemcpyDeviceToDevice";
        break;
    case cudaMemcpyDefault:
        break;
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
    if (extent.empty()) return cudaSuccess;
    normalise(to, extent);
    normalise(from, extent);
    Checker checker(call, api, site);
    if (kind_name) checker.verb_hint_ = std::string("the direction given is ") + kind_name;
    End target, source;
    if (const cudaError_t error = checker.end(to, extent, to_role, false, target)) return error;
    if (const cudaError_t error = checker.end(from, extent, from_role, true, source)) return error;
    for_rows(to, from, extent, [&](uint64_t to_offset, uint64_t from_offset, uint64_t bytes) {
        // A pinned host side is part of the host; the transfer is then one way.
        End a = target, b = source;
        if (from_role == Role::kHost ||
            (b.allocation && b.allocation->host_visible() && a.on_device() &&
             b.allocation->kind != MemoryKind::kManaged))
            b.allocation = nullptr;
        if (to_role == Role::kHost || (a.allocation && a.allocation->host_visible() &&
                                       b.on_device() && a.allocation->kind != MemoryKind::kManaged))
            a.allocation = nullptr;
        tell(call,
             api,
             site,
             stream,
             a,
             b,
             to.address + to_offset,
             from.address + from_offset,
             bytes,
             a.allocation ? source.allocation : target.allocation);
        std::memmove(target.bytes + to_offset, source.bytes + from_offset, bytes);
    });
    return cudaSuccess;
}

cudaError_t fill_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Box to, Extent extent, uint32_t value, unsigned element_bytes) {
    if (extent.empty()) return cudaSuccess;
    normalise(to, extent);
    Checker checker(call, api, site);
    checker.verb_ = "fills";
    End target;
    if (const cudaError_t error = checker.end(to, extent, Role::kDevice, false, target))
        return error;
    for_rows(to, to, extent, [&](uint64_t offset, uint64_t, uint64_t bytes) {
        tell(call, api, site, stream, target, End{}, to.address + offset, 0, bytes);
        if (element_bytes == 1) {
            std::memset(target.bytes + offset, int(value), bytes);
        } else {
            for (uint64_t i = 0; i + element_bytes <= bytes; i += element_bytes)
                std::memcpy(target.bytes + offset + i, &value, element_bytes);
        }
    });
    return cudaSuccess;
}

cudaError_t copy(Call& call, Box to, Box from, Extent extent, cudaMemcpyKind kind,
                 cudaStream_t stream, bool per_thread, bool wait) {
    const machine::HostSite site = call.site();
    const char* api = call.name;
    Stream* where = find_stream(call, stream, per_thread);
    if (!where) return cudaErrorInvalidResourceHandle;
    if (wait && any_capture(call)) return cudaErrorStreamCaptureImplicit;
    Work work{Work::Kind::kCopy, api, [=](Call& later, Stream& at) {
                  return copy_now(later, api, site, at, to, from, extent, kind);
              }};
    const cudaError_t error = submit(call, *where, std::move(work));
    if (wait && error == cudaSuccess && kind != cudaMemcpyDeviceToDevice) host_waited(call, *where);
    return error;
}

cudaError_t fill(Call& call, Box to, Extent extent, uint32_t value, cudaStream_t stream,
                 bool per_thread, bool wait, unsigned element_bytes) {
    const machine::HostSite site = call.site();
    const char* api = call.name;
    if (wait && any_capture(call)) return cudaErrorStreamCaptureImplicit;
    return submit(call,
                  stream,
                  per_thread,
                  Work{Work::Kind::kFill, api, [=](Call& later, Stream& at) {
                           return fill_now(later, api, site, at, to, extent, value, element_bytes);
                       }});
}

}  // namespace runtime
