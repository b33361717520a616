// SPDX-License-Identifier: MIT
#include "checks/memory/bounds.h"

#include <algorithm>
#include <bit>

#include <sys/mman.h>
#include <unistd.h>

#include "checks/report/places.h"

namespace checks {
namespace {

using machine::AccessEvent;
using machine::AccessKind;
using machine::MemoryKind;

constexpr uint64_t kNullReach =
    1ull << 20;  // nothing is mapped in the first MiB: a null pointer plus an index
constexpr uint64_t kFar = 1ull << 30;  // farther from the array than any plausible index

// An array inside a struct that was passed by value, indexed past the end of all parameters.
bool is_parameter_access(const AccessEvent& event) {
    return event.space == ptx::Space::kNone &&
           site_of(event.site).opcode.find(".param") != std::string_view::npos;
}

bool is_mapped_on_host(uint64_t address) {
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(address & ~(page - 1)), 1, &resident) == 0;
}

// "`out[1000]` is written, but `out` has 1000 elements (0 to 999)"
std::string outside_text(const Array& array, const AccessEvent& event, uint64_t address) {
    const char* const verb = done_by(event.kind);
    const uint64_t end = array.base + array.bytes;
    const bool before = int64_t(address - array.base) < 0;
    const uint64_t distance = before ? array.base - address : address - std::min(address, end);
    const std::string is = std::string(" is ") + verb;
    if (distance > kFar && distance > 16 * array.bytes) {
        return array.subject + is + ' ' + std::to_string(distance) + " bytes " +
               (before ? "before its start" : "past its end") + ", and has only " +
               plural(array.bytes, "byte");
    }
    if (array.element_bytes == 0 || array.scalar) {
        if (before) {
            return array.subject + is + ' ' + plural(distance, "byte") + " before its start";
        }
        return plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") + verb +
               " at offset " + std::to_string(address - array.base) + " of " + array.subject +
               ", which has " + plural(array.bytes, "byte");
    }
    const std::string element = array.elements_at(address, event.bytes);
    const bool several = element.find("` to `") != std::string::npos;
    std::string text = element + (several ? " are " : " is ") + verb + (several ? " at once" : "");
    if (before) return text + ", but " + array.again() + " begins at element 0";
    return text + ", but " + array.extent();
}

void add_facts(JsonObject& facts, const Array& array, AccessKind kind, uint64_t address,
               bool dynamic) {
    if (!array.name.empty()) facts.add("array", array.name);
    facts.add("access", access_name(kind));
    if (!array.base) return;
    const uint64_t end = array.base + array.bytes;
    const bool before = int64_t(address - array.base) < 0;
    facts.add("past_end",
              int64_t(before ? address - array.base : address - std::min(address, end)));
    if (array.element_bytes && !array.scalar)
        facts.add("index", array.index(address)).add("elements", array.elements());
    facts.add("element_bytes", array.element_bytes).add("dynamic", dynamic);
    if (dynamic) facts.add("bytes", array.bytes);
}

// "4 bytes are written at offset 32 of a local array that has 32 bytes": the size includes what
// padding there is, so it is the next variable that begins there.
std::string local_text(const AccessEvent& event, uint64_t address) {
    const std::string is_accessed =
        plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") + done_by(event.kind);
    const std::string array =
        " of a local array that has " + plural(event.object_end - event.object_begin, "byte");
    if (address < event.object_begin)
        return is_accessed + ' ' + plural(event.object_begin - address, "byte") +
               " before the start" + array;
    return is_accessed + " at offset " + std::to_string(address - event.object_begin) + array;
}

// Its size is what another process asked for.
void note_origin(Finding& finding, const machine::Allocation& allocation, const std::string& file) {
    const Place opened = place_of_host(allocation.allocated_at);
    finding.notes.push_back("it is memory of another process" +
                            (opened.line ? ", opened on " + line_text(opened, file) : ""));
}

}  // namespace

Bounds::Verdict Bounds::judge(const AccessEvent& event, uint64_t address) const {
    if (event.space == ptx::Space::kLocal || is_parameter_access(event)) {
        return {"out-of-bounds-local", 1, nullptr, nullptr};
    }
    if (event.space == ptx::Space::kShared) {
        const auto* variable = machine::shared_variable_at(*event.warp->block->launch, address);
        return {"out-of-bounds-shared", variable ? variable->address : 0, nullptr, variable};
    }
    const machine::Allocation* allocation = memory_.find(address);
    if (!allocation) return {"invalid-address", 0, nullptr, nullptr};
    if (!allocation->live) return {"use-after-free", allocation->id + 1ull, allocation, nullptr};
    const char* code = "out-of-bounds-global";
    if (allocation->contains(address, event.bytes)) code = "invalid-address";
    return {code, allocation->id + 1ull, allocation, nullptr};
}

void Bounds::on_access(const AccessEvent& event) {
    uint32_t left = event.bad_lanes & event.mask;
    while (left) {
        const uint32_t first = uint32_t(std::countr_zero(left));
        const Verdict verdict = judge(event, event.address[first]);
        uint32_t same = 1u << first;
        for (uint32_t m = left & ~same; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (judge(event, event.address[lane]) == verdict) same |= 1u << lane;
        }
        left &= ~same;
        findings_.add(verdict.code,
                      event.site,
                      *event.warp,
                      same,
                      verdict.subject,
                      event.address,
                      [&](uint32_t lane) { return draft(event, verdict, lane); });
    }
}

