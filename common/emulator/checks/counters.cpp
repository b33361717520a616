// SPDX-License-Identifier: MIT
#include "checks/counters.h"

#include <bit>
#include <cstdio>
#include <map>
#include <tuple>

#include "checks/counters_fields.h"
#include "checks/counters_rules.h"
#include "checks/report.h"
#include "checks/text.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;
using machine::MemoryKind;

namespace {

std::string json_index(const machine::Dim3& d) {
    return '[' + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) +
           ']';
}

std::string json_counters(const EmulatorCounters& counters) {
    std::string out = "{";
    for (const CounterField& field : kCounterFields) {
        if (out.size() > 1) out += ", ";
        out += std::string("\"") + field.name + "\": " + std::to_string(counters.*field.value);
    }
    return out + '}';
}

// Arrays that a program asked for by name or by cudaMalloc; not what the host or a kernel
// allocates.
bool counted(const machine::Allocation& a) {
    return a.kind == MemoryKind::kDevice || a.kind == MemoryKind::kManaged ||
           a.kind == MemoryKind::kArray;
}

}  // namespace

void Counters::reset() {
    totals_ = {};
    current_ = {};
    totals_.size = current_.size = sizeof(EmulatorCounters);
    launches_.clear();
    left_out_ = 0;
    for (const machine::SiteId id : touched_) sites_[id] = {};
    touched_.clear();
    ended_.clear();
    kernels_.clear();
    kernel_number_.clear();
}

EmulatorCounters Counters::totals() const {
    return totals_;
}

Counters::Site& Counters::site(machine::SiteId id) {
    if (id >= sites_.size()) sites_.resize(id + id / 2 + 256);
    Site& at = sites_[id];
    if (!at.touched) {
        at.touched = true;
        touched_.push_back(id);
    }
    return at;
}

void Counters::on_alloc(const machine::Allocation& allocation) {
    totals_.device_allocations += counted(allocation);
}
void Counters::on_free(const machine::Allocation& allocation) {
    totals_.device_frees += counted(allocation);
}

void Counters::on_host_access(const machine::HostAccess& access) {
    using Kind = machine::HostAccess::Kind;
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
    current_.size = sizeof current_;
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
    for (const machine::SiteCount& count : summary.sites) {
        Site& at = site(count.site);
        at.warps += count.warps;
        at.threads += count.threads;
        if (count.in_double) current_.double_instructions += count.warps;
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
        Site& to = ended_[uint64_t(kernel->second) << 32 | id];
        Site& from = sites_[id];
        to.requests += from.requests;
        to.sectors += from.sectors;
        to.wavefronts += from.wavefronts;
        to.conflicts += from.conflicts;
        to.bytes += from.bytes;
        to.atomics += from.atomics;
        to.barriers += from.barriers;
        to.branches += from.branches;
        to.divergent += from.divergent;
        to.warps += from.warps;
        to.threads += from.threads;
        from = {};
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
    if (event.texture) return;  // the texture path: its requests and sectors are not those of ld
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
void Counters::on_streak(const AccessEvent& first, int64_t, uint64_t count) {
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
    (load ? current_.global_load_requests : current_.global_store_requests) += count;
    (load ? current_.global_load_sectors : current_.global_store_sectors) += count;
    (load ? current_.global_load_bytes : current_.global_store_bytes) += bytes;
}

void Counters::global(const AccessEvent& event, Site& at) {
    const uint32_t threads = uint32_t(std::popcount(event.mask));
    if (event.kind >= AccessKind::kAtomic) {
        ++current_.global_atomic_requests;
        current_.global_atomics += threads;
        at.atomics += threads;
        return;
    }
    uint32_t sectors;
    if (event.contiguous) {
        const uint64_t first = event.address[0], last = first + 32u * event.bytes - 1;
        sectors = uint32_t((last >> 5) - (first >> 5)) + 1;
    } else {
        sectors = global_sectors(event.mask, event.address, event.bytes);
    }
    at.sectors += sectors;
    const bool load = event.kind == AccessKind::kLoad;
    ++(load ? current_.global_load_requests : current_.global_store_requests);
    (load ? current_.global_load_sectors : current_.global_store_sectors) += sectors;
    (load ? current_.global_load_bytes : current_.global_store_bytes) +=
        uint64_t(threads) * event.bytes;
}

SharedCost Counters::cost_in_variable(const AccessEvent& event) {
    const uint64_t first = event.address[std::countr_zero(event.mask)];
    std::array<uint32_t, machine::kWarpSize> distance;
    if (event.mask == machine::kAllLanes) {
        for (uint32_t i = 0; i < machine::kWarpSize; ++i)
            distance[i] = uint32_t(event.address[i] - first);
    } else {
        distance.fill(0);
        for (uint32_t m = event.mask; m; m &= m - 1)
            distance[std::countr_zero(m)] = uint32_t(event.address[std::countr_zero(m)] - first);
    }
    const uint32_t start = uint32_t(first - event.variable->address) + event.variable->offset;
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
        to.requests += from.requests;
        to.sectors += from.sectors;
        to.wavefronts += from.wavefronts;
        to.conflicts += from.conflicts;
        to.bytes += from.bytes;
        to.atomics += from.atomics;
        to.barriers += from.barriers;
        to.branches += from.branches;
        to.divergent += from.divergent;
        to.warp_instructions += from.warps;
        to.thread_instructions += from.threads;
    }
    std::vector<CounterRow> out;
    out.reserve(rows.size());
    for (auto& [key, row] : rows) out.push_back(std::move(row));
    return out;
}

std::string Counters::to_json() const {
    std::string out = "{\"launches\": [";
    for (const LaunchCounters& launch : launches_) {
        if (out.back() == '}') out += ",\n ";
        out += "{\"kernel\": " + json_string(launch.kernel) +
               ", \"grid\": " + json_index(launch.grid) +
               ", \"block\": " + json_index(launch.block) +
               ", \"counters\": " + json_counters(launch.counters) + '}';
    }
    out += "],\n";
    if (left_out_) out += "\"launches_left_out\": " + std::to_string(left_out_) + ",\n";
    out += "\"lines\": [";
    for (const CounterRow& row : lines()) {
        if (out.back() == '}') out += ",\n ";
        out += "{\"file\": " + json_string(row.file) + ", \"line\": " + std::to_string(row.line) +
               ", \"kernel\": " + json_string(row.kernel);
        const std::pair<const char*, uint64_t> fields[] = {
            {"requests", row.requests},
            {"sectors", row.sectors},
            {"wavefronts", row.wavefronts},
            {"conflicts", row.conflicts},
            {"bytes", row.bytes},
            {"atomics", row.atomics},
            {"barriers", row.barriers},
            {"branches", row.branches},
            {"divergent", row.divergent},
            {"warp_instructions", row.warp_instructions},
            {"thread_instructions", row.thread_instructions}};
        for (const auto& [name, value] : fields)
            out += std::string(", \"") + name + "\": " + std::to_string(value);
        out += '}';
    }
    return out + "],\n\"totals\": " + json_counters(totals_) + "}\n";
}

}  // namespace checks
