// SPDX-License-Identifier: MIT
#include "checks/record/counters.h"

#include <bit>
#include <cstdio>
#include <map>
#include <tuple>

#include "checks/race/shadow.h"
#include "checks/record/counter_rules.h"
#include "checks/report/places.h"
#include "checks/report/report.h"
#include "machine/program/lane_pattern.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;
using machine::MemoryKind;

namespace {

std::string json_index(const machine::Dim3& d) {
    return JsonList().add(d.x).add(d.y).add(d.z).text();
}

std::string json_counters(const Counts& counters) {
    JsonObject out;
    for (const CounterField& field : kCounterFields) out.add(field.name, counters.*field.value);
    return out.text();
}

// What cudaMalloc and the like return; not what the host or a kernel allocates, nor a variable,
// whose module is loaded when its first kernel is launched.
bool counted(const machine::Allocation& a) {
    return a.name.empty() && (a.kind == MemoryKind::kDevice || a.kind == MemoryKind::kManaged ||
                              a.kind == MemoryKind::kArray);
}

}  // namespace

void PlaceCounts::Traffic::operator+=(const Traffic& more) {
    requests += more.requests;
    sectors += more.sectors;
    bytes += more.bytes;
}

void PlaceCounts::operator+=(const PlaceCounts& more) {
    requests += more.requests;
    sectors += more.sectors;
    wavefronts += more.wavefronts;
    conflicts += more.conflicts;
    bytes += more.bytes;
    atomics += more.atomics;
    barriers += more.barriers;
    branches += more.branches;
    divergent += more.divergent;
    warp_instructions += more.warp_instructions;
    thread_instructions += more.thread_instructions;
    loads += more.loads;
    stores += more.stores;
    store_conflicts += more.store_conflicts;
}

void Counters::reset() {
    totals_ = {};
    current_ = {};
    launches_.clear();
    left_out_ = 0;
    for (const machine::SiteId id : touched_) sites_[id] = {};
    touched_.clear();
    ended_.clear();
    kernels_.clear();
    kernel_number_.clear();
}

Counts Counters::totals() const {
    return totals_;
}

Counters::Site& Counters::new_site(machine::SiteId id) {
    if (id >= sites_.size()) sites_.resize(id + id / 2 + 256);
    sites_[id].touched = true;
    touched_.push_back(id);
    return sites_[id];
}

void Counters::on_alloc(const machine::Allocation& allocation) {
    totals_.device_allocations += counted(allocation);
}
void Counters::on_free(const machine::Allocation& allocation) {
    totals_.device_frees += counted(allocation);
}

void Counters::on_host_access(const machine::HostAccess& access) {
    using Kind = machine::HostAccess::Kind;
    if (access.ordering == machine::HostAccess::Ordering::kLibrary) {
        // Within a launch: what a kernel must load or store at least.
        const uint64_t sectors = (access.address + access.bytes + kSectorBytes - 1) / kSectorBytes -
                                 access.address / kSectorBytes;
        const bool loads = access.kind == Kind::kRead;
        (loads ? current_.global_load_bytes : current_.global_store_bytes) += access.bytes;
        (loads ? current_.global_load_sectors : current_.global_store_sectors) += sectors;
        return;
    }
    const std::string_view api = access.api ? access.api : "";
    if (api.find("Memset") != api.npos) return;  // nothing is copied
    switch (access.kind) {
    case Kind::kRead:
        totals_.device_to_host_bytes += access.bytes;
        break;
    case Kind::kWrite:
        totals_.host_to_device_bytes += access.bytes;
        break;
    case Kind::kCopy:
        totals_.device_to_device_bytes += access.bytes;
        break;
    case Kind::kFree:
    case Kind::kAllocate:
        break;
    }
}

void Counters::on_launch_begin(const machine::LaunchInfo&) {
    current_ = {};
    current_.launches = 1;
    for (const machine::SiteId id : touched_) sites_[id] = {};  // of a launch that was aborted
    touched_.clear();
}

void Counters::on_block_begin(const machine::BlockInfo& block) {
    ++current_.blocks;
    current_.warps += block.warps;
    current_.threads += block.threads;
}