void Bounds::on_fault(const machine::FaultEvent& event) {
    if (event.kind == machine::FaultKind::kHeapExhausted) {
        heap_exhausted_in_ = event.warp->block->launch->serial;
    }
}

std::string Bounds::invalid_address_text(const AccessEvent& event, uint64_t address,
                                         std::vector<std::string>& notes) const {
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    const std::string verb = done_by(event.kind);
    const std::string is_accessed =
        plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") + verb;
    if (address < kNullReach) {
        if (heap_exhausted_in_ == launch.serial) {
            notes.push_back("`malloc` returned null in this kernel: the device heap is full");
        }
        const auto argument = pointer_argument(launch, address, kNullReach);
        if (argument && argument->value == 0) {
            return argument->text + ", is a null pointer, and is " + verb +
                   (address ? " at offset " + std::to_string(address) : "");
        }
        return is_accessed + " through a null pointer" +
               (address ? " plus " + plural(address, "byte") : "");
    }
    if (memory_.is_device_address(address)) {
        return is_accessed + " at " + hex(address) + ", where no array was ever allocated";
    }
    if (event.space == ptx::Space::kNone || event.space == ptx::Space::kGlobal ||
        event.space == ptx::Space::kConst) {
        const auto argument = pointer_argument(launch, address, kFar);
        if (is_mapped_on_host(argument ? argument->value : address)) {
            return (argument ? argument->text + ", is" : is_accessed + " at") +
                   " an address of host memory: was it allocated with `cudaMalloc`?";
        }
    }
    return is_accessed + " at " + hex(address) + ", which is the address of nothing";
}

Draft Bounds::draft(const AccessEvent& event, const Verdict& verdict, uint32_t lane) const {
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    const uint64_t address = event.address[lane];
    Draft draft;
    Finding& finding = draft.finding;
    finding.address = hex(address);
    finding.bytes = event.bytes;
    const bool written = event.kind != AccessKind::kLoad;
    if (verdict.variable) {
        draft.array = name_shared(launch, *verdict.variable, event.element_bytes);
        finding.message = outside_text(draft.array, event, address);
        if (verdict.variable->dynamic)
            finding.notes.push_back("the third argument of `<<<...>>>` sizes " +
                                    draft.array.subject + ", in bytes: here it was " +
                                    std::to_string(launch.dynamic_shared_bytes));
    } else if (event.space == ptx::Space::kShared) {
        finding.message = plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") +
                          done_by(event.kind) +
                          " in shared memory where the kernel has no variable";
    } else if (is_parameter_access(event)) {
        finding.message = plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") +
                          done_by(event.kind) + " outside the kernel's parameters";
        finding.allocation = "the parameters of the kernel";
    } else if (event.space == ptx::Space::kLocal && event.object_end) {
        const ptx::SourceLine& user = site_of(event.site).user;
        if (const auto array =
                name_local(user.file, user.line, event.object_begin, event.object_end)) {
            draft.array = *array;
            finding.message = outside_text(*array, event, address);
        } else {
            finding.message = local_text(event, address);
            finding.allocation = "a local array";
        }
    } else if (event.space == ptx::Space::kLocal) {
        finding.message = plural(event.bytes, "byte") + (event.bytes == 1 ? " is " : " are ") +
                          done_by(event.kind) +
                          " outside the arrays that belong to this thread alone";
        finding.allocation = "a local array";
    } else if (!verdict.allocation) {
        finding.message = invalid_address_text(event, address, finding.notes);
        draft.array.subject = finding.message;
    } else {
        const machine::Allocation& allocation = *verdict.allocation;
        draft.array = name_global(&launch, allocation, event.element_bytes, written, address);
        if (!allocation.live) {
            finding.message = draft.array.elements_at(address, event.bytes) + " is " +
                              done_by(event.kind) + ", but " + draft.array.again() + " has been " +
                              allocation.ended();
            const Place freed = allocation.freed_by ? place_of(allocation.freed_by)
                                                    : place_of_host(allocation.freed_at);
            if (freed.line) {
                finding.other = freed;
                finding.other_text = std::string("it was ") + allocation.ended() + " on " +
                                     line_text(freed, site_of(event.site).user.file);
            }
        } else if (allocation.contains(address, event.bytes)) {
            finding.message =
                allocation.kind == MemoryKind::kConst && written
                    ? draft.array.elements_at(address, event.bytes) + " is " + done_by(event.kind) +
                          ", but a kernel cannot change constant memory"
                    : draft.array.elements_at(address, event.bytes) + " is " + done_by(event.kind) +
                          ", but this kernel has no access to it";
        } else {
            finding.message = outside_text(draft.array, event, address);
        }
        if (allocation.imported) note_origin(finding, allocation, site_of(event.site).user.file);
    }
    if (finding.allocation.empty()) finding.allocation = draft.array.description;
    add_facts(finding.facts,
              draft.array,
              event.kind,
              address,
              verdict.variable && verdict.variable->dynamic);
    return draft;
}

}  // namespace checks
