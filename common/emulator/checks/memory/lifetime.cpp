// SPDX-License-Identifier: MIT
#include "checks/memory/lifetime.h"

#include <map>
#include <tuple>

#include "checks/execution/api.h"
#include "checks/report/places.h"

namespace checks {
namespace {

using machine::MemoryKind;

// What the program has to free, and with what; null for memory that is not its to free.
const char* free_function(MemoryKind kind, bool imported) {
    if (imported) return "cudaIpcCloseMemHandle";
    switch (kind) {
    case MemoryKind::kDevice:
    case MemoryKind::kManaged:
        return "cudaFree";
    case MemoryKind::kPinned:
        return "cudaFreeHost";
    case MemoryKind::kArray:
        return "cudaFreeArray";
    case MemoryKind::kHeap:
        return "free";
    default:
        return nullptr;
    }
}

struct Site {
    uint64_t count = 0, bytes = 0, address = 0;
    MemoryKind kind{};
    bool imported = false;
};

}  // namespace

void Lifetime::on_api(const machine::ApiEvent& event) {
    using Kind = machine::ApiEvent::Kind;
    if (event.kind == Kind::kDoubleFree) {
        report_.add(api_finding(event, "double-free", "it was freed on"));
    } else if (event.kind == Kind::kInvalidFree) {
        report_.add(api_finding(event, "double-free", "see"));
    } else if (event.kind == Kind::kEarlyFree) {
        report_.add(api_finding(event, "use-after-free", "see"));
    }
}

void Lifetime::on_process_end() {
    if (stopped_) return;
    std::map<std::tuple<machine::HostSite, machine::SiteId, MemoryKind>, Site> sites;
    for (uint32_t id = 0; id < memory_.count(); ++id) {
        const machine::Allocation& allocation = memory_.by_id(id);
        if (!allocation.live || !free_function(allocation.kind, allocation.imported) ||
            !allocation.name.empty() || allocation.of_graph)
            continue;
        // Memory of no caller is the library's own.
        if (allocation.allocated_at == 0 && allocation.kind != MemoryKind::kHeap) continue;
        Site& site = sites[{allocation.allocated_at, allocation.made_by, allocation.kind}];
        if (site.count++ == 0) site.address = allocation.address;
        site.bytes += allocation.bytes;
        site.kind = allocation.kind;
        site.imported = allocation.imported;
    }
    for (const auto& [key, site] : sites) {
        Finding finding;
        finding.code = "leak";
        finding.severity = Severity::kWarning;
        const auto [on_host, in_kernel, kind] = key;
        finding.place = in_kernel ? place_of(in_kernel) : place_of_host(on_host);
        const std::string what =
            plural(site.bytes, "byte") + (in_kernel                   ? " from `malloc` in a kernel"
                                          : kind == MemoryKind::kHeap ? " from `malloc` in kernels"
                                          : site.imported ? " of another process, opened here,"
                                                          : " allocated here");
        finding.message = what + (site.bytes == 1 ? " is" : " are") + " never " +
                          (site.imported ? "closed" : "freed") + " with `" +
                          free_function(site.kind, site.imported) + '`';
        if (site.count > 1) finding.notes.push_back("in " + plural(site.count, "allocation"));
        finding.count = site.count;
        finding.address = hex(site.address);
        finding.bytes = uint32_t(std::min<uint64_t>(site.bytes, 0xffffffffu));
        report_.add(std::move(finding));
    }
}

}  // namespace checks