void Counters::on_launch_end(const machine::LaunchInfo& launch,
                             const machine::LaunchSummary& summary) {
    current_.warp_instructions = summary.warp_instructions;
    current_.thread_instructions = summary.thread_instructions;
    current_.busiest_warp_instructions = summary.busiest_warp_instructions;
    for (const machine::SiteCount& count : summary.sites) {
        Site& at = site(count.site);
        at.warp_instructions += count.warps;
        at.thread_instructions += count.threads;
        if (count.in_double) current_.double_instructions += count.warps;
        current_.matrix_products += count.warps * count.matrix_products;
        if (!count.divergent_branch) continue;
        at.branches += count.warps;
        at.divergent += count.divergent;
        current_.branches += count.warps;
        current_.divergent_branches += count.divergent;
    }
    const auto [kernel, fresh] =
        kernel_number_.try_emplace(launch.kernel, uint32_t(kernels_.size()));
    if (fresh) kernels_.push_back(launch.kernel);
    for (const machine::SiteId id : touched_) {
        ended_[uint64_t(kernel->second) << 32 | id] += sites_[id];
        sites_[id] = {};
    }
    touched_.clear();
    add_counters(totals_, current_);
    if (launches_.size() < kMostLaunches) {
        launches_.push_back({launch.kernel, launch.grid, launch.block, current_});
    } else {
        ++left_out_;
    }
    current_ = {};
}

void Counters::on_access(const AccessEvent& event) {
    if (event.texture)
        return;  // the texture path: its requests and sectors do not count as those of ld
    Site& at = site(event.site);
    ++at.requests;
    at.bytes += uint64_t(std::popcount(event.mask)) * event.bytes;
    switch (event.space) {
    case ptx::Space::kGlobal:
        global(event, at);
        break;
    case ptx::Space::kShared:
        shared(event, at);
        break;
    case ptx::Space::kLocal:
        ++(event.kind == AccessKind::kLoad ? current_.local_load_requests
                                           : current_.local_store_requests);
        break;
    default:
        break;
    }
}

// Aligned accesses by one lane: a sector each, or a wavefront without conflicts.
void Counters::on_access_run(const AccessEvent& first, int64_t, uint64_t count) {
    Site& at = site(first.site);
    const bool load = first.kind == AccessKind::kLoad;
    const uint64_t bytes = count * first.bytes;
    at.requests += count;
    at.bytes += bytes;
    if (first.space == ptx::Space::kShared) {
        at.wavefronts += count;
        (load ? current_.shared_load_requests : current_.shared_store_requests) += count;
        (load ? current_.shared_load_wavefronts : current_.shared_store_wavefronts) += count;
        return;
    }
    at.sectors += count;
    (load ? at.loads : at.stores) += {count, count, bytes};
    (load ? current_.global_load_requests : current_.global_store_requests) += count;
    (load ? current_.global_load_sectors : current_.global_store_sectors) += count;
    (load ? current_.global_load_bytes : current_.global_store_bytes) += bytes;
}

uint32_t Counters::sectors_of(const AccessEvent& event) {
    if (event.contiguous) {
        const uint64_t first = event.address[0], last = first + 32u * event.bytes - 1;
        return uint32_t((last >> 5) - (first >> 5)) + 1;
    }
    if (!event.pattern) return global_sectors(event.mask, event.address, event.bytes);
    const uint32_t part = uint32_t(event.address[0] % kSectorBytes);
    Known& known = known_global_[event.pattern->serial % known_global_.size()];
    if (known.serial != event.pattern->serial || known.part != part) {
        known.serial = event.pattern->serial;
        known.part = part;
        known.sectors = global_sectors(event.mask, event.address, event.bytes);
    }
    return known.sectors;
}

void Counters::global(const AccessEvent& event, Site& at) {
    const uint32_t threads = uint32_t(std::popcount(event.mask));
    if (event.kind >= AccessKind::kAtomic) {
        ++current_.global_atomic_requests;
        current_.global_atomics += threads;
        at.atomics += threads;
        return;
    }
    const uint32_t sectors = sectors_of(event);
    at.sectors += sectors;
    const bool load = event.kind == AccessKind::kLoad;
    (load ? at.loads : at.stores) += {1, sectors, uint64_t(threads) * event.bytes};
    ++(load ? current_.global_load_requests : current_.global_store_requests);
    (load ? current_.global_load_sectors : current_.global_store_sectors) += sectors;
    (load ? current_.global_load_bytes : current_.global_store_bytes) +=
        uint64_t(threads) * event.bytes;
}

SharedCost Counters::cost_in_variable(const AccessEvent& event) {
    const uint64_t first = event.address[std::countr_zero(event.mask)];
    const uint32_t start = uint32_t(first - event.variable->address) + event.variable->offset;
    if (event.pattern) {
        Known& known = known_shared_[event.pattern->serial % known_shared_.size()];
        if (known.serial != event.pattern->serial || known.part != start % 4) {
            std::array<uint32_t, machine::kWarpSize> offset;
            for (uint32_t i = 0; i < machine::kWarpSize; ++i)
                offset[i] = start + uint32_t(event.address[i] - first);
            known.serial = event.pattern->serial;
            known.part = start % 4;
            known.cost = shared_cost(event.kind, event.mask, offset.data(), event.bytes);
        }
        return known.cost;
    }
    std::array<uint32_t, machine::kWarpSize> distance;
    if (event.mask == machine::kAllLanes) {
        for (uint32_t i = 0; i < machine::kWarpSize; ++i)
            distance[i] = uint32_t(event.address[i] - first);
    } else {
        distance.fill(0);
        for (uint32_t m = event.mask; m; m &= m - 1)
            distance[std::countr_zero(m)] = uint32_t(event.address[std::countr_zero(m)] - first);
    }
    Pattern& known = patterns_[event.instruction % patterns_.size()];
    if (known.site != event.instruction || known.mask != event.mask || known.part != start % 4 ||
        known.distance != distance) {
        std::array<uint32_t, machine::kWarpSize> offset;
        for (uint32_t i = 0; i < machine::kWarpSize; ++i) offset[i] = start + distance[i];
        known = {event.instruction,
                 event.mask,
                 start % 4,
                 distance,
                 shared_cost(event.kind, event.mask, offset.data(), event.bytes)};
    }
    return known.cost;
}

