// SPDX-License-Identifier: MIT
// Checks both ends of a copy or fill against the live allocations, describes errors, and copies the
// bytes.
#include "runtime/core/copy.h"

#include <cstdio>
#include <cstring>

#include "ptx/demangle/demangle.h"
#include "runtime/core/registry.h"
#include "runtime/host_watch/host_memory.h"

namespace runtime {

using machine::Allocation;
using machine::MemoryKind;

std::string hex(uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

static std::string count(uint64_t bytes) {
    // No memory is that large: a negative number was converted.
    if (bytes > ~0ull >> 1)
        return std::to_string(int64_t(bytes)) + " bytes (as a size: " + std::to_string(bytes) + ")";
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string describe(const Allocation& allocation) {
    if (!allocation.name.empty())
        return "`" + allocation.name + "` (" + count(allocation.bytes) + ")";
    if (allocation.imported) return "memory of another process of " + count(allocation.bytes);
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

using Reason = machine::ApiEvent::Reason;

enum class Role { kHost, kDevice, kEither };

// One end of a copy after the checks.
struct End {
    Allocation* allocation = nullptr;  // null: plain host memory
    std::byte* bytes = nullptr;        // where the region starts in this process
    bool on_device() const { return allocation && !allocation->host_visible(); }
};

// Bytes from the first to the last one accessed; the largest number when that overflows.
uint64_t span_of(const Box& box, const Extent& extent) {
    uint64_t slices = 0, rows = 0, sum = 0;
    if (__builtin_mul_overflow(extent.depth - 1, box.slice, &slices) ||
        __builtin_mul_overflow(extent.height - 1, box.pitch, &rows) ||
        __builtin_add_overflow(slices, rows, &sum) ||
        __builtin_add_overflow(sum, extent.width, &sum))
        return ~0ull;
    return sum;
}

Allocation* allocation_at(machine::Memory& memory, uint64_t address) {
    Allocation* found = memory.find(address);
    if (found && found->kind == MemoryKind::kRegistered &&
        (!found->live || !found->contains(address, 1)))
        return nullptr;  // ordinary host memory, even if memory near it is registered
    return found;
}

class Checker {
public:
    Checker(Call& call, const char* api, machine::HostSite site)
        : call_(call), api_(api), site_(site) {}

    cudaError_t end(const Box& box, const Extent& extent, Role role, bool reads, End& result) {
        const uint64_t bytes = span_of(box, extent);
        std::string verb = reads ? "reads from " : "writes to ";
        if (!operand_.empty())
            verb = (reads ? "reads `" : "writes `") + operand_ + (reads ? "` from " : "` to ");
        if (!box.address) return wrong(box, Reason::kNullPointer, nullptr, verb + "a null pointer");
        machine::Memory& memory = call_.global.memory;
        Allocation* found = allocation_at(memory, box.address);
        if (!found) {
            if (memory.is_device_address(box.address))
                return wrong(box,
                             Reason::kNoAllocation,
                             nullptr,
                             verb + hex(box.address) + ", which is not in any allocation");
            const VariableRecord* variable = variable_shadowed_at(box.address);
            if (role == Role::kDevice && variable) {
                const std::string symbol = ptx::demangled_variable(variable->mangled);
                return wrong(box,
                             Reason::kVariableName,
                             nullptr,
                             verb + "`" + symbol + "`, a " +
                                 (variable->constant ? "__constant__" : "__device__") +
                                 " variable, whose name is not a device pointer in host code: "
                                 "use cudaMemcpyToSymbol, cudaMemcpyFromSymbol or "
                                 "cudaGetSymbolAddress");
            }
            if (role == Role::kDevice)
                return wrong(box,
                             verb_hint_.empty() ? Reason::kNoAllocation : Reason::kWrongDirection,
                             nullptr,
                             verb + hex(box.address) +
                                 " as device memory, but it is host memory that "
                                 "was not allocated or registered with CUDA" +
                                 (verb_hint_.empty() ? "" : "; " + verb_hint_));
            if (const uint64_t there = readable_bytes(box.address, bytes); there < bytes) {
                asked_ = bytes, available_ = there;
                return wrong(box,
                             Reason::kOutOfRange,
                             nullptr,
                             (reads ? "reads " : "writes ") + count(bytes) + " of host memory at " +
                                 hex(box.address) +
                                 (there ? ", of which only the first " + count(there) +
                                              " belong to the program"
                                        : ", which does not belong to the program"));
            }
            result.bytes = reinterpret_cast<std::byte*>(box.address);
            return cudaSuccess;
        }
        if (!found->live)
            return wrong(box,
                         Reason::kFreed,
                         found,
                         verb + describe(*found) + " that has been " + found->ended(),
                         found->freed_at);
        if (role == Role::kHost && !found->host_visible())
            return wrong(box,
                         Reason::kWrongDirection,
                         found,
                         verb + describe(*found) + " as host memory, but it is device memory" +
                             (verb_hint_.empty() ? "" : "; " + verb_hint_));
        if (!found->contains(box.address, bytes)) {
            // Only the registered part has known bounds; a host copy may extend past it.
            if (found->kind == MemoryKind::kRegistered && role != Role::kDevice) {
                result.bytes = reinterpret_cast<std::byte*>(box.address);
                return cudaSuccess;
            }
            asked_ = bytes, available_ = found->bytes;
            return wrong(
                box, Reason::kOutOfRange, found, range_text(*found, box, extent, bytes, reads));
        }
        result.allocation = found;
        result.bytes = found->host + (box.address - found->address);
        return cudaSuccess;
    }

    std::string verb_ = "copies", verb_hint_, operand_;
    machine::ApiEvent::Kind kind_ = machine::ApiEvent::Kind::kInvalidCopy;

private:
    std::string range_text(const Allocation& allocation, const Box& box, const Extent& extent,
                           uint64_t bytes, bool reads) const {
        std::string text = verb_ + " " + count(bytes);
        if (extent.height > 1 || extent.depth > 1) {
            text += " (" + std::to_string(extent.height * extent.depth) + " rows of " +
                    count(extent.width) + ", " + std::to_string(box.pitch) + " apart)";
        }
        if (kind_ == machine::ApiEvent::Kind::kLibraryOperand) text += " as `" + operand_ + '`';
        text += verb_ == "fills" ? " of " : reads ? " out of " : " into ";
        text += describe(allocation);
        const int64_t offset = int64_t(box.address - allocation.address);
        if (offset > 0 && uint64_t(offset) <= allocation.bytes)
            text += ", starting at byte " + std::to_string(offset);
        else if (offset != 0)
            text += ", starting " +
                    count(uint64_t(offset < 0 ? -offset : offset - int64_t(allocation.bytes))) +
                    (offset < 0 ? " before it" : " past its end");
        return text;
    }

    cudaError_t wrong(const Box& box, Reason reason, const Allocation* allocation,
                      const std::string& what, machine::HostSite other = 0) {
        machine::ApiEvent event{};
        event.kind = kind_;
        event.reason = reason;
        event.api = api_;
        event.detail = operand_;
        event.asked = asked_;
        event.available = available_;
        event.error = cudaErrorInvalidValue;
        event.message = "`" + std::string(api_) + "` " + what;
        event.address = box.address;
        event.allocation = allocation;
        event.site = site_;
        event.other_site = other ? other : allocation ? allocation->allocated_at : 0;
        call_.mark_reported();
        call_.global.fire(event);
        return cudaErrorInvalidValue;
    }

    Call& call_;
    const char* api_;
    machine::HostSite site_;
    uint64_t asked_ = 0, available_ = 0;
};

// Calls row(to offset, from offset, bytes) for every contiguous range.
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

// Pitches of single rows and slices have no meaning: they are set to the packed value.
void normalise(Box& box, const Extent& extent) {
    if (extent.height == 1) box.pitch = extent.width;
    if (extent.depth == 1) box.slice = box.pitch * extent.height;
}

// `pinned`: the other end of a transfer, if it is pinned, registered or managed memory.
void report(Call& call, const char* api, machine::HostSite site, const Stream& stream,
            Ordering ordering, const End& to, const End& from, uint64_t to_address,
            uint64_t from_address, uint64_t bytes, bool continued,
            const Allocation* pinned = nullptr, bool fill = false) {
    if (!to.allocation && !from.allocation) return;
    machine::HostAccess event{};
    event.api = api;
    event.bytes = bytes;
    event.stream = stream.id;
    event.site = site;
    event.ordering = ordering;
    event.fill = fill;
    event.continued = continued;
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

cudaError_t check_operand(Call& call, const char* api, machine::HostSite site, const char* operand,
                          Box box, Extent extent, bool reads, Allocation*& allocation,
                          std::byte*& host) {
    normalise(box, extent);
    Checker checker(call, api, site);
    checker.kind_ = machine::ApiEvent::Kind::kLibraryOperand;
    checker.verb_ = reads ? "reads" : "writes";
    checker.operand_ = operand;
    End end;
    const cudaError_t error = checker.end(box, extent, Role::kDevice, reads, end);
    allocation = end.allocation;
    host = end.bytes;
    return error;
}

cudaError_t copy_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Ordering ordering, Box to, Box from, Extent extent, cudaMemcpyKind kind) {
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
        // Pinned memory belongs to the host; the transfer is then in one direction.
        End a = target, b = source;
        if (from_role == Role::kHost ||
            (b.allocation && b.allocation->host_visible() && a.on_device() &&
             b.allocation->kind != MemoryKind::kManaged))
            b.allocation = nullptr;
        if (to_role == Role::kHost || (a.allocation && a.allocation->host_visible() &&
                                       b.on_device() && a.allocation->kind != MemoryKind::kManaged))
            a.allocation = nullptr;
        report(call,
               api,
               site,
               stream,
               ordering,
               a,
               b,
               to.address + to_offset,
               from.address + from_offset,
               bytes,
               to_offset > 0 || from_offset > 0,
               a.allocation ? source.allocation : target.allocation);
        std::memmove(target.bytes + to_offset, source.bytes + from_offset, bytes);
    });
    return cudaSuccess;
}

cudaError_t fill_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Ordering ordering, Box to, Extent extent, uint32_t value,
                     unsigned element_bytes) {
    if (extent.empty()) return cudaSuccess;
    normalise(to, extent);
    Checker checker(call, api, site);
    checker.verb_ = "fills";
    End target;
    if (const cudaError_t error = checker.end(to, extent, Role::kDevice, false, target))
        return error;
    for_rows(to, to, extent, [&](uint64_t offset, uint64_t, uint64_t bytes) {
        report(call,
               api,
               site,
               stream,
               ordering,
               target,
               End{},
               to.address + offset,
               0,
               bytes,
               offset > 0,
               nullptr,
               true);
        if (value == 0 && target.allocation) {
            call.global.memory.clear(*target.allocation, to.address + offset, bytes);
        } else if (element_bytes == 1) {
            std::memset(target.bytes + offset, int(value), bytes);
        } else {
            for (uint64_t i = 0; i + element_bytes <= bytes; i += element_bytes)
                std::memcpy(target.bytes + offset + i, &value, element_bytes);
        }
    });
    return cudaSuccess;
}

// Whether a blocking copy that succeeded is one that machine::HostAccess::staged() describes.
static bool is_staged(Call& call, const Box& to, const Box& from) {
    const Allocation* target = allocation_at(call.global.memory, to.address);
    return target && !target->host_visible() && !allocation_at(call.global.memory, from.address);
}

cudaError_t copy(Call& call, Box to, Box from, Extent extent, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait) {
    const machine::HostSite site = call.site();
    const char* api = call.name;
    const Ordering ordering = wait ? Ordering::kBlocking : Ordering::kAsync;
    Stream* where = find_stream(call, stream);
    if (!where) return cudaErrorInvalidResourceHandle;
    if (wait && invalidate_captures(call)) return cudaErrorStreamCaptureImplicit;
    Work work{Work::Kind::kCopy, api, [=](Call& later, Stream& at) {
                  return copy_now(later, api, site, at, ordering, to, from, extent, kind);
              }};
    const cudaError_t error = submit(call, *where, std::move(work));
    if (wait && error == cudaSuccess && kind != cudaMemcpyDeviceToDevice)
        host_waited(call, *where, is_staged(call, to, from));
    return error;
}

cudaError_t fill(Call& call, Box to, Extent extent, uint32_t value, cudaStream_t stream, bool wait,
                 unsigned element_bytes) {
    const machine::HostSite site = call.site();
    const char* api = call.name;
    const Ordering ordering = wait ? Ordering::kBlocking : Ordering::kAsync;
    if (wait && invalidate_captures(call)) return cudaErrorStreamCaptureImplicit;
    return submit(call,
                  stream,
                  Work{Work::Kind::kFill, api, [=](Call& later, Stream& at) {
                           return fill_now(
                               later, api, site, at, ordering, to, extent, value, element_bytes);
                       }});
}

}  // namespace runtime