void Counters::shared(const AccessEvent& event, Site& at) {
    SharedCost cost;
    if (event.contiguous && event.variable && event.bytes <= 4) {
        cost.wavefronts = 1;
    } else if (event.variable && !event.bad_lanes) {
        cost = cost_in_variable(event);
    } else {
        std::array<uint32_t, machine::kWarpSize> offset{};
        uint32_t lanes = 0;  // those whose place in the layout is known
        for (uint32_t m = event.mask & ~event.bad_lanes; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            const auto* variable =
                event.variable
                    ? event.variable
                    : machine::shared_variable_at(*event.warp->block->launch, event.address[lane]);
            if (!variable) continue;
            offset[lane] = uint32_t(event.address[lane] - variable->address) + variable->offset;
            lanes |= 1u << lane;
        }
        cost = shared_cost(event.kind, lanes, offset.data(), event.bytes);
    }
    at.wavefronts += cost.wavefronts;
    at.conflicts += cost.conflicts;
    switch (event.kind) {
    case AccessKind::kLoad:
        ++current_.shared_load_requests;
        current_.shared_load_wavefronts += cost.wavefronts;
        current_.shared_load_conflicts += cost.conflicts;
        break;
    case AccessKind::kStore:
        ++current_.shared_store_requests;
        current_.shared_store_wavefronts += cost.wavefronts;
        current_.shared_store_conflicts += cost.conflicts;
        at.store_conflicts += cost.conflicts;
        break;
    default: {
        const uint32_t threads = uint32_t(std::popcount(event.mask));
        ++current_.shared_atomic_requests;
        current_.shared_atomics += threads;
        at.atomics += threads;
    }
    }
}

void Counters::on_block_barrier(const machine::BarrierEvent& event) {
    ++current_.block_barriers;
    for (const machine::Arrival& arrival : event.arrivals) ++site(arrival.site).barriers;
}

void Counters::on_warp_sync(const machine::WarpSyncEvent&) {
    ++current_.warp_syncs;
}

std::vector<CounterRow> Counters::lines() const {
    std::map<std::tuple<std::string, std::string, uint32_t>, CounterRow> rows;
    for (const auto& [key, from] : ended_) {
        const std::string& kernel = kernels_[key >> 32];
        const ptx::SourceLine& user = site_of(machine::SiteId(key)).user;
        CounterRow& to = rows[{kernel, user.file, user.line}];
        to.file = user.file;
        to.line = user.line;
        to.kernel = kernel;
        to += from;
    }
    std::vector<CounterRow> out;
    out.reserve(rows.size());
    for (auto& [key, row] : rows) out.push_back(std::move(row));
    return out;
}

std::string Counters::to_json() const {
    JsonList launches(",\n ");
    for (const LaunchCounters& launch : launches_)
        launches.json(JsonObject()
                          .add("kernel", launch.kernel)
                          .json("grid", json_index(launch.grid))
                          .json("block", json_index(launch.block))
                          .json("counters", json_counters(launch.counters))
                          .text());
    JsonList lines_list(",\n ");
    for (const CounterRow& row : lines())
        lines_list.json(JsonObject()
                            .add("file", row.file)
                            .add("line", row.line)
                            .add("kernel", row.kernel)
                            .add("requests", row.requests)
                            .add("sectors", row.sectors)
                            .add("wavefronts", row.wavefronts)
                            .add("conflicts", row.conflicts)
                            .add("bytes", row.bytes)
                            .add("atomics", row.atomics)
                            .add("barriers", row.barriers)
                            .add("branches", row.branches)
                            .add("divergent", row.divergent)
                            .add("warp_instructions", row.warp_instructions)
                            .add("thread_instructions", row.thread_instructions)
                            .text());
    JsonObject out(",\n");
    out.json("launches", launches.text());
    if (left_out_) out.add("launches_left_out", left_out_);
    out.json("lines", lines_list.text()).json("totals", json_counters(totals_));
    return out.text() + "\n";
}

}  // namespace checks
